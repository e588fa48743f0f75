/* The report about a run of failures, for people. */
#pragma once

#include <stdio.h>

#include "scenario/timeline.h"

/* Print REPORT: a chart of at most COLUMNS, then tables of nodes, pods and gaps. */
void fail_report_print(const struct report *report, unsigned columns, FILE *out);

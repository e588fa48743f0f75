/* The text of failures in the record, shared by failure.c and failures.c. */
#pragma once

#include "fail/failure.h"

/* Like failure_parse(); if RECORDED, also with the times that only the record has. */
int failure_parse_text(const char *text, bool recorded, struct failure *ret, struct error *err);

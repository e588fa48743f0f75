/* Settings as options of commands. */
#pragma once

#include "cli/opt.h"

/* TABLE, in which settings have taken the place of OPT_SETTINGS and the like: ordinary options, for
 * all that reads tables.  It is made once, and stays; NULL for NULL. */
const struct opt *setting_options(const struct opt *table);

/* Settings as options of commands. */
#pragma once

#include "cli/opt.h"
#include "record/setting.h"

/* TABLE, in which settings have taken the place of OPT_SETTINGS and the like: ordinary options, for
 * all that reads tables.  It is made once, and stays; NULL for NULL. */
const struct opt *setting_options(const struct opt *table);

/* Paths may be written as the person sees them; a record is read elsewhere, too. */
void setting_options_complete(struct cluster_settings *settings);
void setting_options_complete_node(struct node_settings *settings);

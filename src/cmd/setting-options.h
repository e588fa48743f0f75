/* Settings as options of commands. */
#pragma once

#include "cli/opt.h"
#include "record/setting.h"

/* TABLE with OPT_SETTINGS and the like replaced by ordinary options. The result is created once and
 * never freed; NULL for NULL. */
const struct opt *setting_options(const struct opt *table);

/* Relative paths are made absolute: the record is also read in other directories. */
void setting_options_complete(struct cluster_settings *settings);
void setting_options_complete_node(struct node_settings *settings);

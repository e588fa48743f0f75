/* What the commands of `config` share. */
#pragma once

#include "cmd/command.h"

/* The option that KEY is the default of; -EINVAL with reason_usage, the nearest suggested. */
int config_find(const char *key, const struct opt **ret_option, struct error *err);

/* Shared by the commands of `config`. */
#pragma once

#include "cmd/command.h"

/* The option whose default KEY sets; -EINVAL with reason_usage and the nearest name suggested. */
int config_find(const char *key, const struct opt **ret_option, struct error *err);

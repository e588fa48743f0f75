/* The host's nftables: one table per cluster, replaced in one transaction. */
#pragma once

#include "base/error.h"

/* Make the table `inet NAME` hold just RULES (nft syntax, what stands between its braces), in one
 * transaction. */
int firewall_replace_table(const char *name, const char *rules, struct error *err);

/* Delete the table `inet NAME`; succeeds if there is none. */
int firewall_delete_table(const char *name, struct error *err);

/* Whether there is a table `inet NAME`. */
bool firewall_has_table(const char *name);

/* A descriptor that can be read whenever something of this host's nftables was changed. */
int firewall_watch(int *ret_fd, struct error *err);

/* Read all that FD, from firewall_watch(), has to tell. */
void firewall_pass_over(int fd);

/* What `nft list chains` prints, for the caller to free. */
int firewall_list_chains(char **ret_text, struct error *err);

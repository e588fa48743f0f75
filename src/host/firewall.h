/* The host's nftables: one table per cluster, replaced in one transaction. */
#pragma once

#include "base/error.h"

/* Replace the contents of the table `inet NAME` with RULES, in one transaction.  RULES is the part
 * between the table's braces, in nft syntax. */
int firewall_replace_table(const char *name, const char *rules, struct error *err);

/* Delete the table `inet NAME`; succeeds if there is none. */
int firewall_delete_table(const char *name, struct error *err);

/* The same for the table `bridge NAME`, which sees what bridges of this host pass on. */
int firewall_replace_bridge_table(const char *name, const char *rules, struct error *err);
int firewall_delete_bridge_table(const char *name, struct error *err);

struct nft_ctx;

/*
 * The same in two steps, so that a process can give up its rights in between: firewall_open() opens
 * the socket, and enlarges its buffers, which needs rights on the host for large transactions.
 * firewall_load() needs CAP_NET_ADMIN in the user namespace of the network; with RULES NULL, it
 * deletes the table.  The library reads what is in the kernel, and so what somebody who is root
 * there has made.  For a process that exits afterwards and has few descriptors.
 */
int firewall_open(struct nft_ctx **ret_context, struct error *err);
int firewall_load(struct nft_ctx *context, const char *name, const char *rules, struct error *err);

/* Whether there is a table `inet NAME`. */
bool firewall_has_table(const char *name);

/* The output of `nft list table inet NAME`, or NULL if there is no such table; the caller frees it.
 */
char *firewall_list_table(const char *name) must_check;

/* Whether LISTING, from firewall_list_table(), is a table that firewall_replace_table() created
 * with rules other than RULES.  False for a table whose rules were changed or removed later. */
bool firewall_has_other_rules(const char *listing, const char *rules);

/* Open a descriptor that becomes readable whenever this host's nftables change. */
int firewall_watch(int *ret_fd, struct error *err);

/* Discard all pending events of FD, from firewall_watch(). */
void firewall_pass_over(int fd);

/* The output of `nft list chains`; the caller frees it. */
int firewall_list_chains(char **ret_text, struct error *err);

/* The host's nftables: one table per cluster, replaced in one transaction. */

#include "host/firewall.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <nftables/libnftables.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "data/sha256.h"

/* How the comment of a table that we made begins; then comes a digest of its rules. */
#define MARK "manykube "

#define MARK_DIGITS 16

/* What fits into one transaction of firewall_open(), and where its socket is looked for. */
#define BUFFER_BYTES (256 << 20)
#define FDS_MOST     1024

DEFINE_CLEANUP(struct nft_ctx *, nft_ctx_free)

/* Accept only names that nft cannot parse as anything else. */
static int check_name(const char *name, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	static const char others[] = "0123456789-.";
	const char *p;

	for (p = name; *p; p++)
		if (!strchr(letters, *p) && (p == name || !strchr(others, *p)))
			break;
	if (*p || p == name)
		return error_because(err, &reason_network, -EINVAL,
				     "'%s' cannot name an nftables table", name);
	return 0;
}

/* Make a context that keeps messages and output in buffers instead of printing them. */
static int open_context(struct nft_ctx **ret_context, struct error *err)
{
	cleanup_with(nft_ctx_freep) struct nft_ctx *context = NULL;
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);

	/* The library exits if it cannot open such a socket. */
	if (fd < 0)
		return error_reason(err, error_sys(err, "this kernel has no nftables"),
				    &reason_host_unsupported);
	context = nft_ctx_new(NFT_CTX_DEFAULT);
	if (!context || nft_ctx_buffer_error(context) != 0 || nft_ctx_buffer_output(context) != 0)
		return error_because(err, &reason_network, -ENOMEM, "cannot initialize nftables");
	*ret_context = take_ptr(context);
	return 0;
}

/* The first line of nft's error message TEXT, without position and severity. */
static char *first_words(const char *text)
{
	const char *error = text ? strstr(text, "Error: ") : NULL;

	if (error)
		text = error + strlen("Error: ");
	if (!text || !*text)
		return xstrdup("no reason given");
	return xstrndup(text, strcspn(text, "\n"));
}

/* Run COMMANDS as one transaction; errors say "cannot WHAT nftables table NAME". */
static int run(struct nft_ctx *context, const char *commands, const char *what, const char *name,
	       struct error *err)
{
	cleanup_free char *why = NULL;

	if (nft_run_cmd_from_buffer(context, commands) == 0)
		return 0;
	why = first_words(nft_ctx_get_error_buffer(context));
	return error_because(err, &reason_network, -EIO, "cannot %s nftables table '%s': %s", what,
			     name, why);
}

/* The comment of the table that has RULES, for the caller to free. */
static char *mark_of(const char *rules)
{
	char digest[SHA256_HEX_SIZE];

	sha256_of(rules, strlen(rules), digest);
	return xasprintf(MARK "%.*s", MARK_DIGITS, digest);
}

/* Make RULES the contents of the table NAME of FAMILY, or delete it if they are NULL. */
static int load_table(struct nft_ctx *context, const char *family, const char *name,
		      const char *rules, struct error *err)
{
	cleanup_free char *mark = rules ? mark_of(rules) : NULL;
	cleanup_with(strbuf_release) struct strbuf commands = STRBUF_INIT;
	int r = check_name(name, err);

	if (r < 0)
		return r;
	/* The first command ensures that the second one does not fail. */
	strbuf_addf(&commands, "add table %s %s\ndelete table %s %s\n", family, name, family, name);
	if (rules)
		strbuf_addf(&commands, "add table %s %s {\ncomment \"%s\"\n%s\n}\n", family, name,
			    mark, rules);
	return run(context, commands.text, rules ? "set" : "delete", name, err);
}

int firewall_load(struct nft_ctx *context, const char *name, const char *rules, struct error *err)
{
	return load_table(context, "inet", name, rules, err);
}

/* Open a context, and load RULES into the table NAME of FAMILY. */
static int load(const char *family, const char *name, const char *rules, struct error *err)
{
	cleanup_with(nft_ctx_freep) struct nft_ctx *context = NULL;
	int r = check_name(name, err);

	if (r == 0)
		r = open_context(&context, err);
	return r < 0 ? r : load_table(context, family, name, rules, err);
}

/* Whether FD is a socket of nftables. */
static bool is_ours(int fd)
{
	socklen_t len = sizeof(int);
	int domain;
	int protocol;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_NETLINK &&
	       getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
	       protocol == NETLINK_NETFILTER;
}

int firewall_open(struct nft_ctx **ret_context, struct error *err)
{
	const int bytes = BUFFER_BYTES;
	int r = open_context(ret_context, err);

	/* The library has no function that tells its socket. */
	for (int fd = STDERR_FILENO + 1; r == 0 && fd < FDS_MOST; fd++)
		if (is_ours(fd) &&
		    (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
		     setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0))
			r = error_sys(err, "cannot enlarge the buffers of nftables");
	return r;
}

int firewall_replace_table(const char *name, const char *rules, struct error *err)
{
	return load("inet", name, rules, err);
}

int firewall_delete_table(const char *name, struct error *err)
{
	return load("inet", name, NULL, err);
}

int firewall_replace_bridge_table(const char *name, const char *rules, struct error *err)
{
	return load("bridge", name, rules, err);
}

int firewall_delete_bridge_table(const char *name, struct error *err)
{
	return load("bridge", name, NULL, err);
}

bool firewall_has_table(const char *name)
{
	cleanup_with(nft_ctx_freep) struct nft_ctx *context = NULL;
	cleanup_free char *line = NULL;
	const char *output;
	const char *at;

	if (check_name(name, NULL) < 0 || open_context(&context, NULL) < 0)
		return false;
	if (nft_run_cmd_from_buffer(context, "list tables inet") != 0)
		return false;
	output = nft_ctx_get_output_buffer(context);
	line = xasprintf("table inet %s\n", name);
	at = output ? strstr(output, line) : NULL;
	return at && (at == output || at[-1] == '\n');
}

char *firewall_list_table(const char *name)
{
	cleanup_with(nft_ctx_freep) struct nft_ctx *context = NULL;
	cleanup_free char *command = xasprintf("list table inet %s", name);
	const char *output;

	if (check_name(name, NULL) < 0 || open_context(&context, NULL) < 0 ||
	    nft_run_cmd_from_buffer(context, command) != 0)
		return NULL;
	output = nft_ctx_get_output_buffer(context);
	return output && *output ? xstrdup(output) : NULL;
}

bool firewall_has_other_rules(const char *listing, const char *rules)
{
	cleanup_free char *mark = mark_of(rules);
	const char *found = strstr(listing, "\tcomment \"" MARK);

	return found && strncmp(strchr(found, '"') + 1, mark, strlen(mark)) != 0;
}

int firewall_list_chains(char **ret_text, struct error *err)
{
	cleanup_with(nft_ctx_freep) struct nft_ctx *context = NULL;
	const char *output;
	int r = open_context(&context, err);

	if (r < 0)
		return r;
	if (nft_run_cmd_from_buffer(context, "list chains") != 0)
		return error_because(err, &reason_network, -EIO,
				     "cannot list the chains of nftables");
	output = nft_ctx_get_output_buffer(context);
	*ret_text = xstrdup(output ? output : "");
	return 0;
}

int firewall_watch(int *ret_fd, struct error *err)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK,
					     .nl_groups = 1U << (NFNLGRP_NFTABLES - 1) };
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
				   NETLINK_NETFILTER);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return error_sys(err, "cannot watch this host's nftables");
	*ret_fd = take_fd(fd);
	return 0;
}

void firewall_pass_over(int fd)
{
	char word;

	/* ENOBUFS is reported once if events were lost. */
	while (recv(fd, &word, sizeof(word), 0) >= 0 || errno == ENOBUFS)
		;
}

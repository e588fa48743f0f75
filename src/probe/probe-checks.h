/* A row of probe.c's table, and the functions that check. */
#pragma once

#include "base/strbuf.h"
#include "probe/probe.h"

#define PROC_LIMIT (1 << 20)

#define INOTIFY_INSTANCES_FILE "/proc/sys/fs/inotify/max_user_instances"
#define INOTIFY_WATCHES_FILE   "/proc/sys/fs/inotify/max_user_watches"

enum {
	INOTIFY_INSTANCES = 8192,
	INOTIFY_INSTANCES_LEAST = 1024,
	INOTIFY_WATCHES = 524288,
};

enum probe_flags {
	PROBE_ONLY_TOLD = 1 << 0, /* reported only: a start does not need it or checks otherwise */
	PROBE_OF_DISKS = 1 << 1,  /* needed only by nodes with their own disks */
};

/* The result of a check that only root can do; reported as a warning. */
#define PROBE_UNTRIED ((enum probe_state)(PROBE_MISSING + 1))

struct probe {
	const char *name;
	const char *purpose;
	/* Adds what was found, or what is wrong, to TEXT. */
	enum probe_state (*check)(const struct probe *probe, struct strbuf *text);
	const char *remedy;
	const char *package; /* the Debian package of the program NAME, or NULL */
	const struct reason *reason;
	enum probe_flags flags;
};

/* The kernel. */
enum probe_state probe_check_kernel(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_user_namespaces(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_idmap(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_overlay(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_namespaces(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_usr_merge(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_confinement(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_loop(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_cgroups(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_systemd(const struct probe *probe, struct strbuf *text);

/* The network. */
enum probe_state probe_check_loopback(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_links(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_firewall(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_forwarding(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_firewalls(const struct probe *probe, struct strbuf *text);

/* Room and limits. */
enum probe_state probe_check_ids(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_memory(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_disk(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_home(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_inotify(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_swap(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_open_files(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_capabilities(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_clock(const struct probe *probe, struct strbuf *text);
enum probe_state probe_check_root(const struct probe *probe, struct strbuf *text);

/* The number in the file PATH. */
int probe_read_number(const char *path, unsigned long long *ret, struct error *err);

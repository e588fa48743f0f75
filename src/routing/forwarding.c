/* Forwarding on this host while clusters need it. */

#include "routing/forwarding.h"

#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "host/link.h"

/* Accessible to root only: anybody who can open a directory can lock it. */
#define RECORDS "/run/manykube-forwarding"

#define RECORD_LIMIT (1 << 20)

/* Where a family's settings are, each in the directory of its link. */
struct family {
	const char *settings;
	const char *each;   /* of one link, also of "default" */
	const char *suffix; /* of its record */
};

/* IPv6's `forwarding` of one link only says that it is a router's; packets are forwarded if that of
 * `all` is set, or force_forwarding of the link where they come in, which kernels have since 6.17.
 */
static const struct family ipv4 = { "/proc/sys/net/ipv4/conf", "forwarding", "" };
static const struct family ipv6 = { "/proc/sys/net/ipv6/conf", "force_forwarding", "-6" };

static const struct family *family_of(int number)
{
	return number == AF_INET6 ? &ipv6 : &ipv4;
}

/* Lines of "for BRIDGE", "link NAME" and "own NAME". */
struct record {
	const struct family *family;
	char *path;
	struct strlist bridges;
	struct strlist links; /* those that forward because of us, including "default" */
	struct strlist own;   /* those that are left alone; always has "lo" */
};

static void release_record(struct record *record)
{
	free(record->path);
	strlist_release(&record->bridges);
	strlist_release(&record->links);
	strlist_release(&record->own);
}

/* Read the record of FAMILY in this network namespace; each has its own settings. */
static int read_record(const struct family *family, struct record *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;
	struct stat network;
	int r;

	if (stat("/proc/self/ns/net", &network) < 0)
		return error_sys(err, "cannot identify this host's network");
	ret->family = family;
	ret->path = xasprintf(RECORDS "/%llu%s", (unsigned long long)network.st_ino,
			      family->suffix);
	r = file_read(ret->path, RECORD_LIMIT, &text, NULL);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return error_set(err, r, "cannot read '%s'", ret->path);
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines) {
		if (strncmp(line, "for ", 4) == 0)
			strlist_add(&ret->bridges, line + 4);
		else if (strncmp(line, "link ", 5) == 0)
			strlist_add(&ret->links, line + 5);
		else if (strncmp(line, "own ", 4) == 0)
			strlist_add(&ret->own, line + 4);
	}
	return 0;
}

static int write_record(const struct record *record, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *name;

	strlist_for_each(name, &record->bridges)
		strbuf_addf(&text, "for %s\n", name);
	strlist_for_each(name, &record->links)
		strbuf_addf(&text, "link %s\n", name);
	strlist_for_each(name, &record->own)
		strbuf_addf(&text, "own %s\n", name);
	return file_put(record->path, text.text, text.len, 0600, err);
}

/* Lock the records, so that one process at a time changes them and the settings. */
static int lock_records(int *ret_fd, struct error *err)
{
	cleanup_fd int fd = -1;

	if (mkdir(RECORDS, 0700) < 0 && errno != EEXIST)
		return error_sys(err, "cannot create '" RECORDS "'");
	fd = open(RECORDS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "cannot open '" RECORDS "'");
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_sys(err, "cannot lock '" RECORDS "'");
	*ret_fd = take_fd(fd);
	return 0;
}

static char *path_of(const struct family *family, const char *link, const char *setting)
{
	return xasprintf("%s/%s/%s", family->settings, link, setting);
}

static bool is_on(const struct family *family, const char *link, const char *setting)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = path_of(family, link, setting);

	return file_read(path, 16, &text, NULL) == 0 && text.len > 0 && *text.text != '0';
}

/* Whether all links forward: net.ipv4.ip_forward is the same setting. */
static bool all_forward(const struct family *family)
{
	return is_on(family, "all", "forwarding");
}

/* Set forwarding of LINK; succeeds if LINK no longer exists. */
static int set_forwarding(const struct family *family, const char *link, const char *value,
			  struct error *err)
{
	cleanup_free char *path = path_of(family, link, family->each);

	if (!file_exists(path))
		return 0;
	return file_poke(path, value, err);
}

/* Add LINK, which may be "default", to one of the lists of RECORD.  LATE: LINK appeared after
 * "default" was turned on and inherited that. */
static void sort_link(struct record *record, const char *link, bool late)
{
	bool by_itself = strcmp(link, "lo") == 0 ||
			 (!late && is_on(record->family, link, record->family->each));

	if (strlist_has(&record->own, link) || strlist_has(&record->links, link))
		return;
	strlist_add(by_itself ? &record->own : &record->links, link);
}

/* Add all links and "default" to RECORD.  Links that are not recorded yet count as forwarding
 * because of us if "default" does. */
static int sort_links(struct record *record, struct error *err)
{
	bool late = record->own.count > 0 && strlist_has(&record->links, "default");
	const struct dirent *entry;
	DIR *directory = opendir(record->family->settings);

	if (!directory)
		return error_sys(err, "cannot read '%s'", record->family->settings);
	while ((entry = readdir(directory)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, "all") != 0 &&
		    !link_is_of_cluster(entry->d_name))
			sort_link(record, entry->d_name, late);
	(void)closedir(directory);
	return 0;
}

/* Record that BRIDGE needs forwarding; if TURN_ON, also turn it on. */
static int record_bridge(const struct family *family, const char *bridge, bool turn_on,
			 struct error *err)
{
	cleanup_with(release_record) struct record record = { NULL };
	cleanup_fd int lock = -1;
	const char *link;
	int r = lock_records(&lock, err);

	if (r == 0)
		r = read_record(family, &record, err);
	if (r == 0)
		r = sort_links(&record, err);
	if (r < 0)
		return r;
	if (!strlist_has(&record.bridges, bridge))
		strlist_add(&record.bridges, bridge);
	r = write_record(&record, err);
	strlist_for_each(link, &record.links)
		if (r == 0 && turn_on)
			r = set_forwarding(family, link, "1", err);
	return r;
}

bool forwarding_is_possible(int family)
{
	cleanup_free char *path = path_of(family_of(family), "all", family_of(family)->each);

	return file_exists(path) || all_forward(family_of(family));
}

int forwarding_plan(int family, const char *bridge, struct error *err)
{
	return all_forward(family_of(family))
		       ? 0
		       : record_bridge(family_of(family), bridge, false, err);
}

int forwarding_begin(int family, const char *bridge, struct error *err)
{
	int r = set_forwarding(family_of(family), bridge, "1", err);

	return r < 0 || all_forward(family_of(family))
		       ? r
		       : record_bridge(family_of(family), bridge, true, err);
}

/* Remove BRIDGE from RECORD, and all bridges that no longer exist. */
static void remove_bridges(struct record *record, const char *bridge)
{
	cleanup_with(strlist_release) struct strlist left = STRLIST_INIT;
	const char *other;

	strlist_for_each(other, &record->bridges)
		if (strcmp(other, bridge) != 0 && if_nametoindex(other) != 0)
			strlist_add(&left, other);
	strlist_release(&record->bridges);
	record->bridges = left;
	left = STRLIST_INIT;
}

/* No bridge needs forwarding any more: turn it off where RECORD says that we turned it on. */
static int turn_off(struct record *record, struct error *err)
{
	const char *link;
	int r = 0;

	/* First for links to come, so that all that came are found then. */
	if (strlist_has(&record->links, "default"))
		r = set_forwarding(record->family, "default", "0", err);
	if (r == 0)
		r = sort_links(record, err);
	strlist_for_each(link, &record->links)
		if (r == 0)
			r = set_forwarding(record->family, link, "0", err);
	return r;
}

int forwarding_end(int family, const char *bridge, struct error *err)
{
	cleanup_with(release_record) struct record record = { NULL };
	cleanup_fd int lock = -1;
	bool recorded;
	int r;

	if (!file_exists(RECORDS))
		return 0;
	r = lock_records(&lock, err);
	if (r == 0)
		r = read_record(family_of(family), &record, err);
	if (r < 0)
		return r;
	recorded = record.bridges.count > 0;
	remove_bridges(&record, bridge);
	if (record.bridges.count > 0) {
		r = sort_links(&record, err);
		return r < 0 ? r : write_record(&record, err);
	}
	/* If ip_forward was set in the meantime, somebody wants all links to forward. */
	if (recorded && !all_forward(record.family))
		r = turn_off(&record, err);
	if (r == 0 && unlink(record.path) < 0 && errno != ENOENT)
		r = error_sys(err, "cannot remove '%s'", record.path);
	return r;
}

void forwarding_list(int family, struct strlist *ret)
{
	cleanup_with(release_record) struct record record = { NULL };
	const char *link;

	if (all_forward(family_of(family)) || read_record(family_of(family), &record, NULL) < 0)
		return;
	strlist_for_each(link, &record.links)
		if (strcmp(link, "default") != 0)
			strlist_add(ret, link);
}

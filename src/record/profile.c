/* The profile: the record of one cluster on disk. */

#include "record/profile.h"

#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/process.h"
#include "base/user.h"
#include "data/settings.h"
#include "record/old-home.h"
#include "record/state.h"

#define NAME_MAX_LEN 40

/* The profile of a cluster with a thousand nodes has 300 KB. */
#define PROFILE_LIMIT (16 << 20)

/* Interval between attempts to take a lock whose holder has died. */
#define LOCK_POLL_MS 10

int profile_check_name(const char *name, struct error *err)
{
	if (!parse_is_dns_label(name) || strlen(name) > NAME_MAX_LEN)
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s' is not a valid cluster name: use 1 to %d of a-z, 0-9 and '-', beginning and ending with a letter or digit",
			name, NAME_MAX_LEN);
	return 0;
}

/* STATE/profiles */
static int profiles_dir(char **ret_path, struct error *err)
{
	cleanup_free char *state = NULL;
	int r = path_state(&state, err);

	if (r < 0)
		return r;
	*ret_path = xasprintf("%s/profiles", state);
	return 0;
}

int profile_dir(const char *name, char **ret_path, struct error *err)
{
	cleanup_free char *profiles = NULL;
	cleanup_free char *dir = NULL;
	char *old = NULL;
	int r = profile_check_name(name, err);

	if (r < 0)
		return r;
	r = profiles_dir(&profiles, err);
	if (r < 0)
		return r;
	dir = xasprintf("%s/%s", profiles, name);
	if (!file_exists(dir))
		old = old_home_find(name);
	*ret_path = old ? old : take_ptr(dir);
	return 0;
}

char *profile_bridge_name(const char *dir)
{
	uint32_t hash = 2166136261u;

	for (; *dir; dir++) /* FNV-1a */
		hash = (hash ^ (unsigned char)*dir) * 16777619u;
	return xasprintf("mk%08x", hash);
}

bool profile_is_bridge_name(const char *link)
{
	return strncmp(link, "mk", 2) == 0 && strspn(link + 2, "0123456789abcdef") == 8 &&
	       link[10] == '\0';
}

/* Append the other users who have a cluster called NAME. */
static void find_owners(const char *name, struct strlist *ret)
{
	cleanup_dir DIR *stream = opendir(MANYKUBE_STATE_DIR);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		cleanup_free char *path = xasprintf(MANYKUBE_STATE_DIR "/%s/profiles/%s",
						    entry->d_name, name);
		unsigned long long uid;
		struct passwd *user;

		if (parse_number(entry->d_name, 0, UINT_MAX - 1, &uid, NULL) < 0 ||
		    uid == path_person_uid() || !file_exists(path))
			continue;
		user = getpwuid((uid_t)uid);
		strlist_addf(ret, "%s (SUDO_UID=%llu)", user ? user->pw_name : "a user", uid);
	}
	strlist_sort(ret);
}

/* Name the clusters that there are, other than NAME. */
static int hint_others(const char *name, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist others = STRLIST_INIT;
	cleanup_free char *known = NULL;
	const char *other;

	(void)profile_list(&names, NULL);
	strlist_for_each(other, &names)
		if (strcmp(other, name) != 0)
			strlist_add(&others, other);
	if (others.count == 0)
		return -ENOENT;
	if (others.count == 1)
		return error_hint(err, -ENOENT, "there is a cluster '%s': '-p %s' chooses it",
				  others.items[0], others.items[0]);
	known = strlist_join_some(&others, 5);
	return error_hint(err, -ENOENT, "existing clusters: %s; '-p NAME' chooses one", known);
}

/* Root without sudo may have meant the cluster NAME of a user: the hint names the users who have
 * one. */
static int explain_missing(const char *name, struct error *err)
{
	cleanup_with(strlist_release) struct strlist owners = STRLIST_INIT;
	cleanup_free char *shown = NULL;

	error_because(err, &reason_cluster_missing, -ENOENT, "there is no cluster '%s'", name);
	if (geteuid() == 0 && path_person_uid() == 0 && !path_is_one_home())
		find_owners(name, &owners);
	if (owners.count == 0)
		return hint_others(name, err);
	shown = strlist_join(&owners, ", ");
	return error_hint(err, -ENOENT,
			  "it exists for %s: run the command with sudo as that user, or set that "
			  "variable",
			  shown);
}

/* The path of the copy of the record PATH. */
static char *copy_path(const char *path)
{
	return xasprintf("%s.copy", path);
}

/* The number of nodes that have files in the cluster directory DIR. */
static size_t count_node_dirs(const char *dir)
{
	cleanup_free char *nodes = xasprintf("%s/nodes", dir);
	cleanup_dir DIR *stream = opendir(nodes);
	struct dirent *entry;
	size_t count = 0;

	while (stream && (entry = readdir(stream)))
		count += entry->d_name[0] != '.';
	return count;
}

/* Whether the file COPY is a record of the cluster NAME. */
static bool is_sound_copy(const char *name, const char *copy)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	return file_read(copy, PROFILE_LIMIT, &text, NULL) == 0 &&
	       profile_parse(text.text, text.len, &profile, NULL) == 0 &&
	       strcmp(profile.name, name) == 0;
}

/* A damaged profile is left as it is: nothing else describes the cluster, and a user may repair it.
 */
static int explain_damage(const char *name, const char *path, int code, struct error *err)
{
	cleanup_free char *copy = copy_path(path);

	error_reason(err, code, &reason_host_config);
	error_prefix(err, code, code == -ENOTSUP ? "cannot use '%s'" : "'%s' is damaged", path);
	if (code == -ENOTSUP)
		return error_hint(err, code,
				  "use the version of manykube that created the cluster '%s'",
				  name);
	/* Both are written at every change. */
	if (is_sound_copy(name, copy))
		return error_hint(err, code, "its copy is whole; restore it as root: 'cp %s %s'",
				  copy, path);
	return error_hint(
		err, code,
		"correct the file; the file and the nodes of cluster '%s' were not changed", name);
}

/* The record PATH of the cluster NAME is missing.  Read its copy into TEXT if the cluster has
 * nodes; a directory without nodes is the rest of an interrupted delete. */
static int read_copy(const char *name, const char *dir, const char *path, struct strbuf *text,
		     struct error *err)
{
	static bool warned;
	cleanup_free char *copy = copy_path(path);
	size_t nodes = count_node_dirs(dir);
	int r;

	if (nodes == 0)
		return explain_missing(name, err);
	r = file_read(copy, PROFILE_LIMIT, text, NULL);
	if (r < 0) {
		(void)error_because(err, &reason_host_config, -EBADMSG,
				    "the record '%s' is missing, but cluster '%s' has %zu node%s",
				    path, name, nodes, nodes == 1 ? "" : "s");
		return error_hint(err, -EBADMSG,
				  "restore the file from a backup; nodes and data were not "
				  "changed");
	}
	if (!warned)
		log_warning("the record '%s' is missing; using its copy '%s'", path, copy);
	warned = true;
	return 0;
}

/* Whether PROFILE is in the state directory, not in a home where an earlier version kept it. */
static bool is_in_place(const struct profile *profile)
{
	cleanup_free char *profiles = NULL;
	size_t len;

	if (profiles_dir(&profiles, NULL) < 0)
		return false;
	len = strlen(profiles);
	return strncmp(profile->dir, profiles, len) == 0 && profile->dir[len] == '/';
}

int profile_load(const char *name, struct profile *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *dir = NULL;
	cleanup_free char *path = NULL;
	struct profile profile;
	int r;

	r = profile_dir(name, &dir, err);
	if (r < 0)
		return r;
	path = xasprintf("%s/profile.json", dir);
	r = file_read(path, PROFILE_LIMIT, &text, &why);
	if (r == -ENOENT) {
		r = read_copy(name, dir, path, &text, err);
		if (r < 0)
			return r;
	}
	if (r < 0)
		(void)error_move(err, error_reason(&why, r, &reason_host_config), &why);
	if (r < 0 && r != -EACCES)
		return error_hint(err, r, "correct the file; cluster '%s' was not changed", name);
	if (r < 0)
		return r;

	r = profile_parse(text.text, text.len, &profile, err);
	if (r < 0)
		return explain_damage(name, path, r, err);
	if (strcmp(profile.name, name) != 0) {
		r = error_set(err, -EBADMSG, "its 'name' is '%s'", profile.name);
		profile_release(&profile);
		return explain_damage(name, path, r, err);
	}
	profile.dir = take_ptr(dir);
	/* A record in a home belongs to the user, who could have put the bridge of another cluster
	 * into it. */
	if (!is_in_place(&profile)) {
		free(profile.bridge);
		profile.bridge = profile_bridge_name(profile.dir);
	}
	*ret = profile;
	return 0;
}

int profile_copy(const struct profile *profile, struct profile *ret, struct error *err)
{
	cleanup_free char *text = profile_print(profile);
	struct profile copy;
	int r = profile_parse(text, strlen(text), &copy, err);

	if (r < 0)
		return r;
	copy.dir = profile->dir ? xstrdup(profile->dir) : NULL;
	copy.single_node_format = profile->single_node_format;
	*ret = copy;
	return 0;
}

/* Keep the file of an older format as PATH.v0, which an older manykube can still use. */
static int keep_old_format(const char *path, struct error *err)
{
	cleanup_free char *kept = xasprintf("%s.v0", path);

	if (link(path, kept) < 0 && errno != EEXIST)
		return error_sys(err, "cannot keep '%s' as '%s'", path, kept);
	return 0;
}

/* Environment variables of nodes may contain secrets, such as passwords of proxies. */
static bool has_variables(const struct profile *profile)
{
	const struct node *node;
	bool has = profile->env.count > 0;

	profile_for_each_node(node, profile)
		has |= node->env.count > 0;
	return has;
}

/* Create the directory DIR of a profile if it is missing. */
static int make_dir(const char *dir, struct error *err)
{
	cleanup_free char *profiles = NULL;
	int r;

	if (file_exists(dir))
		return 0;
	r = state_make("profiles", &profiles, err);
	return r < 0 ? r : file_make_dirs(dir, 0755, err);
}

int profile_save(const struct profile *profile, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/profile.json", profile->dir);
	cleanup_free char *copy = copy_path(path);
	cleanup_free char *text = profile_print(profile);
	mode_t mode = has_variables(profile) ? 0600 : 0644;
	int r;

	r = make_dir(profile->dir, err);
	if (r == 0 && profile->single_node_format)
		r = keep_old_format(path, err);
	if (r < 0)
		return r;
	r = file_replace(path, text, strlen(text), mode, err);
	if (r == 0)
		r = file_put(copy, text, strlen(text), mode, err);
	/* Both files belong to root and may contain secrets: only the user also gets read access.
	 */
	if (r == 0)
		r = user_may_read(path, err);
	return r < 0 ? r : user_may_read(copy, err);
}

static int list_profiles(bool with_record, struct strlist *ret_names, struct error *err)
{
	cleanup_free char *profiles = NULL;
	cleanup_dir DIR *stream = NULL;
	struct dirent *entry;
	int r;

	r = profiles_dir(&profiles, err);
	if (r < 0)
		return r;
	stream = opendir(profiles);
	if (!stream && errno != ENOENT)
		return error_sys(err, "cannot list '%s'", profiles);

	while (stream && (entry = readdir(stream))) {
		cleanup_free char *dir = xasprintf("%s/%s", profiles, entry->d_name);
		cleanup_free char *path = xasprintf("%s/profile.json", dir);

		if (profile_check_name(entry->d_name, NULL) == 0 &&
		    (!with_record || file_exists(path) || count_node_dirs(dir) > 0))
			strlist_add(ret_names, entry->d_name);
	}
	old_home_list(ret_names);
	strlist_sort(ret_names);
	return 0;
}

int profile_list(struct strlist *ret_names, struct error *err)
{
	return list_profiles(true, ret_names, err);
}

int profile_list_dirs(struct strlist *ret_names, struct error *err)
{
	return list_profiles(false, ret_names, err);
}

int profile_set_active(const char *name, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *known = NULL;
	int r = profile_check_name(name, err);

	if (r == 0)
		r = profile_list(&names, err);
	if (r < 0)
		return r;
	if (strlist_has(&names, name)) {
		r = settings_change(SETTING_PROFILE, name, err);
		return r < 0 ? r : 0;
	}
	error_because(err, &reason_cluster_missing, -ENOENT, "there is no cluster '%s'", name);
	if (names.count == 0)
		return error_hint(err, -ENOENT,
				  "there are no clusters yet: 'manykube start -p %s' creates it",
				  name);
	known = strlist_join(&names, ", ");
	return error_hint(err, -ENOENT, "existing clusters: %s", known);
}

int profile_forget_active(const char *name, struct error *err)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const char *active;
	int r = settings_load(&settings, err);

	if (r < 0)
		return r;
	active = settings_get(&settings, SETTING_PROFILE);
	if (!active || strcmp(active, name) != 0)
		return 0;
	r = settings_change(SETTING_PROFILE, NULL, err);
	return r < 0 ? r : 0;
}

/* Locks are not in the profile's directory: a start that is refused creates no profile, and delete
 * removes the directory while it holds the lock. */
static int lock_path(const char *name, char **ret_path, struct error *err)
{
	cleanup_free char *state = NULL;
	int r = path_state(&state, err);

	if (r == 0)
		*ret_path = xasprintf("%s/locks/%s", state, name);
	return r;
}

/* Whether the command that took the lock is gone.  Its children, which still hold it, will end
 * soon. */
static bool holder_has_died(const char *path)
{
	pid_t holder = file_lock_holder(path);

	return holder <= 0 || process_start_time(holder) == 0;
}

int profile_lock(const char *name, const char *what, int *ret_fd, struct error *err)
{
	int64_t deadline = clock_now_ms() + 3000;
	cleanup_free char *locks = NULL;
	cleanup_free char *path = NULL;
	int r = state_make("locks", &locks, err);

	if (r < 0)
		return r;
	path = xasprintf("%s/%s", locks, name);
	do {
		r = file_lock(path, what, ret_fd, err);
	} while (r == -EWOULDBLOCK && holder_has_died(path) && clock_poll(deadline, LOCK_POLL_MS));
	if (r == -EWOULDBLOCK) {
		error_prefix(err, r, "cluster '%s' is busy", name);
		return error_reason(err, r, &reason_busy);
	}
	return r;
}

char *profile_lock_holder(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;
	const char *what;

	if (lock_path(name, &path, NULL) < 0 || file_lock_holder(path) == 0 ||
	    file_read(path, 4096, &text, NULL) < 0)
		return NULL;
	strbuf_trim_end(&text);
	what = strchr(text.text, ' ');
	return what ? xstrdup(what + 1) : NULL;
}

bool profile_lock_is_older(const char *name, const char *path)
{
	cleanup_free char *lock = NULL;
	struct stat taken, changed;

	if (lock_path(name, &lock, NULL) < 0 || stat(lock, &taken) < 0 || stat(path, &changed) < 0)
		return false;
	return changed.st_mtim.tv_sec != taken.st_mtim.tv_sec
		       ? changed.st_mtim.tv_sec > taken.st_mtim.tv_sec
		       : changed.st_mtim.tv_nsec >= taken.st_mtim.tv_nsec;
}

void profile_remove_lock(const char *name)
{
	cleanup_free char *dir = NULL;
	cleanup_free char *path = NULL;

	if (profile_dir(name, &dir, NULL) == 0 && !file_exists(dir) &&
	    lock_path(name, &path, NULL) == 0)
		(void)unlink(path);
}

struct node *profile_find_node(const struct profile *profile, const char *name)
{
	struct node *node;

	profile_for_each_node(node, profile)
		if (node->name && strcmp(node->name, name) == 0)
			return node;
	return NULL;
}

struct node *profile_primary(const struct profile *profile)
{
	struct node *node;

	profile_for_each_node(node, profile)
		if (node->primary)
			return node;
	return NULL;
}

struct node *profile_add_node(struct profile *profile, const char *name)
{
	struct node *node;

	profile->nodes = xrealloc(profile->nodes, profile->node_count + 1, sizeof(*profile->nodes));
	node = &profile->nodes[profile->node_count++];
	*node = (struct node){ .name = xstrdup(name) };
	return node;
}

unsigned profile_control_planes(const struct profile *profile)
{
	const struct node *node;
	unsigned count = 0;

	profile_for_each_node(node, profile)
		count += node->control_plane;
	return count;
}

void profile_remove_node(struct profile *profile, struct node *node)
{
	size_t i = (size_t)(node - profile->nodes);

	node_release(node);
	memmove(node, node + 1, (profile->node_count - i - 1) * sizeof(*node));
	profile->node_count--;
}

int profile_need_node(const struct profile *profile, const char *name, struct node **ret_node,
		      struct error *err)
{
	struct node *node = profile_find_node(profile, name);
	cleanup_with(strlist_release) struct strlist known = STRLIST_INIT;
	cleanup_free char *shown = NULL;

	if (node) {
		*ret_node = node;
		return 0;
	}
	profile_for_each_node(node, profile)
		strlist_add(&known, node->name);
	shown = strlist_join(&known, ", ");
	(void)error_because(err, &reason_node_missing, -ENOENT, "cluster '%s' has no node '%s'",
			    profile->name, name);
	return error_hint(err, -ENOENT, "%s%s", known.count ? "its nodes: " : "it has no nodes",
			  shown);
}

void profile_release(struct profile *profile)
{
	struct node *node;

	profile_for_each_node(node, profile)
		node_release(node);
	free(profile->nodes);
	free(profile->name);
	free(profile->dir);
	settings_release_cluster(&profile->settings);
	free(profile->gateway);
	free(profile->ipv6_prefix);
	free(profile->bridge);
	free(profile->recovering);
	free(profile->upgrading_from);
	free(profile->network_from);
	strlist_release(&profile->network_due);
	strlist_release(&profile->orphans);
	strlist_release(&profile->lost_members);
	strlist_release(&profile->failures);
	strlist_release(&profile->drained);
	strlist_release(&profile->asked);
	*profile = PROFILE_INIT;
}

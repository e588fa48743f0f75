/* The audit log. */

#include "look/audit.h"

#include <fcntl.h>
#include <jansson.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/user.h"
#include "data/cloudevent.h"

#define TYPE "io.manykube.audit"

/* The file is shortened when it is larger than this. */
#define ROTATE_BYTES (1 << 20)
#define READ_LIMIT   (8 << 20)
#define KEPT         1000

/* How long a command waits for others to write a line. */
#define LOCK_MS      1000
#define LOCK_POLL_MS 5

static char *person(void)
{
	struct passwd *entry = getpwuid(path_person_uid());

	return entry ? xstrdup(entry->pw_name) : xasprintf("%u", path_person_uid());
}

void audit_init(struct audit *audit, const char *command, const char *args, const char *profile,
		const char *user)
{
	*audit = (struct audit){
		.id = cloudevent_new_id(),
		.command = xstrdup(command),
		.args = xstrdup(args),
		.profile = xstrdup(profile),
		.user = user && *user ? xstrdup(user) : person(),
		.version = xstrdup("v" MANYKUBE_VERSION),
		.start_time = clock_rfc3339(clock_wall_seconds()),
	};
}

void audit_release(struct audit *audit)
{
	free(audit->id);
	free(audit->command);
	free(audit->args);
	free(audit->profile);
	free(audit->user);
	free(audit->version);
	free(audit->start_time);
	free(audit->end_time);
	free(audit->exit_code);
	*audit = AUDIT_INIT;
}

/* The members of the event's data, by their names. */
static const struct {
	const char *name;
	size_t offset;
} members[] = {
	{ "args", offsetof(struct audit, args) },
	{ "command", offsetof(struct audit, command) },
	{ "endTime", offsetof(struct audit, end_time) },
	{ "exitCode", offsetof(struct audit, exit_code) },
	{ "id", offsetof(struct audit, id) },
	{ "profile", offsetof(struct audit, profile) },
	{ "startTime", offsetof(struct audit, start_time) },
	{ "user", offsetof(struct audit, user) },
	{ "version", offsetof(struct audit, version) },
};

static char **member(struct audit *audit, size_t i)
{
	return (char **)((char *)audit + members[i].offset);
}

char *audit_print(const struct audit *audit)
{
	struct audit copy = *audit;
	json_t *data = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = *member(&copy, i);

		/* Arguments may be any bytes, but JSON strings must be UTF-8. */
		if (text && json_object_set_new(data, members[i].name, json_string(text)) < 0)
			(void)json_object_set_new(data, members[i].name, json_string("?"));
	}
	return cloudevent_print(TYPE, audit->id, data);
}

/* Whether the file is in root's state directory.  For other users, or with MANYKUBE_HOME, it is in
 * the user's directory. */
static bool is_roots(void)
{
	return geteuid() == 0 && !path_is_one_home();
}

static int audit_directory(char **ret_path, struct error *err)
{
	return is_roots() ? path_state(ret_path, err) : path_user(ret_path, err);
}

int audit_path(char **ret_path, struct error *err)
{
	cleanup_free char *directory = NULL;
	int r = audit_directory(&directory, err);

	if (r == 0)
		*ret_path = xasprintf("%s/logs/audit.json", directory);
	return r;
}

/* Create the directory `logs` if its parent exists: a refused command creates no directories. */
static int make_logs(void)
{
	cleanup_free char *directory = NULL;
	cleanup_free char *logs = NULL;

	if (audit_directory(&directory, NULL) < 0 || !file_exists(directory))
		return -ENOENT;
	logs = xasprintf("%s/logs", directory);
	return mkdir(logs, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int lock_within(int fd, int64_t deadline_ms)
{
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (!clock_poll(deadline_ms, LOCK_POLL_MS))
			return -EWOULDBLOCK;
	}
	return 0;
}

/* Open and lock the file; start over if it was replaced by a shorter one meanwhile. */
static int open_locked(const char *path, int *ret_fd)
{
	int64_t deadline = clock_now_ms() + LOCK_MS;

	for (;;) {
		cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
					 0600);
		struct stat ours;
		struct stat named;
		int r;

		if (fd < 0)
			return -errno;
		r = is_roots() ? user_may_read(path, NULL) : 0;
		if (r < 0)
			return r;
		r = lock_within(fd, deadline);
		if (r < 0)
			return r;
		if (fstat(fd, &ours) == 0 && stat(path, &named) == 0 &&
		    ours.st_ino == named.st_ino && ours.st_dev == named.st_dev) {
			*ret_fd = take_fd(fd);
			return 0;
		}
	}
}

/* Read the file PATH; a missing file is an empty list. */
static int read_one(const char *path, struct audit_list *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read(path, READ_LIMIT, &text, err);

	*ret = AUDIT_LIST_INIT;
	if (r == -ENOENT) {
		error_clear(err);
		return 0;
	}
	if (r == 0)
		audit_parse(text.text, text.len, ret);
	return r;
}

/* Replace the file by one with only the last commands. */
static void shorten(const char *path)
{
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (read_one(path, &list, NULL) < 0)
		return;
	for (size_t i = list.count > KEPT ? list.count - KEPT : 0; i < list.count; i++) {
		cleanup_free char *line = audit_print(&list.items[i]);

		strbuf_add(&text, line);
	}
	(void)file_put(path, text.text, text.len, 0600, NULL);
}

static int append(const struct audit *audit)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *line = audit_print(audit);
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	struct stat st;
	int r = is_roots() ? 0 : user_enter(&rights, NULL);

	if (r == 0)
		r = make_logs();
	if (r == 0)
		r = audit_path(&path, NULL);
	if (r == 0)
		r = open_locked(path, &fd);
	if (r == 0)
		r = file_write_all(fd, line, strlen(line));
	if (r == 0 && fstat(fd, &st) == 0 && st.st_size > ROTATE_BYTES)
		shorten(path);
	if (r < 0)
		log_keep("cannot write the audit: %s", strerror(-r));
	return r;
}

void audit_begin(struct audit *audit)
{
	if (!audit->written)
		audit->written = append(audit) == 0;
}

void audit_end(struct audit *audit, int exit_code)
{
	audit_begin(audit);
	audit->end_time = clock_rfc3339(clock_wall_seconds());
	audit->exit_code = xasprintf("%d", exit_code);
	if (audit->written)
		(void)append(audit);
}

static struct audit *find_audit(struct audit_list *list, const char *id)
{
	/* Search backwards: the end of a command is usually close to its beginning. */
	for (size_t i = list->count; i-- > 0;)
		if (strcmp(list->items[i].id, id) == 0)
			return &list->items[i];
	return NULL;
}

/* Add one line to LIST: a new command, or the end of one. */
static void take_line(struct audit_list *list, const char *line, size_t len)
{
	json_auto_t *event = json_loadb(line, len, 0, NULL);
	const json_t *data = json_object_get(event, "data");
	const char *id = json_string_value(json_object_get(data, "id"));
	struct audit *audit;

	if (!id || !json_string_value(json_object_get(data, "command")))
		return;
	audit = find_audit(list, id);
	if (!audit) {
		list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
		audit = &list->items[list->count++];
		*audit = AUDIT_INIT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		const char *text = json_string_value(json_object_get(data, members[i].name));
		char **to = member(audit, i);

		if (text && !*to)
			*to = xstrdup(text);
	}
}

void audit_parse(const char *text, size_t len, struct audit_list *ret)
{
	const char *end = text + len;

	*ret = AUDIT_LIST_INIT;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		if (!line_end)
			line_end = end;
		take_line(ret, text, (size_t)(line_end - text));
		text = line_end + 1;
	}
}

static bool began_before(const struct audit *a, const struct audit *b)
{
	return strcmp(a->start_time ? a->start_time : "", b->start_time ? b->start_time : "") < 0;
}

/* Merge OTHER, which is emptied, into LIST; both are sorted by the time that commands began. */
static void merge_lists(struct audit_list *list, struct audit_list *other)
{
	struct audit_list all = AUDIT_LIST_INIT;
	size_t i = 0;
	size_t j = 0;

	if (other->count == 0)
		return;
	all.items = xcalloc(list->count + other->count, sizeof(*all.items));
	while (i < list->count || j < other->count) {
		bool from_other = i == list->count ||
				  (j < other->count &&
				   began_before(&other->items[j], &list->items[i]));

		all.items[all.count++] = from_other ? other->items[j++] : list->items[i++];
	}
	free(list->items);
	free(other->items);
	*list = all;
	*other = AUDIT_LIST_INIT;
}

int audit_read(struct audit_list *ret, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(audit_list_release) struct audit_list own = AUDIT_LIST_INIT;
	cleanup_with(audit_list_release) struct audit_list all = AUDIT_LIST_INIT;
	cleanup_free char *state = NULL;
	cleanup_free char *user = NULL;
	cleanup_free char *roots = NULL;
	cleanup_free char *users = NULL;
	int r = path_state(&state, err);

	if (r == 0)
		r = path_user(&user, err);
	if (r < 0)
		return r;
	roots = xasprintf("%s/logs/audit.json", state);
	users = xasprintf("%s/logs/audit.json", user);
	if (!path_is_one_home())
		r = read_one(roots, &all, err);
	if (r == 0)
		r = user_enter(&rights, err);
	if (r == 0)
		r = read_one(users, &own, err);
	if (r < 0)
		return r;
	merge_lists(&all, &own);
	*ret = all;
	all = AUDIT_LIST_INIT;
	return 0;
}

void audit_list_release(struct audit_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		audit_release(&list->items[i]);
	free(list->items);
	*list = AUDIT_LIST_INIT;
}

/* The context of a build as a stream. */

#include "buildkit/context.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "base/user.h"
#include "buildkit/context-files.h"
#include "data/sha256.h"
#include "data/tar-block.h"
#include "data/tar-entry.h"

#define DOCKERFILE_LIMIT (4u << 20)
#define IGNORE_LIMIT     (1u << 20)
#define LINK_LIMIT       4096u

struct build_context {
	char *shown;          /* the directory as the user named it */
	char *dockerfile;     /* its path in the archive */
	int root;             /* the directory, or -1 */
	int input;            /* standard input if that is an archive, or the file that is
			       * being read; or -1 */
	bool is_archive;      /* INPUT is the archive */
	uint64_t left;        /* of the file */
	uint64_t size;        /* of the file */
	struct strlist paths; /* in the directory, to be added */
	size_t next_path;
	bool has_ended;
	struct strbuf ready; /* bytes of the archive that come before those of INPUT */
	size_t ready_sent;
};

void build_context_free(struct build_context *context)
{
	if (context->root >= 0)
		(void)close(context->root);
	if (context->input >= 0)
		(void)close(context->input);
	strlist_release(&context->paths);
	strbuf_release(&context->ready);
	free(context->shown);
	free(context->dockerfile);
	free(context);
}

const char *build_context_dockerfile(const struct build_context *context)
{
	return context->dockerfile;
}

/* Explain why the user has no access. */
static int explain_rights(struct error *err, int r)
{
	if (r == -EACCES && geteuid() == 0 && path_person_uid() != 0)
		return error_hint(err, r, "under sudo, files are read with the rights of user %u",
				  path_person_uid());
	return r;
}

/* Add a file NAME with TEXT to the archive. */
static void add_text(struct build_context *context, const char *name, const struct strbuf *text)
{
	const struct tar_entry entry = {
		.path = name, .type = TAR_FILE, .mode = 0644, .size = text->len
	};

	tar_print_entry(&context->ready, &entry);
	strbuf_add_mem(&context->ready, text->text, text->len);
	tar_print_padding(&context->ready, text->len);
}

/* Add the Dockerfile TEXT, which is not one of the directory's files. */
static void add_dockerfile(struct build_context *context, const struct strbuf *text)
{
	char digest[SHA256_HEX_SIZE];

	/* Always the same name, so that the builder's cache of COPY can be used. */
	sha256_of(text->text, text->len, digest);
	free(context->dockerfile);
	context->dockerfile = xasprintf(".dockerfile.%.20s", digest);
	add_text(context, context->dockerfile, text);
}

static int read_input(struct strbuf *text, struct error *err)
{
	int r = file_read_fd(STDIN_FILENO, DOCKERFILE_LIMIT, text, err);

	if (r < 0)
		return error_prefix(err, r, "standard input");
	if (text->len == 0)
		return error_because(err, &reason_usage, -EINVAL, "standard input is empty");
	return 0;
}

/* Open standard input, which is an archive or a Dockerfile. */
static int open_input(struct build_context *context, const char *dockerfile, struct error *err)
{
	while (context->ready.len < TAR_BLOCK) {
		char bytes[TAR_BLOCK];
		ssize_t len = read(STDIN_FILENO, bytes, TAR_BLOCK - context->ready.len);

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return error_sys(err, "cannot read standard input");
		if (len == 0)
			break;
		strbuf_add_mem(&context->ready, bytes, (size_t)len);
	}
	if (tar_is_archive(context->ready.text, context->ready.len)) {
		context->dockerfile = xstrdup(dockerfile ? dockerfile : "Dockerfile");
		context->is_archive = true;
		context->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		return context->input < 0 ? error_sys(err, "cannot read standard input") : 0;
	}
	if (dockerfile)
		return error_because(
			err, &reason_usage, -EINVAL,
			"standard input is a Dockerfile, and --file names another one");
	return 1;
}

static int open_text(struct build_context *context, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	strbuf_add_mem(&text, context->ready.text, context->ready.len);
	strbuf_reset(&context->ready);
	r = read_input(&text, err);
	if (r < 0)
		return r;
	context->dockerfile = xstrdup("Dockerfile");
	add_text(context, context->dockerfile, &text);
	return 0;
}

/* The path of FILE, in the directory DIR unless that is NULL; NULL if there is no such file. */
static char *find_file(const char *dir, const char *file)
{
	cleanup_free char *path = dir && *file != '/' ? xasprintf("%s/%s", dir, file)
						      : xstrdup(file);

	return file_exists(path) ? take_ptr(path) : NULL;
}

/* The path of the Dockerfile that SOURCE names; for the caller to free. */
static int find_dockerfile(const struct build_source *source, char **ret, struct error *err)
{
	if (source->dockerfile) {
		*ret = find_file(NULL, source->dockerfile);
		if (!*ret)
			*ret = find_file(source->path, source->dockerfile);
	} else {
		*ret = find_file(source->path, "Dockerfile");
		if (!*ret)
			*ret = find_file(source->path, "dockerfile");
	}
	if (*ret)
		return 0;
	if (source->dockerfile)
		return error_because(err, &reason_host_path, -ENOENT, "there is no Dockerfile '%s'",
				     source->dockerfile);
	(void)error_because(err, &reason_host_path, -ENOENT, "there is no Dockerfile in '%s'",
			    source->path);
	return error_hint(err, -ENOENT, "name it with --file");
}

/* Read the file PATH of the user completely. */
static int read_user_file(const char *path, size_t limit, struct strbuf *ret, struct error *err)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return explain_rights(err, error_sys(err, "cannot open '%s'", path));
	/* A FIFO is what <(...) is. */
	if (S_ISFIFO(st.st_mode))
		(void)fcntl(fd, F_SETFL, O_RDONLY);
	else if (!S_ISREG(st.st_mode))
		return error_because(err, &reason_host_path, -EINVAL, "'%s' is not a file", path);
	return file_read_fd(fd, limit, ret, err);
}

/* Read the file that says what is ignored: the Dockerfile's own one, or that of the context. */
static int read_ignore(const char *dir, const char *dockerfile, struct dockerignore *ret,
		       struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *own = dockerfile ? xasprintf("%s.dockerignore", dockerfile) : NULL;
	cleanup_free char *common = xasprintf("%s/.dockerignore", dir);
	const char *path = own && file_exists(own) ? own : common;
	int r;

	if (!file_exists(path))
		return 0;
	r = read_user_file(path, IGNORE_LIMIT, &text, err);
	return r < 0 ? r : dockerignore_parse(path, text.text, text.len, ret, err);
}

/* PATH relative to the directory DIR, both real; NULL if it is elsewhere. */
static const char *path_below(const char *path, const char *dir)
{
	size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

	return strncmp(path, dir, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Choose the Dockerfile DOCKERFILE (NULL: standard input) of the directory DIR, a real path. */
static int take_dockerfile(struct build_context *context, const char *dir, const char *dockerfile,
			   struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = dockerfile ? realpath(dockerfile, NULL) : NULL;
	const char *below = path ? path_below(path, dir) : NULL;
	int r;

	if (below) {
		context->dockerfile = xstrdup(below);
		return 0;
	}
	r = dockerfile ? read_user_file(dockerfile, DOCKERFILE_LIMIT, &text, err)
		       : read_input(&text, err);
	if (r == 0)
		add_dockerfile(context, &text);
	return r;
}

/* The user's rights are in force. */
static int open_directory(struct build_context *context, const struct build_source *source,
			  struct error *err)
{
	cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
	cleanup_free char *dir = realpath(source->path, NULL);
	cleanup_free char *dockerfile = NULL;
	int r = 0;

	if (dir)
		context->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (context->root < 0) {
		r = error_sys(err, "cannot open the directory '%s'", source->path);
		return explain_rights(err, error_reason(err, r, &reason_host_path));
	}
	if (!text_is(source->dockerfile, "-"))
		r = find_dockerfile(source, &dockerfile, err);
	if (r == 0)
		r = take_dockerfile(context, dir, dockerfile, err);
	if (r == 0)
		r = read_ignore(dir, dockerfile, &ignore, err);
	if (r == 0)
		r = context_files_list(context->root, source->path, &ignore, context->dockerfile,
				       &context->paths, err);
	return explain_rights(err, r);
}

int build_context_open(const struct build_source *source, struct build_context **ret,
		       struct error *err)
{
	cleanup_with(build_context_freep) struct build_context *context = xcalloc(1,
										  sizeof(*context));
	bool is_input = strcmp(source->path, "-") == 0;
	int r;

	context->root = -1;
	context->input = -1;
	context->ready = STRBUF_INIT;
	context->shown = xstrdup(source->path);
	if (is_input && text_is(source->dockerfile, "-"))
		return error_because(
			err, &reason_usage, -EINVAL,
			"standard input can be the context or the Dockerfile, not both");
	if (is_input) {
		r = open_input(context, source->dockerfile, err);
		if (r > 0)
			r = open_text(context, err);
	} else {
		cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;

		r = user_enter(&rights, err);
		if (r == 0)
			r = open_directory(context, source, err);
	}
	if (r == 0)
		*ret = take_ptr(context);
	return r;
}

/* Add the header of the symbolic link PATH to the archive. */
static int add_link(struct build_context *context, struct tar_entry *entry, struct error *err)
{
	char target[LINK_LIMIT + 1];
	ssize_t len = readlinkat(context->root, entry->path, target, LINK_LIMIT);

	if (len < 0)
		return error_sys(err, "cannot read the link '%s/%s'", context->shown, entry->path);
	target[len] = '\0';
	entry->target = target;
	tar_print_entry(&context->ready, entry);
	return 0;
}

/* Open the file of ENTRY, whose contents are to be read next, and add its header. */
static int begin_file(struct build_context *context, struct tar_entry *entry, struct error *err)
{
	cleanup_fd int fd = openat(context->root, entry->path,
				   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return explain_rights(
			err, error_sys(err, "cannot open '%s/%s'", context->shown, entry->path));
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EAGAIN, "'%s/%s' changed while it was read", context->shown,
				 entry->path);
	entry->mode = st.st_mode;
	entry->size = (uint64_t)st.st_size;
	tar_print_entry(&context->ready, entry);
	context->left = entry->size;
	context->size = entry->size;
	context->input = take_fd(fd);
	return 0;
}

static int begin_path(struct build_context *context, const char *path, struct error *err)
{
	struct tar_entry entry = { .path = path };
	cleanup_free char *directory = NULL;
	struct stat st;

	if (fstatat(context->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT
			       ? 0
			       : error_sys(err, "cannot examine '%s/%s'", context->shown, path);
	entry.mode = st.st_mode;
	entry.mtime = st.st_mtime;
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		entry.type = TAR_FILE;
		return begin_file(context, &entry, err);
	case S_IFLNK:
		entry.type = TAR_LINK;
		return add_link(context, &entry, err);
	case S_IFDIR:
		directory = xasprintf("%s/", path);
		entry.path = directory;
		entry.type = TAR_DIRECTORY;
		break;
	case S_IFIFO:
		entry.type = TAR_FIFO;
		break;
	case S_IFSOCK:
		return 0;
	default:
		return error_set(err, -EINVAL, "'%s/%s' is a device, which cannot be sent",
				 context->shown, path);
	}
	tar_print_entry(&context->ready, &entry);
	return 0;
}

/* Prepare the next member, or the end of the archive. */
static int begin_next(struct build_context *context, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r;

	if (context->next_path == context->paths.count) {
		tar_print_end(&context->ready);
		context->has_ended = true;
		return 0;
	}
	r = user_enter(&rights, err);
	return r < 0 ? r : begin_path(context, context->paths.items[context->next_path++], err);
}

static ssize_t read_ready(struct build_context *context, char *to, size_t size)
{
	size_t len = MIN(size, context->ready.len - context->ready_sent);

	memcpy(to, context->ready.text + context->ready_sent, len);
	context->ready_sent += len;
	if (context->ready_sent == context->ready.len) {
		strbuf_reset(&context->ready);
		context->ready_sent = 0;
	}
	return (ssize_t)len;
}

/* Read from the file or archive that is open; 0 at its end. */
static ssize_t read_open(struct build_context *context, char *to, size_t size, struct error *err)
{
	size_t wanted = context->is_archive ? size : (size_t)MIN((uint64_t)size, context->left);
	ssize_t len = 0;

	if (wanted > 0) {
		do {
			len = read(context->input, to, wanted);
		} while (len < 0 && errno == EINTR);
		if (len < 0)
			return error_sys(err, "cannot read the context");
		if (len == 0 && !context->is_archive)
			return error_set(err, -EIO,
					 "a file in '%s' became shorter while it was read",
					 context->shown);
		context->left -= context->is_archive ? 0 : (uint64_t)len;
	}
	if (len > 0)
		return len;
	(void)close(context->input);
	context->input = -1;
	context->has_ended = context->is_archive;
	tar_print_padding(&context->ready, context->is_archive ? 0 : context->size);
	return 0;
}

ssize_t build_context_read(struct build_context *context, char *to, size_t size, struct error *err)
{
	for (;;) {
		ssize_t len;

		if (context->ready.len > 0)
			return read_ready(context, to, size);
		if (context->input >= 0) {
			len = read_open(context, to, size, err);
			if (len != 0)
				return len;
			continue;
		}
		if (context->has_ended)
			return 0;
		len = begin_next(context, err);
		if (len < 0)
			return len;
	}
}

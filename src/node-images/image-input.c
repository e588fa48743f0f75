/* Where images are loaded from. */

#include "node-images/image-input.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/user.h"

/* How long a client may take to find out whether the engine has an image. */
#define ASK_SECONDS 10

void image_input_release(struct image_input *source)
{
	cleanup_fd_(&source->fd);
	process_release(&source->process);
	free(source->client);
	*source = IMAGE_INPUT_INIT;
}

/* Set OPTIONS so that a client runs as the user, in ENVIRONMENT, which is that of this process with
 * the user's home. */
static int prepare_client(struct user *user, struct strlist *environment,
			  struct process_options *options, struct error *err)
{
	cleanup_free char *home = NULL;
	int r;

	user_find(user);
	if (!user->is_other)
		return 0;
	r = path_home(&home, err);
	if (r < 0)
		return r;
	for (char **variable = environ; *variable; variable++)
		if (strncmp(*variable, "HOME=", strlen("HOME=")) != 0)
			strlist_add(environment, *variable);
	strlist_addf(environment, "HOME=%s", home);
	options->user = user;
	options->environment = environment->items;
	return 0;
}

/* Start CLIENT with ARGV; its standard output goes to OUTPUT, its errors to /dev/null. */
static int run_client(char *const *argv, int output, struct process *ret, struct error *err)
{
	cleanup_with(user_release) struct user user = USER_INIT;
	cleanup_with(strlist_release) struct strlist environment = STRLIST_INIT;
	cleanup_fd int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct process_options options = { .no_stdin = true,
					   .dies_with_us = true,
					   .stdout_fd = output >= 0 ? output : nowhere,
					   .stderr_fd = nowhere };
	int r = prepare_client(&user, &environment, &options, err);

	return r < 0 ? r : process_spawn(argv, &options, ret, err);
}

/* Whether the engine of CLIENT has the image NAME. */
static bool engine_has(char *client, char *name)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;

	return run_client(ARGV(client, "image", "inspect", name), -1, &process, NULL) == 0 &&
	       process_wait(&process, clock_now_ms() + ASK_SECONDS * 1000, NULL) == 0;
}

static int open_engine(const char *word, struct image_input *ret, struct error *err)
{
	static const char *const clients[] = { "docker", "podman" };
	cleanup_free char *name = xstrdup(word);

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		cleanup_free char *path = process_find(clients[i]);
		int ends[2];
		int r;

		if (!path || !engine_has(path, name))
			continue;
		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_sys(err, "cannot make a pipe");
		r = run_client(ARGV(path, "image", "save", name), ends[1], &ret->process, err);
		(void)close(ends[1]);
		ret->fd = ends[0];
		ret->client = xstrdup(clients[i]);
		return r;
	}
	return -ENOENT;
}

static int fail_to_find(const char *word, bool only_engines, struct error *err)
{
	(void)error_because(err, &reason_host_path, -ENOENT,
			    "there is no %simage '%s' on this host",
			    only_engines ? "" : "file, directory or ", word);
	return error_hint(err, -ENOENT,
			  "images are found in Docker and Podman, if their engines run and you may "
			  "use them; 'manykube image pull' gets one from a registry");
}

int image_input_open(const char *word, enum image_input_kind origin, struct image_input *ret,
		     struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = -ENOENT;

	if (strcmp(word, "-") == 0) {
		ret->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		return ret->fd < 0 ? error_sys(err, "cannot read standard input") : 0;
	}
	if (origin == IMAGE_FROM_ANYWHERE)
		r = user_open(word, 0, &ret->fd, &why);
	/* What looks like a path is no name of an image. */
	if (r < 0 && (r != -ENOENT || *word == '/' || *word == '.' || strstr(word, ".tar")))
		return error_because(err, &reason_host_path, r, "%s", why.text);
	if (r < 0)
		r = open_engine(word, ret, err);
	return r == -ENOENT ? fail_to_find(word, origin == IMAGE_FROM_ENGINE, err) : r;
}

int image_input_close(struct image_input *source, int r, struct error *err)
{
	int status;

	if (!source->client)
		return r;
	/* The client may still be writing if reading failed. */
	cleanup_fd_(&source->fd);
	status = process_wait(&source->process, r < 0 ? clock_now_ms() + 1000 : 0, NULL);
	if (r == 0 && status > 0)
		return error_because(err, &reason_host_config, -EIO,
				     "'%s image save' failed with status %d", source->client,
				     status);
	return r;
}

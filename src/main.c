/* The command table, how errors are shown, and the exit status. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cli/say.h"
#include "cmd/command.h"

/* clang-format off */
const struct command *const commands[] = {
	&cmd_start,
	&cmd_apply,
	&cmd_stop,
	&cmd_status,
	&cmd_node,
	&cmd_worker,
	&cmd_upgrade,
	&cmd_profile,
	&cmd_kubectl,
	&cmd_update_context,
	&cmd_ssh,
	&cmd_cp,
	&cmd_ip,
	&cmd_service,
	&cmd_tunnel,
	&cmd_port,
	&cmd_network,
	&cmd_image,
	&cmd_docker_env,
	&cmd_docker_all,
	&cmd_registry,
	&cmd_logs,
	&cmd_pause,
	&cmd_unpause,
	&cmd_fail,
	&cmd_heal,
	&cmd_autostart,
	&cmd_delete,
	&cmd_config,
	&cmd_doctor,
	&cmd_driver,
	&cmd_completion,
	&cmd_help,
	&cmd_options,
	&cmd_version,
	&cmd_complete,
	&cmd_docs,
	&cmd_front_door,
	&cmd_vm_keeper,
	&cmd_fail_timer,
	NULL,
};
/* clang-format on */

/* A file opened later must not become our standard output.  The stand-in can't be written to, so
 * that results which nobody gets are still a failure. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}

/* Did the reader of our output see enough and leave? */
static bool reader_left(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO };

	return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/* Results that could not be written make a failure of any success, unless nobody wants them. */
static int end_output(int status)
{
	bool left = reader_left();
	bool failed = ferror(stdout) != 0;

	errno = 0;
	failed |= fclose(stdout) != 0;
	if (!failed || left || errno == EPIPE)
		return status;
	fprintf(stderr, "X Exiting due to MK_FAILURE: cannot write the output: %s\n",
		errno == EBADF ? "standard output is closed"
		: errno == 0   ? "an earlier write failed"
			       : strerror(errno));
	return status > 0 ? status : EXIT_FAILURE;
}

/* Called by a link named kubectl, all words are kubectl's. */
static bool is_kubectl(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	name = slash ? slash + 1 : name;
	return name && (strcmp(name, "kubectl") == 0 || strcmp(name, "manykube-kubectl") == 0);
}

int main(arg_unused int argc, char **argv)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int r;

	fill_standard_descriptors();
	/* A reader that went away must not end `start` half-way; results are checked at the end. */
	(void)signal(SIGPIPE, SIG_IGN);
	log_show_warnings_with(say_warning);

	if (is_kubectl(argv[0])) {
		strlist_add(&words, "kubectl");
		strlist_add(&words, "--");
		strlist_add_all(&words, argv + 1);
		argv = words.items;
	} else if (argv[0]) {
		argv++;
	}
	r = command_main(commands, argv, &err);
	if (r < 0) {
		(void)fflush(stdout);
		r = say_error(&err, r);
	}
	return end_output(r);
}

/*
 * The nftables of a native node's network.
 *
 * A child of ours enters the node's network, and nothing else of the node: it talks only to the
 * kernel.  It keeps the host's rights, since the kernel accepts large transactions only from
 * somebody who has CAP_NET_ADMIN there.
 */

#include "driver/native-filter.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "driver/native-link.h"
#include "host/firewall.h"

#define REASON_MOST 4096

/* In the child: write the reason of a failure to OUT. */
static _Noreturn void filter_inside(int netns, int out, const char *name, const char *rules)
{
	struct error err = ERROR_INIT;
	int r;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setns(netns, CLONE_NEWNET) < 0)
		r = error_sys(&err, "cannot enter the node's network");
	else
		r = rules ? firewall_replace_table(name, rules, &err)
			  : firewall_delete_table(name, &err);
	if (r < 0)
		(void)file_write_all(out, err.text, strlen(err.text));
	_exit(r < 0 ? 1 : 0);
}

int native_filter(const struct node_spec *spec, pid_t pid, const char *name, const char *rules,
		  struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf reason = STRBUF_INIT;
	cleanup_fd int netns = -1;
	cleanup_fd int in = -1;
	cleanup_fd int out = -1;
	int ends[2];
	pid_t child;
	int status;
	int r = native_link_open_network(spec, pid, &netns, err);

	if (r < 0)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	in = ends[0];
	out = ends[1];
	child = fork();
	if (child < 0)
		return error_sys(err, "cannot start a process");
	if (child == 0)
		filter_inside(netns, out, name, rules);
	(void)close(take_fd(out));
	(void)file_read_fd(in, REASON_MOST, &reason, NULL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err, -EIO, "cannot change the rules in node '%s': %s", spec->name,
			 reason.len > 0 ? reason.text : "the process was killed");
}

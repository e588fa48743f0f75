/* The program that is PID 1 of nodes. */

#include "driver/agent-path.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/path.h"

int agent_find(char **ret_path, struct error *err)
{
	cleanup_free char *libexec = NULL;
	cleanup_free char *agent = NULL;
	int r = path_libexec(&libexec, err);

	if (r < 0)
		return r;
	agent = xasprintf("%s/manykube-agent", libexec);
	if (access(agent, X_OK) < 0) {
		r = error_sys(err, "cannot find the agent for nodes, '%s'", agent);
		return error_hint(
			err, error_reason(err, r, &reason_host_missing_tool),
			"keep it in the directory of the program, install both with 'make install', "
			"or set MANYKUBE_LIBEXEC to its directory");
	}
	*ret_path = take_ptr(agent);
	return 0;
}

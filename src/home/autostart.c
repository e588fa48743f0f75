/* A systemd service that starts a cluster when the host boots. */

#include "home/autostart.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/strbuf.h"

#define UNIT_DIR "/etc/systemd/system"

static char *unit_of(const struct profile *profile)
{
	return xasprintf("manykube-%s.service", profile->bridge);
}

static char *file_of(const struct profile *profile)
{
	cleanup_free char *unit = unit_of(profile);

	return xasprintf(UNIT_DIR "/%s", unit);
}

/* Characters with a meaning in unit files would have to be escaped in several ways, so they are
 * refused. */
static int check_path(const char *path, struct error *err)
{
	if (!strpbrk(path, "\"'\\%$\n") && !strchr(path, ' '))
		return 0;
	return error_because(
		err, &reason_host_config, -EINVAL,
		"a systemd service cannot use '%s': it has a space, a quote, \\, %% or $", path);
}

int autostart_text(const struct autostart *autostart, char **ret_text, struct error *err)
{
	/*
	 * The service is ordered after the scope when starting, and so before it when stopping:
	 * nodes are stopped in order.  It is also ordered after firewalls, which would drop our
	 * rules if they started later.
	 */
	static const char unit[] =
#include "autostart.service.inc"
		;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf environment = STRBUF_INIT;
	int r = check_path(autostart->program, err);

	if (r == 0)
		r = check_path(autostart->state, err);
	if (r == 0)
		r = check_path(autostart->cache, err);
	if (r < 0)
		return r;
	/* For directories other than the defaults. */
	if (autostart->home)
		strbuf_addf(&environment, "Environment=MANYKUBE_HOME=%s\n", autostart->home);
	if (autostart->own_cache)
		strbuf_addf(&environment, "Environment=MANYKUBE_CACHE=%s\n", autostart->own_cache);
	/* As if the user had run it: the cluster and the kubeconfig belong to the user. */
	if (autostart->uid != 0)
		strbuf_addf(&environment, "Environment=SUDO_UID=%u SUDO_GID=%u\n", autostart->uid,
			    autostart->gid);
	strbuf_add_filled(&text, unit,
			  (const struct strbuf_value[]){ { "PROFILE", autostart->profile },
							 { "BRIDGE", autostart->bridge },
							 { "PROGRAM", autostart->program },
							 { "STATE", autostart->state },
							 { "CACHE", autostart->cache },
							 { "ENVIRONMENT", environment.text },
							 { NULL } });
	*ret_text = strbuf_take(&text);
	return 0;
}

static int systemctl(const char *verb, const char *unit, struct error *err)
{
	cleanup_free char *word = xstrdup(verb);
	cleanup_free char *name = unit ? xstrdup(unit) : NULL;
	int r = process_run(ARGV("systemctl", "--quiet", word, name), NULL, err);

	if (r < 0)
		return r;
	return r == 0 ? 0
		      : error_because(err, &reason_host_config, -EIO,
				      "'systemctl %s%s%s' failed with exit status %d", verb,
				      unit ? " " : "", unit ? unit : "", r);
}

int autostart_enable(const struct profile *profile, struct error *err)
{
	struct autostart autostart = { .profile = profile->name,
				       .bridge = profile->bridge,
				       .uid = path_person_uid(),
				       .gid = path_person_gid() };
	cleanup_free char *unit = unit_of(profile);
	cleanup_free char *file = file_of(profile);
	const char *own_cache = getenv("MANYKUBE_CACHE");
	cleanup_free char *state = NULL;
	cleanup_free char *cache = NULL;
	cleanup_free char *text = NULL;
	char program[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int r;

	if (!file_exists("/run/systemd/system")) {
		(void)error_because(err, &reason_host_unsupported, -ENOTSUP,
				    "this host does not run systemd");
		return error_hint(err, -ENOTSUP,
				  "configure its init system to run 'manykube start -p %s' at boot",
				  profile->name);
	}
	if (len < 0)
		return error_sys(err, "cannot find the manykube program");
	program[len] = '\0';
	r = path_state(&state, err);
	if (r == 0)
		r = path_cache(&cache, err);
	if (r < 0)
		return r;
	autostart.program = program;
	autostart.state = state;
	autostart.cache = cache;
	autostart.home = path_is_one_home() ? state : NULL;
	autostart.own_cache = own_cache && *own_cache ? cache : NULL;
	r = autostart_text(&autostart, &text, err);
	if (r == 0)
		r = file_put(file, text, strlen(text), 0644, err);
	if (r == 0)
		r = systemctl("daemon-reload", NULL, err);
	return r < 0 ? r : systemctl("enable", unit, err);
}

int autostart_disable(const struct profile *profile, struct error *err)
{
	cleanup_free char *unit = unit_of(profile);
	cleanup_free char *file = file_of(profile);
	int r;

	if (!file_exists(file))
		return 0;
	r = systemctl("disable", unit, err);
	if (r == 0 && unlink(file) < 0 && errno != ENOENT)
		r = error_sys(err, "cannot remove '%s'", file);
	if (r == 0)
		r = systemctl("daemon-reload", NULL, err);
	/* Without its file, the unit has no command to stop the cluster, which keeps running. */
	return r == 0 && systemctl("is-active", unit, NULL) == 0 ? systemctl("stop", unit, err) : r;
}

bool autostart_is_enabled(const struct profile *profile)
{
	cleanup_free char *file = file_of(profile);

	return file_exists(file);
}

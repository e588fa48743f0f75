/* The list of drivers. */

#include "driver/driver.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* The first one is the default. */
static const struct node_driver *const drivers[] = {
	&node_driver_native,
	&node_driver_docker,
	&node_driver_qemu,
};

static const struct node_driver *replacement;

void node_driver_replace(const struct node_driver *driver)
{
	replacement = driver;
}

const struct node_driver *node_driver_at(size_t number)
{
	if (replacement)
		return number == 0 ? replacement : NULL;
	return number < ARRAY_SIZE(drivers) ? drivers[number] : NULL;
}

const struct node_driver *node_driver_default(void)
{
	return node_driver_at(0);
}

const struct node_driver *node_driver_find(const char *name)
{
	if (replacement && strcmp(replacement->name, name) == 0)
		return replacement;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}

const char *node_driver_resolve(const char *name)
{
	static const struct {
		const char *names;
		const char *driver;
	} others[] = {
		{ " kvm kvm2 qemu2 ", "qemu" },
		{ " podman ", "docker" },
	};
	cleanup_free char *word = xasprintf(" %s ", name);

	if (!*name || strcmp(name, "auto") == 0 || strcmp(name, "none") == 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strchr(name, ' ') && strstr(others[i].names, word))
			return others[i].driver;
	return name;
}

/* What does the work of DRIVER, of which other programs know; NULL: nothing. */
static const char *advice_for(const char *driver)
{
	static const struct {
		const char *names;
		const char *advice;
	} others[] = {
		{ " virtualbox vmware vmwarefusion hyperkit hyperv parallels vfkit krunkit vm ",
		  "--driver=qemu makes nodes that are virtual machines, with KVM where it works" },
		{ " container ",
		  "--driver=docker makes nodes that are containers of Docker or Podman; without "
		  "--driver, nodes need no engine" },
		{ " ssh generic ",
		  "there is no substitute: all nodes are on this host; leave --driver out" },
	};
	cleanup_free char *word = xasprintf(" %s ", driver);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strstr(others[i].names, word))
			return others[i].advice;
	return "'manykube driver list' says what they are; without --driver, nodes are made of "
	       "namespaces of this host";
}

int node_driver_check(const char *name, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *all = NULL;
	const struct node_driver *driver;

	if (node_driver_find(name))
		return 0;
	for (size_t i = 0; (driver = node_driver_at(i)); i++)
		strlist_add(&names, driver->name);
	all = strlist_join(&names, ", ");
	(void)error_because(err, &reason_usage, -EINVAL,
			    "there is no driver '%s'; available drivers: %s", name, all);
	return error_hint(err, -EINVAL, "%s", advice_for(name));
}

#include <string.h>

#include "home/autostart.h"
#include "test.h"

static struct autostart of_person(void)
{
	return (struct autostart){
		.profile = "dev",
		.bridge = "mk01234567",
		.program = "/usr/bin/manykube",
		.state = "/var/lib/manykube/1000",
		.cache = "/var/cache/manykube",
		.uid = 1000,
		.gid = 1001,
	};
}

TEST(the_service_starts_and_stops_the_persons_cluster)
{
	struct autostart autostart = of_person();
	cleanup_free char *text = NULL;

	ASSERT_OK(autostart_text(&autostart, &text, &err));
	ASSERT(strstr(text, "\nExecStart=/usr/bin/manykube start -p dev\n"));
	ASSERT(strstr(text, "\nExecStop=/usr/bin/manykube stop -p dev\n"));
	ASSERT(strstr(text, "\nEnvironment=SUDO_UID=1000 SUDO_GID=1001\n"));
	ASSERT(strstr(text, "\nRequiresMountsFor=/usr/bin/manykube /var/lib/manykube/1000 "
			    "/var/cache/manykube\n"));
	ASSERT(!strstr(text, "MANYKUBE_HOME"));
	ASSERT(!strstr(text, "MANYKUBE_CACHE"));
	ASSERT(strstr(text, "\nAfter=network.target manykube-mk01234567.scope\n"));
}

TEST(places_that_were_chosen_are_named)
{
	struct autostart autostart = of_person();
	cleanup_free char *text = NULL;

	autostart.home = "/srv/one";
	autostart.own_cache = "/srv/cache";
	ASSERT_OK(autostart_text(&autostart, &text, &err));
	ASSERT(strstr(text, "\nEnvironment=MANYKUBE_HOME=/srv/one\n"));
	ASSERT(strstr(text, "\nEnvironment=MANYKUBE_CACHE=/srv/cache\n"));
}

TEST(roots_own_cluster_belongs_to_nobody_else)
{
	struct autostart autostart = of_person();
	cleanup_free char *text = NULL;

	autostart.uid = 0;
	ASSERT_OK(autostart_text(&autostart, &text, &err));
	ASSERT(!strstr(text, "SUDO_UID"));
}

TEST(a_path_that_a_service_would_misread_is_refused)
{
	static const char *const paths[] = { "/home/a b", "/home/100%", "/home/$x", "/home/a\"b" };
	struct autostart autostart = of_person();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		char *text = NULL;

		autostart.state = paths[i];
		ASSERT_INT(autostart_text(&autostart, &text, NULL), -EINVAL);
		ASSERT(!text);
	}
}

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "node-images/images-inside.h"
#include "node-images/kubernetes-images.h"
#include "node-images/node-images.h"
#include "test.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int parse(const char *text, struct node_image_list *ret, struct error *err)
{
	return node_images_parse(text, strlen(text), ret, err);
}

TEST(reads_a_nodes_answer)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;

	ASSERT_OK(parse("image docker.io/library/app:v1 " A " " B " 1234 mp\n"
			"image other " B " - 0 -\nblob " A "\nlayer " B "\n",
			&list, &err));
	ASSERT_INT(list.count, 2);
	ASSERT_STR(list.items[0].name, "docker.io/library/app:v1");
	ASSERT_STR(list.items[0].digest, A);
	ASSERT_STR(list.items[0].config, B);
	ASSERT_INT(list.items[0].size, 1234);
	ASSERT(list.items[0].managed && list.items[0].pinned);
	ASSERT_STR(list.items[1].config, "");
	ASSERT(!list.items[1].managed && !list.items[1].pinned);
	ASSERT_INT(list.used_blobs.count, 1);
	ASSERT_STR(list.used_layers.items[0], B);
}

TEST(refuses_a_damaged_answer)
{
	static const char *const answers[] = {
		"image app " A " - 1 m",        /* no newline */
		"image app " A " - 1\n",        /* no flags */
		"image app " A " - 1 m more\n", /* too many words */
		"image app aaaa - 1 m\n",       /* no digest */
		"image app " A " x 1 m\n",      /* no configuration */
		"image app " A " - -1 m\n",     /* no size */
		"image app " A " - 1 x\n",      /* unknown flag */
		"image a\033pp " A " - 1 m\n",  /* a control character */
		"blob ../../etc\n",
		"layer\n",
		"blob " A " " A "\n",
		"\n",
		"hello world\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;
		struct node_image_list list;

		ASSERT_INT(parse(answers[i], &list, &err), -EBADMSG);
	}
}

TEST(an_error_of_a_node_is_printable)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct node_image_list list;

	ASSERT_INT(parse("error no\nspace \033[31m\n", &list, &err), -EIO);
	ASSERT(strstr(err.text, "space"));
	ASSERT(!strchr(err.text, '\033') && !strchr(err.text, '\n'));
}

TEST(a_node_that_cannot_be_opened_is_an_error_of_its_task)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const struct image_list wanted = IMAGE_LIST_INIT;
	struct node *node;

	profile.dir = xstrdup(test_dir());
	profile.name = xstrdup("p");
	profile.kubernetes_version = xstrdup("v1.36.3");
	node = profile_add_node(&profile, "node-1");
	node->driver = xstrdup("unknown");
	ASSERT_INT(node_images_install(&profile, node, &wanted, &err), -EINVAL);
	ASSERT(strstr(err.text, "node-1"));
}

/* The programs of such a node are those of this host, with a containerd's client that notes what
 * it is told to do. */
static int spawn_here(arg_unused const struct node_spec *spec, char *const *argv,
		      const struct process_options *options, struct process *ret, struct error *err)
{
	return process_spawn(argv, options, ret, err);
}

static struct node *make_vm(struct profile *profile)
{
	static const struct node_driver driver = { .name = "vm", .spawn = spawn_here };
	static const char client[] =
		"#!/bin/sh\n"
		"case $* in\n"
		"version) ;;\n"
		"*' ls') cat <<END\n"
		"REF TYPE DIGEST SIZE PLATFORMS LABELS\n"
		"docker.io/library/app:v1   t sha256:" A " 1.5 KiB linux/amd64 "
		"io.cri-containerd.image=managed,io.cri-containerd.pinned=pinned\n"
		"docker.io/library/other:v1 t sha256:" B " 12 B    linux/amd64 -\n"
		"docker.io/library/twin:v1  t sha256:" B " 12 B    linux/amd64 -\n"
		"sha256:" B "               t sha256:" A " 1.5 KiB linux/amd64 -\n"
		"END\n;;\n"
		"*) echo \"$*\" >>%s/did;;\n"
		"esac\n";
	cleanup_free char *path = xasprintf("%s:%s", test_dir(), getenv("PATH"));
	cleanup_free char *program = xasprintf("%s/ctr", test_dir());
	cleanup_free char *text = xasprintf(client, test_dir());
	struct node *node;

	ASSERT_OK(file_put(program, text, strlen(text), 0755, &err));
	ASSERT_INT(setenv("PATH", path, 1), 0);
	node_driver_replace(&driver);
	*profile = PROFILE_INIT;
	profile->dir = xstrdup(test_dir());
	profile->name = xstrdup("p");
	profile->kubernetes_version = xstrdup("v1.36.3");
	profile->subnet = xstrdup("192.168.39.0/24");
	profile->gateway = xstrdup("192.168.39.1");
	profile->bridge = xstrdup("mk-test");
	node = profile_add_node(profile, "node-1");
	node->driver = xstrdup("vm");
	node->address = xstrdup("192.168.39.2");
	return node;
}

static void assert_did(const char *words)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/did", test_dir());

	ASSERT_OK(file_read(path, 65536, &text, &err));
	ASSERT_STR(text.text, words);
	(void)remove(path);
}

TEST(a_node_with_its_own_kernel_tells_of_its_images_by_a_program)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	const struct image_list wanted = IMAGE_LIST_INIT;
	struct node *node = make_vm(&profile);

	ASSERT_OK(node_images_list(&profile, node, &list, &err));
	ASSERT_INT(list.count, 4);
	ASSERT_STR(list.items[0].name, "docker.io/library/app:v1");
	ASSERT_STR(list.items[0].digest, A);
	ASSERT_STR(list.items[0].config, B);
	ASSERT_INT(list.items[0].size, 1536);
	ASSERT(list.items[0].managed && list.items[0].pinned);
	ASSERT_INT(list.items[1].size, 12);
	ASSERT(!list.items[1].managed && !*list.items[1].config);
	/* It imports instead. */
	ASSERT_INT(node_images_install(&profile, node, &wanted, NULL), -ENOTSUP);
}

TEST(a_node_with_its_own_kernel_tags_and_removes_images)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct node *node = make_vm(&profile);

	ASSERT_OK(node_images_tag(&profile, node, "docker.io/library/app:v1", "x/y:z", &err));
	assert_did("-n k8s.io images tag --force docker.io/library/app:v1 x/y:z\n"
		   "-n k8s.io images label x/y:z io.cri-containerd.pinned=\n");
	ASSERT_INT(node_images_tag(&profile, node, "docker.io/library/ap", "x/y:z", NULL), -ENOENT);
	strlist_add(&names, "docker.io/library/nope:v1");
	ASSERT_INT(node_images_remove(&profile, node, &names, NULL), -ENOENT);
	/* An image whose last name goes has no ID either; one with another name is kept. */
	strlist_add(&names, "docker.io/library/other:v1");
	ASSERT_OK(node_images_remove(&profile, node, &names, &err));
	assert_did("-n k8s.io images rm --sync docker.io/library/other:v1\n");
	strlist_release(&names);
	names = STRLIST_INIT;
	strlist_add(&names, "docker.io/library/app:v1");
	ASSERT_OK(node_images_remove(&profile, node, &names, &err));
	assert_did("-n k8s.io images rm --sync docker.io/library/app:v1 sha256:" B "\n");
}

TEST(the_time_for_an_installation_grows_with_its_layers)
{
	struct image images[2] = { { .layer_count = 400 }, { .layer_count = 100 } };
	const struct image_list wanted = { .items = images, .count = 2 };
	struct node_images_request request = { .wanted = &wanted };

	ASSERT_INT(node_images_limit_ms(&request), 160000);
	request.verb = NODE_IMAGES_LIST;
	ASSERT_INT(node_images_limit_ms(&request), 60000);
}

TEST(a_node_cannot_make_its_answer_larger)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf got = STRBUF_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_fd int fd = images_make_answer(&err);

	ASSERT(fd >= 0);
	ASSERT(pwrite(fd, "x", 1, IMAGES_ANSWER_BYTES) < 0);
	ASSERT(ftruncate(fd, IMAGES_ANSWER_BYTES + 1) < 0);
	ASSERT(fallocate(fd, 0, 0, IMAGES_ANSWER_BYTES + 1) < 0);
	memset(strbuf_grow(&text, IMAGES_ANSWER_BYTES + 1), 'x', IMAGES_ANSWER_BYTES + 1);
	strbuf_grown(&text, IMAGES_ANSWER_BYTES + 1);
	ASSERT_INT(images_write_answer(fd, &text), -EMSGSIZE);
	strbuf_reset(&text);
	strbuf_add(&text, "layer " A "\n");
	ASSERT_INT(images_write_answer(fd, &text), 0);
	ASSERT(lseek(fd, 0, SEEK_SET) == 0);
	ASSERT_INT(file_read_fd(fd, IMAGES_ANSWER_BYTES, &got, &err), 0);
	ASSERT_STR(got.text, "layer " A "\n");
	ASSERT(ftruncate(fd, IMAGES_ANSWER_BYTES) < 0);
}

TEST(an_image_that_has_the_name_of_one_of_kubernetes_is_found)
{
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	const struct node worker = { .control_plane = false };
	const struct node primary = { .control_plane = true };

	strlist_add(&names, "r/pause:3");
	strlist_add(&ids, "sha256:" A);
	strlist_add(&names, "r/etcd:3");
	strlist_add(&ids, "sha256:" B);
	ASSERT_OK(parse("image r/pause:3 " B " " A " 1 mp\n", &list, &err));
	/* Workers need no etcd. */
	ASSERT(!kubernetes_images_find_wrong(&worker, &list, &names, &ids));
	ASSERT_STR(kubernetes_images_find_wrong(&primary, &list, &names, &ids), "r/etcd:3");
	(void)snprintf(list.items[0].config, sizeof(list.items[0].config), "%s", B);
	ASSERT_STR(kubernetes_images_find_wrong(&worker, &list, &names, &ids), "r/pause:3");
}

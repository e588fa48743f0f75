/*
 * The components of payloads: their programs, where they are released, how they are built from
 * source, and which versions belong to which Kubernetes version.
 *
 * These are tables.  A new Kubernetes version is one entry in component.c.
 *
 * Templates may contain {version} (v1.36.3), {number} (1.36.3), {minor} (36), {rest} (36.3), {arch}
 * (amd64) and {program}; component_expand() replaces them.
 */
#pragma once

#include "base/macro.h"

enum component_id {
	COMPONENT_KUBERNETES,
	COMPONENT_ETCD,
	COMPONENT_CONTAINERD,
	COMPONENT_RUNC,
	COMPONENT_CNI,
	COMPONENT_COREDNS,
	COMPONENT_LOCAL_PATH,
	COMPONENT_COUNT, /* the number of components of a Kubernetes version */

	/* Not part of any Kubernetes version: see apart.h. */
	COMPONENT_DOCKER = COMPONENT_COUNT,
	COMPONENT_REGISTRY,
	COMPONENT_FLANNEL,
	COMPONENT_END,
};

/* Where a program is used. */
enum program_use {
	USE_NODE = 1 << 0,  /* bin/ */
	USE_CNI = 1 << 1,   /* cni/ */
	USE_IMAGE = 1 << 2, /* into an image */
};

struct program {
	const char *name;
	enum program_use use;
	const char *package;  /* Go package, or its directory below the module */
	const char *built_as; /* the name that go build gives it; NULL: `name` */
};

enum build_style {
	BUILD_IN_MODULE,  /* in the module's directory, with its go.mod and go.sum */
	BUILD_KUBERNETES, /* in our module, a copy of Kubernetes' go.mod without staging modules */
	BUILD_WRAPPED,    /* in our module, which requires the modules of the programs */
	BUILD_VENDORED,   /* in a copy of the module, whose go.mod is called vendor.mod */
	BUILD_OURS, /* a program of ours in a copy of the module, with its go.mod and go.sum */
};

/* The name of the programs of BUILD_OURS, and of their directory in the module's cmd/. */
#define BUILD_OURS_NAME "manykube-registry"

struct component {
	const char *name;
	const struct program *programs; /* ended by a NULL name */

	/* The release: one file per program, or an archive if `inside` is given. */
	const char *url; /* NULL: no release */
	const char *checksum_url;
	const char *inside; /* the programs' directory in the archive */

	/* The source. */
	enum build_style style;
	const char *module;
	const char *go_version; /* for BUILD_WRAPPED: the version in our go.mod */
	const char *tags;
	const char *ldflags;
	const char *main;  /* for BUILD_OURS: the text of the program */
	unsigned packages; /* about how many packages go compiles with an empty cache */
	bool cgo;
	const char *without; /* the effect on clusters if it is missing; NULL: it is required */
	const char *needs;   /* what a build needs on the host besides Go */
};

/* A supported version of Kubernetes, of Docker or of the registry, and the versions of its
 * components. */
struct release {
	const char *version; /* v1.36.3 */
	const char *pause;   /* 3.10.2 */
	const char *etcd_image_tag;
	const char *versions[COMPONENT_END]; /* v1.36.3, v3.6.8, … */
};

extern const struct component components[COMPONENT_END];

/* The supported versions, newest first, ended by a NULL version. */
extern const struct release releases[];

/* The versions of Docker, the registry and flannel. */
extern const struct release docker_release;
extern const struct release registry_release;
extern const struct release flannel_release;
#define FLANNEL_VERSION "v0.26.7"

/* The entry of VERSION; NULL if it is not supported. */
const struct release *release_find(const char *version);

/* Replace the {words} of TEMPLATE; the caller frees the result.  PROGRAM may be NULL. */
char *component_expand(const char *template, const char *version, const char *arch,
		       const char *program) must_check;

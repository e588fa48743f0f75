/* What the words of settings must be, beside what record/spec.h knows: -EINVAL with reason_usage.
 */
#pragma once

#include "base/error.h"

int setting_check_port(const char *word, struct error *err);

/* Whether two words of --ports are about the same port of the host, which leads to one of the
 * nodes. */
bool setting_is_same_port(const char *word, const char *other);

/* Also that this host has it, and that its owner can be told. */
int setting_check_mount(const char *word, struct error *err);

/* minikube has --mount without a value, beside --mount-string. */
int setting_check_mount_form(const char *word, struct error *err);

int setting_check_label(const char *word, struct error *err);
int setting_check_taint(const char *word, struct error *err);
int setting_check_gate(const char *word, struct error *err);
int setting_check_mirror(const char *word, struct error *err);

/* Of all of Kubernetes' programs, or of a node's kubelet only. */
int setting_check_extra(const char *word, struct error *err);
int setting_check_kubelet_extra(const char *word, struct error *err);

int setting_check_nodes_subnet(const char *word, struct error *err);
int setting_check_services_subnet(const char *word, struct error *err);
int setting_check_pods_subnet(const char *word, struct error *err);

/* A program of this host. */
int setting_check_program(const char *word, struct error *err);

int setting_check_repository(const char *word, struct error *err);

/* Of Kubernetes, as people write it. */
int setting_check_version(const char *word, struct error *err);

/* -ERANGE if a node can't live with a disk of so many bytes; 0 is none. */
int setting_check_disk(uint64_t bytes, struct error *err);

/* Why minikube's drivers are not needed. */
#define SETTING_NO_DRIVER \
	"nodes are made of namespaces of this host and need no driver: leave it out"

/* Whether --driver=NAME leaves the choice to us: auto, or what minikube calls the lack of one. */
bool setting_is_open_driver(const char *name);

/* The same, or the name of a driver. */
int setting_check_driver(const char *name, struct error *err);

/* Checks of setting values beyond those of record/spec.h.  Each returns -EINVAL with reason_usage.
 */
#pragma once

#include "base/error.h"

int setting_check_port(const char *word, struct error *err);

/* Whether two words of --ports use the same port of the host. */
bool setting_is_same_port(const char *word, const char *other);

/* Also checks that the path exists on this host and that its owner can be determined. */
int setting_check_mount(const char *word, struct error *err);

/* For --mount without a value, as in minikube, which uses --mount-string for the value. */
int setting_check_mount_form(const char *word, struct error *err);

int setting_check_label(const char *word, struct error *err);
int setting_check_taint(const char *word, struct error *err);
int setting_check_gate(const char *word, struct error *err);
int setting_check_mirror(const char *word, struct error *err);

/* The spellings that others are compared as, see `normal` in record/setting.h. */
char *setting_normal_port(const char *word) must_check;
char *setting_normal_label(const char *word) must_check;
char *setting_normal_taint(const char *word) must_check;
char *setting_normal_mirror(const char *word) must_check;
char *setting_normal_extra(const char *word) must_check;

/* Extra arguments of any Kubernetes component, or only of a node's kubelet. */
int setting_check_extra(const char *word, struct error *err);
int setting_check_kubelet_extra(const char *word, struct error *err);

int setting_check_nodes_subnet(const char *word, struct error *err);
int setting_check_services_subnet(const char *word, struct error *err);
int setting_check_pods_subnet(const char *word, struct error *err);

/* The path of an executable on this host. */
int setting_check_program(const char *word, struct error *err);

/* For `beyond_user` in record/setting.h: for all values (root reads, executes or hands over what
 * the value names); ports below 1024 or at an address that is not of loopback, of which VALUE is a
 * list
 * (--ports) or one number (--apiserver-port); subnets that are not private, which the host routes.
 */
bool setting_is_beyond_user(const char *value);
bool setting_has_guarded_port(const char *value);
bool setting_is_low_port(const char *value);
bool setting_is_public_subnet(const char *value);

/* An option of dockerd without its dashes, one that does not open the daemon to others. */
int setting_check_docker_option(const char *word, struct error *err);

int setting_check_repository(const char *word, struct error *err);

/* A Kubernetes version as users write it. */
int setting_check_version(const char *word, struct error *err);

/* -ERANGE if a disk of BYTES is too small or too large for a node; 0 means no disk. */
int setting_check_disk(uint64_t bytes, struct error *err);

/* Accepts what node_driver_resolve() understands. */
int setting_check_driver(const char *name, struct error *err);

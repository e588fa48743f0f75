/*
 * The Docker daemon of a node, which shares containerd and its images with the kubelet.
 *
 * How it works:
 *  1. Its program is in the directory that all nodes of the cluster can read.
 *  2. The agent runs it while its arguments are in the file NODE_DOCKERD; node->docker records that
 *     the node is to have that file, so that it survives a restart of the node.
 *  3. It accepts TLS connections of clients that the cluster's authority for Docker signed, and
 *     others only through a socket in the node.  This authority is not that of Kubernetes: a client
 *     of one is nobody to the other.  Its key stays on the host.
 *  4. Kubernetes' own images are images like any other for it, so 'docker image prune' removes
 * them, and 'docker tag' replaces them.  A second service of the agent keeps their contents and
 * puts them back at once.
 *
 * Files of the cluster: docker/ca.pem, cert.pem and key.pem, which the user can read, and
 * docker/authority.pem, which only root can.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "payload/payload.h"
#include "record/profile.h"

/* The directory with the certificates of clients, DOCKER_CERT_PATH, for the caller to free. */
char *docker_client_dir(const struct profile *profile) must_check;

/* Make the authority and the client's certificates unless they exist and are valid for long
 * enough. */
int docker_make_client(const struct profile *profile, struct error *err);

/* Read the certificates of the authority and of the client, and the client's key; -EACCES if this
 * user cannot read them. */
int docker_read_client(const struct profile *profile, struct strbuf *ca, struct strbuf *cert,
		       struct strbuf *key, struct error *err);

/* Give the nodes of PROFILE the program at PATH on the host. */
int docker_share_program(const struct profile *profile, const char *path, struct error *err);

/* Write the files of NODE's daemon, or remove them if node->docker is false.  The agent starts the
 * daemon then, but does not stop it. */
int docker_write_files(const struct profile *profile, const struct node *node,
		       const struct payload *payload, struct error *err);

/* The same for a NODE that may run; if its daemon runs with other arguments, it is restarted. */
int docker_update_files(const struct profile *profile, const struct node *node,
			const struct payload *payload, struct error *err);

/* End the services of Docker on NODE, which must run; the agent starts them again if their files
 * exist. */
int docker_end(const struct profile *profile, const struct node *node, struct error *err);

/* Whether the daemon of NODE answers the client of docker_make_client().  The error tells why not;
 * -EACCES if this user cannot read the client's certificates. */
int docker_ask(const struct profile *profile, const struct node *node, struct error *err);

/* Which of PAYLOAD's images NODE has to keep, as lines "NAME ID", for the caller to free; NULL if
 * PAYLOAD is damaged. */
char *docker_kept_images(const struct node *node, const struct payload *payload,
			 struct error *err) must_check;

/* The arguments of the daemon of NODE, separated by blanks; for the caller to free. */
char *docker_arguments(const struct profile *profile, const struct node *node) must_check;

/* A program of nodes beside the agent: using up the node's memory, for `fail memory`. */
#pragma once

/* Take memory until little of the node's is left, and keep it so, while /etc/manykube/ballast is
 * there.  Returns an exit status, after a message if the node's memory is not known. */
int ballast_run(void);

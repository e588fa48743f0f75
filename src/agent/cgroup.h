/* The agent's place in the node's cgroups, and the pods' processes in them; v1, v2 and hybrid. */
#pragma once

/*
 * Move this process into the group `manykube` of every hierarchy, so that all it starts is in a
 * leaf, and on v2 hand every controller on to the groups beside it.  What fails is left alone.
 */
void cgroup_enter_leaf(void);

/* Send SIGNAL (0: none) to every process below a group whose name begins with "kubepods"; returns
 * how many there are. */
unsigned cgroup_signal_pods(int signal);

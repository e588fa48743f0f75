/* The agent's cgroup in the node, and the processes of pods; v1, v2 and hybrid. */
#pragma once

/*
 * Move this process into the group `manykube` of every hierarchy, so that its children are in a
 * leaf. On v2, also enable all controllers for the other groups.  Failures are logged and ignored.
 */
void cgroup_enter_leaf(void);

/* Send SIGNAL (0: none) to every process in or below a group whose name begins with "kubepods".
 * Returns the number of processes. */
unsigned cgroup_signal_pods(int signal);

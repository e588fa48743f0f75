#include "driver/agent-state.h"
#include "test.h"

static struct agent_state state;

static void read_state(const char *text)
{
	agent_state_release(&state);
	agent_state_parse(text, &state);
}

TEST(reads_what_the_agent_wrote)
{
	read_state("agent 0.1.0\ncontainerd running 2 1794781711 0\n"
		   "kubelet backoff 0 1794781711 3\n");
	ASSERT_INT(state.count, 2);
	ASSERT_STR(agent_state_find(&state, "kubelet")->state, "backoff");
	ASSERT(agent_state_runs(&state, "containerd"));
	ASSERT(!agent_state_runs(&state, "kubelet"));
	ASSERT(!agent_state_find(&state, "agent"));
}

TEST(lines_that_are_cut_are_left_out)
{
	read_state("agent 0.1.0\n");
	ASSERT(!agent_state_find(&state, "kubelet"));
	read_state("kubelet");
	ASSERT(!agent_state_find(&state, "kubelet"));
	ASSERT(!agent_state_runs(&state, "kubelet"));
	read_state("");
	ASSERT_INT(state.count, 0);
}

TEST(a_kubelet_that_ends_again_and_again_is_told_from_one_that_was_killed)
{
	read_state("agent v1\ncontainerd running 5 10 0\nkubelet backoff 0 20 6\n");
	ASSERT_INT(agent_state_failures(&state, "kubelet"), 6);
	ASSERT_INT(agent_state_failures(&state, "containerd"), 0);
	read_state("agent v1\ncontainerd running 5 10 0\nkubelet running 9 20 6\n");
	ASSERT_INT(agent_state_failures(&state, "kubelet"), 0);
	read_state("kubelet backoff 0 20 x\n");
	ASSERT_INT(agent_state_failures(&state, "kubelet"), 0);
	read_state("");
	ASSERT_INT(agent_state_failures(&state, "kubelet"), 0);
}

static bool is_stopping(const char *text)
{
	read_state(text);
	return agent_state_is_stopping(&state);
}

TEST(a_node_shuts_down_once_its_agent_ends_services)
{
	ASSERT(!is_stopping(""));
	ASSERT(!is_stopping("agent 0.1.0\ncontainerd running 2 1794967386 0\n"
			    "kubelet waiting 0 1794967386 0\n\n\n"));
	ASSERT(!is_stopping("agent stopping\nkubelet backoff 0 1794967386 3\n"));
	ASSERT(is_stopping("agent 0.1.0\ncontainerd running 2 1794967386 0\n"
			   "kubelet stopping 30 1794967386 0\n"));
	ASSERT(is_stopping("agent 0.1.0\ncontainerd running 2 1794967386 0\n"
			   "kubelet stopped 0 1794967386 0\n\n"));
}

#!/usr/bin/env bats
# In a guest with one CPU and 2 GiB of memory: a cluster of one node.

load ../e2e/helper
load slow

setup_file() {
	begin_file small
}

teardown_file() {
	end_file
}

@test "the host is small" {
	assert_equal "$(nproc)" 1
	[ "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)" -lt $((2100 << 10)) ]
	run -0 manykube doctor
	assert_output_has "This host can run nodes"
}

@test "a cluster of one node runs" {
	make_cluster
	assert_all_ready
}

@test "more nodes than there is memory for are refused" {
	run -23 manykube node add --count=30
	assert_output_has memory
}

@test "delete leaves no trace" {
	manykube delete
	assert_no_trace
}

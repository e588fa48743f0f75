#!/usr/bin/env bats
# In the guest of selinux-before.bats, booted again: a cluster of two nodes under SELinux' rules.

load ../e2e/helper
load slow

setup_file() {
	begin_file selinux
}

teardown_file() {
	end_file
}

@test "SELinux enforces its rules" {
	assert_equal "$(getenforce)" Enforcing
	run -0 manykube doctor
	assert_output_has "SELinux is enforcing"
}

@test "a cluster runs, and pods on both nodes reach each other" {
	make_cluster --nodes=2
	assert_all_ready
	apply_web
	assert_web_reaches_web
}

@test "it is stopped, started and deleted without a trace" {
	manykube stop
	manykube start
	assert_all_ready
	manykube delete
	assert_no_trace
}

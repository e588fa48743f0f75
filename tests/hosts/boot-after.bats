#!/usr/bin/env bats
# In the guest of boot-before.bats, booted again.

load ../e2e/helper
load person

started() {
	[ "$(systemctl is-active 'manykube-mk*.service')" = active ]
}

@test "the cluster has started by itself" {
	within 120 started
	within 60 all_ready
	as_person /checkout/build/manykube status
	assert_equal "$(identities_of_person)" "$(cat /home/person/kept)"
}

@test "it is not to start at boot any more" {
	as_root_of_person autostart disable
	assert_equal "$(as_person /checkout/build/manykube autostart status)" disabled
	assert_equal "$(find /etc/systemd/system -name 'manykube*')" ""
	assert_equal "$(systemctl list-units --all --plain --no-legend 'manykube*.service')" ""
	all_ready
}

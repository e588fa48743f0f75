#!/usr/bin/env bats
# In the guest of boot-after.bats, booted once more: nothing starts the cluster now.

load ../e2e/helper
load person

@test "the cluster is down, and start brings it back as it was" {
	run as_person /checkout/build/manykube status
	assert_output_has Stopped
	as_root_of_person start
	within 60 all_ready
	assert_equal "$(identities_of_person)" "$(cat /home/person/kept)"
}

@test "delete leaves nothing, nor does systemd know of it" {
	as_root_of_person autostart enable
	as_root_of_person delete
	assert_equal "$(find /etc/systemd/system -name 'manykube*')" ""
	assert_equal "$(systemctl list-units --all --plain --no-legend 'manykube*')" ""
	assert_equal "$(find /var/lib/manykube/1000/profiles -mindepth 1)" ""
	assert_equal "$(ip -o link | grep -c ' mk')" 0
	assert_equal "$(nft list tables | grep -c ' mk')" 0
}

#!/usr/bin/env bats
# In the guest of boot-before.bats, booted again.

load ../e2e/helper

as_person() {
	setpriv --reuid=person --regid=person --init-groups env HOME=/home/person "$@"
}

all_ready() {
	local ready

	ready=$(as_person /home/cache/v1.36.3/bin/kubectl get nodes --no-headers | grep -c ' Ready ')
	[ "$ready" = 2 ]
}

started() {
	[ "$(systemctl is-active 'manykube-mk*.service')" = active ]
}

@test "the cluster has started by itself" {
	within 120 started
	within 60 all_ready
	as_person /checkout/build/manykube status
}

@test "delete leaves neither the cluster nor its service" {
	SUDO_UID=1000 SUDO_GID=1000 /checkout/build/manykube delete
	assert_equal "$(find /etc/systemd/system -name 'manykube*')" ""
	assert_equal "$(systemctl list-units --all --plain --no-legend 'manykube*')" ""
	assert_equal "$(find /home/person/.manykube/profiles -mindepth 1)" ""
	assert_equal "$(ip -o link | grep -c ' mk')" 0
	assert_equal "$(nft list tables | grep -c ' mk')" 0
}

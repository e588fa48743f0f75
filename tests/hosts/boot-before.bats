#!/usr/bin/env bats
# In a guest, before it is booted again: a cluster of a person who is not root, made from a login that
# ends, and told to start at boot.  boot-after.bats has what must be true then.

load ../e2e/helper
load slow
load person

# As the person, in a login of their own.
login() {
	systemd-run --quiet --pipe --wait --uid=person --property=PAMName=login \
		--setenv=MANYKUBE_CACHE="$MANYKUBE_CACHE" --setenv=MANYKUBE_WAIT_TIMEOUT="$MANYKUBE_WAIT_TIMEOUT" \
		bash -c "$*" </dev/null
}

@test "a person starts a cluster with sudo, and the login ends" {
	# Whatever a login leaves behind is killed with it on such hosts.
	mkdir -p /etc/systemd/logind.conf.d
	printf '[Login]\nKillUserProcesses=yes\n' >/etc/systemd/logind.conf.d/kill.conf
	systemctl reload-or-restart systemd-logind
	login sudo --preserve-env=MANYKUBE_CACHE,MANYKUBE_WAIT_TIMEOUT \
		/checkout/build/manykube start --nodes=2 --offline "$(slow_flags)"
}

@test "the cluster outlives the login, and the person looks at it without sudo" {
	run login /checkout/build/manykube status
	assert_status 0
	assert_equal "$(login "$MANYKUBE_CACHE/v1.36.3/bin/kubectl get nodes" | grep -c ' Ready ')" 2
	identities_of_person >/home/person/kept
}

@test "the kubeconfig is the person's, the cluster is root's" {
	assert_equal "$(stat -c %U /home/person/.kube /home/person/.kube/config | sort -u)" person
	assert_equal "$(stat -c %U /var/lib/manykube/1000/profiles/manykube/profile.json)" root
	run setpriv --reuid=nobody --clear-groups ls /var/lib/manykube/1000
	assert_output_has "Permission denied"
}

@test "it is to start at boot" {
	login sudo --preserve-env=MANYKUBE_CACHE /checkout/build/manykube autostart enable
	assert_equal "$(login /checkout/build/manykube autostart status)" enabled
}

# The person of boot-before.bats, after a boot.

as_person() {
	setpriv --reuid=person --regid=person --init-groups env HOME=/home/person "$@"
}

all_ready() {
	local ready

	ready=$(as_person /home/cache/v1.36.3/bin/kubectl get nodes --no-headers | grep -c ' Ready ')
	[ "$ready" = 2 ]
}

# The nodes' UIDs and addresses.
identities_of_person() {
	as_person /home/cache/v1.36.3/bin/kubectl get nodes \
		-o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid} {.status.addresses[0].address}{"\n"}{end}'
}

as_root_of_person() {
	SUDO_UID=1000 SUDO_GID=1000 HOME=/home/person /checkout/build/manykube "$@"
}

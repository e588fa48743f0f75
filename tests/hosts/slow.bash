# For guests, which are so slow that a control plane of one node loses its leases while it works.

# In words for `start`: whoever leads may be silent for longer.
slow_flags() {
	local component

	for component in controller-manager scheduler; do
		printf -- '--extra-config=%s.leader-elect-%s ' "$component" lease-duration=100s \
			"$component" renew-deadline=80s "$component" retry-period=10s
	done
}

# A cluster made with the further words given.
make_cluster() {
	# shellcheck disable=SC2046 # words
	manykube start --offline $(slow_flags) "$@"
}

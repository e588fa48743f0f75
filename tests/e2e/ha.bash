# What the tests of several control planes use.
# shellcheck shell=bash

health() {
	manykube status -o json --layout=cluster | jq -r .StatusName
}

is_happy() {
	[ "$(health)" = HAppy ]
}

primary() {
	manykube status -o json | jq -r '[.] | flatten[] | select(.Primary) | .Name'
}

# The control planes that etcd knows, sorted.
members() {
	on "$(primary)" etcdctl --endpoints=https://127.0.0.1:2379 \
		--cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt \
		--key=/etc/kubernetes/pki/etcd/server.key member list -w json |
		jq -r '.members[] | select(.isLearner | not) | .name' | sort | xargs
}

kill_node() {
	kill -9 "$(cut -d' ' -f1 "$(profile_folder)/nodes/$1/pid")"
}

#!/usr/bin/env bats
# What of a cluster answers on the host: services at their node ports, and published ports.

load helper

setup_file() {
	begin_file e2e-services
	PORT=$(free_port)
	OTHER_PORT=$(free_port)
	export PORT OTHER_PORT
	manykube start -q --offline --nodes=2
	apply_web
	kubectl create service nodeport outside --tcp=80:8080 --node-port=30081
	kubectl patch service outside -p '{"spec": {"selector": {"app": "web"}}}'
	kubectl create service clusterip inside --tcp=80:8080
	kubectl create service nodeport empty --tcp=80:8080
}

teardown_file() {
	end_file
}

url_answers() {
	curl -sf --max-time 5 "$1" | grep '^web-'
}

ports() {
	profile_get '.ports // [] | join(" ")'
}

nobody_listens() {
	! bash -c "exec 7<>/dev/tcp/127.0.0.1/$1" 2>/dev/null
}

@test "a service has a URL that answers on the host" {
	run manykube service outside --url --wait
	assert_status 0
	assert_equal "$output" "http://$(manykube ip):30081"
	url_answers "$output"
	run manykube service outside
	assert_output_has "│ default   │ outside │ 80-8080/80  │ http://"
	assert_equal "$(manykube service outside --url --https)" "https://$(manykube ip):30081"
}

@test "a service of local traffic has the URL of a node with an endpoint" {
	kubectl run local -l app=local --image=docker.io/library/busybox:latest --image-pull-policy=Never \
		--overrides='{"spec": {"nodeName": "node-2"}}' -- httpd -f -h /etc
	kubectl expose pod local --port=80 --type=NodePort \
		--overrides='{"spec": {"externalTrafficPolicy": "Local"}}'
	run manykube service local --url --wait
	assert_status 0
	[[ $output == "http://$(manykube ip node-2):"* ]] || fail "got: $output"
	curl -sf --max-time 5 "$output/hostname"
}

@test "all services are listed, also for programs" {
	run manykube service list
	assert_status 0
	assert_output_has "│ kube-system │ kube-dns"
	assert_output_has "No node port"
	run manykube service list -n kube-system
	[[ $output != *outside* ]] || fail "$output"
	manykube service list -o json | assert_schema service-list
	assert_equal "$(manykube service list -o json | jq -r '.[] | select(.Name == "outside").URLs[]')" \
		"http://$(manykube ip):30081"
	manykube service outside -o json | assert_schema service-list
}

@test "a service that the host does not reach has a reason of its own" {
	assert_each <<-'END'
		115|service nothing|there is no service 'nothing' in namespace 'default'
		115|service kube-dns|add '-n kube-system'
		116|service inside|has no node port
		113|service empty|no pod of service 'empty'
		113|service empty --wait=1s|no pod of service 'empty'
		14|service 'X'|is not the name of a service
		14|service outside -n 'a/b'|is not the name of a namespace
		14|service|needs NAME
	END
}

@test "a port is published on a cluster that runs" {
	run manykube port list
	assert_output_has "publishes no ports"
	manykube port add "$PORT:30081"
	url_answers "http://127.0.0.1:$PORT"
	# Again, it is no error.
	manykube port add "$PORT:30081"
	assert_equal "$(ports)" "$PORT:30081"
	run manykube port list
	assert_output_has "127.0.0.1:$PORT"
	manykube port list -o json | assert_schema port-list
	manykube config view | grep -F "$PORT:30081"
}

@test "a port in use is an error that names who has it, and nothing is changed" {
	python3 -m http.server --bind 127.0.0.1 "$OTHER_PORT" >/dev/null 2>&1 3>&- &
	within 5 bash -c "exec 7<>/dev/tcp/127.0.0.1/$OTHER_PORT"
	run manykube port add 9999:30081 "$OTHER_PORT:30081"
	kill $!
	assert_status 71
	assert_output_has "port $OTHER_PORT of 127.0.0.1 is in use by 'python3' (process $!)"
	assert_equal "$(ports)" "$PORT:30081"
	nobody_listens 9999
	run -71 manykube port add "$PORT:80"
	assert_output_has "publishes that port already, as $PORT:30081"
	run -71 manykube port add "$(profile_get .apiPort):80"
	run -14 manykube port add 9999:30081@node-9
	assert_output_has "no such node"
	run -14 manykube port remove 9999
	assert_output_has "does not publish port '9999'"
	assert_equal "$(ports)" "$PORT:30081"
}

@test "published ports survive a restart, and apply changes them" {
	manykube stop -q
	nobody_listens "$PORT"
	# Recorded, and published when the cluster starts.
	manykube port add "$OTHER_PORT:30081"
	manykube start -q --offline
	within 60 url_answers "http://127.0.0.1:$PORT"
	within 10 url_answers "http://127.0.0.1:$OTHER_PORT"
	manykube config view >"$BATS_TEST_TMPDIR/cluster.yaml"
	grep -v "$OTHER_PORT" "$BATS_TEST_TMPDIR/cluster.yaml" >"$BATS_TEST_TMPDIR/fewer.yaml"
	manykube apply -q -f "$BATS_TEST_TMPDIR/fewer.yaml" --yes
	assert_equal "$(ports)" "$PORT:30081"
	within 5 nobody_listens "$OTHER_PORT"
}

@test "a port that is removed is closed at once" {
	manykube port remove "$PORT"
	nobody_listens "$PORT"
	assert_equal "$(ports)" ""
}

@test "services of a cluster that does not run are an error that says so" {
	manykube stop -q
	run -103 manykube service list
	run -103 manykube service outside
}

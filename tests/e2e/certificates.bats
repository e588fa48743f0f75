#!/usr/bin/env bats
# Certificates that have ended, as after a long time, are renewed by start.

load helper

setup_file() {
	begin_file e2e-certificates
	manykube start --offline --nodes=2 --cert-expiration=1h
}

teardown_file() {
	end_file
}

pki() {
	echo "$(profile_dir)/nodes/$1/tree/etc/kubernetes/pki"
}

# Sign the certificate in the file $1, whose key is in $2, anew with the authority $3 (without
# suffix), and let it have ended yesterday.
end_certificate() {
	openssl x509 -x509toreq -in "$1" -signkey "$2" -copy_extensions copyall -out "$BATS_TEST_TMPDIR/request" 2>&1
	openssl x509 -req -in "$BATS_TEST_TMPDIR/request" -CA "$3.crt" -CAkey "$3.key" -days -1 \
		-copy_extensions copyall -out "$BATS_TEST_TMPDIR/ended" 2>&1
	cp "$BATS_TEST_TMPDIR/ended" "$1"
}

# The same in the kubeconfig $1 of node-1.
end_kubeconfig() {
	local file part

	file=$(profile_dir)/nodes/node-1/tree/etc/kubernetes/$1
	for part in certificate key; do
		awk -v key="client-$part-data:" '$1 == key { print $2 }' "$file" | base64 -d >"$BATS_TEST_TMPDIR/$part"
	done
	end_certificate "$BATS_TEST_TMPDIR/certificate" "$BATS_TEST_TMPDIR/key" "$(pki node-1)/ca"
	sed -i "s|client-certificate-data:.*|client-certificate-data: $(base64 -w0 "$BATS_TEST_TMPDIR/certificate")|" "$file"
}

# What the kubelet of node $1 shows: the file that the link there means in the node.
kubelet_pem() {
	local file

	file=$(profile_dir)/nodes/$1/tree/var/lib/kubelet/pki/kubelet-client-current.pem
	if [ -L "$file" ]; then
		file=$(dirname "$file")/$(basename "$(readlink "$file")")
	fi
	echo "$file"
}

end_kubelet() {
	local file

	file=$(kubelet_pem "$1")
	cp "$file" "$BATS_TEST_TMPDIR/pem"
	end_certificate "$BATS_TEST_TMPDIR/pem" "$file" "$(pki node-1)/ca"
	openssl pkey -in "$file" >>"$BATS_TEST_TMPDIR/pem"
	cp "$BATS_TEST_TMPDIR/pem" "$file"
}

# The certificates of kubeadm on node-1.
certificates() {
	find "$(pki node-1)" -name '*.crt' ! -name '*ca.crt'
}

# Lines of "FILE SERIAL" of them.
serials() {
	local file

	certificates | while read -r file; do
		echo "$file $(openssl x509 -in "$file" -noout -serial)"
	done
}

# $1 is good for $2 seconds from now, but not for $3 more.
assert_lasts() {
	openssl x509 -in "$1" -noout -checkend "$2" || fail "$1 ends within $2 s"
	run ! openssl x509 -in "$1" -noout -checkend $(($2 + $3))
}

# All are as new: those of kubeadm, what kubectl shows, and what kubelets show.
assert_all_new() {
	local file

	while read -r file; do
		assert_lasts "$file" 3000 600
	done < <(certificates; echo "$(profile_dir)/client.crt")
	for file in "$(kubelet_pem node-1)" "$(kubelet_pem node-2)"; do
		assert_lasts "$file" 31000000 600000
	done
	run ! find "$(profile_dir)"/nodes/*/tree/etc/manykube/certificates.yaml
}

# The whole way: scheduled, started by a kubelet, and its output fetched from there by the API.
assert_pods_run() {
	kubectl run "$1" --image=busybox --image-pull-policy=Never --restart=Never \
		--overrides='{"spec": {"nodeName": null, "terminationGracePeriodSeconds": 0}}' -- echo works
	kubectl wait --timeout=60s --for=jsonpath='{.status.phase}'=Succeeded "pod/$1"
	assert_equal "$(kubectl logs "$1")" works
	kubectl delete pod "$1" --wait=false
}

@test "all certificates end while the cluster is stopped, and start brings it back" {
	local name

	run -0 manykube stop
	for name in apiserver apiserver-kubelet-client; do
		end_certificate "$(pki node-1)/$name.crt" "$(pki node-1)/$name.key" "$(pki node-1)/ca"
	done
	for name in server peer healthcheck-client; do
		end_certificate "$(pki node-1)/etcd/$name.crt" "$(pki node-1)/etcd/$name.key" "$(pki node-1)/etcd/ca"
	done
	end_certificate "$(pki node-1)/apiserver-etcd-client.crt" "$(pki node-1)/apiserver-etcd-client.key" \
		"$(pki node-1)/etcd/ca"
	end_certificate "$(pki node-1)/front-proxy-client.crt" "$(pki node-1)/front-proxy-client.key" \
		"$(pki node-1)/front-proxy-ca"
	for name in admin super-admin controller-manager scheduler; do
		end_kubeconfig $name.conf
	done
	end_kubelet node-1
	end_kubelet node-2
	run ! openssl x509 -in "$(kubelet_pem node-2)" -noout -checkend 0
	run -0 manykube start
	assert_output_has "Renewing certificates: node-1"
	assert_output_has "Renewing certificates: node-2"
	assert_all_ready
	assert_all_new
	assert_pods_run first
	# Of the kind that kubeadm was told to make.
	openssl x509 -in "$(pki node-1)/apiserver.crt" -noout -text | grep -q id-ecPublicKey
}

@test "what is good for long yet stays" {
	local before

	before=$(serials)
	run -0 manykube start
	assert_equal "$(serials)" "$before"
}

@test "certificates that end while the cluster runs are renewed and used" {
	local before port name

	before=$(serials)
	end_kubeconfig scheduler.conf
	end_certificate "$(pki node-1)/apiserver.crt" "$(pki node-1)/apiserver.key" "$(pki node-1)/ca"
	run -0 manykube start
	assert_output_has "Renewing certificates: node-1"
	assert_all_ready
	assert_all_new
	assert_equal "$(comm -12 <(echo "$before") <(serials))" ""
	while read -r port name; do
		assert_equal "$(openssl s_client -connect "$(profile_get '.nodes[0].address'):$port" </dev/null 2>/dev/null |
			openssl x509 -noout -serial)" \
			"$(openssl x509 -in "$(pki node-1)/$name.crt" -noout -serial)" "at port $port"
	done <<-PORTS
		6443 apiserver
		2379 etcd/server
		2380 etcd/peer
	PORTS
	assert_pods_run second
}

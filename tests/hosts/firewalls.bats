#!/usr/bin/env bats
# In a guest: one cluster of two nodes beside the firewalls that people have.  Its worker joins, and
# pods on both nodes reach each other, only if these let nodes talk to the host and to each other.

load ../e2e/helper
load slow

setup_file() {
	begin_file firewalls
}

teardown_file() {
	systemctl stop docker docker.socket firewalld 2>/dev/null
	ufw --force disable
	nft delete table inet strict 2>/dev/null
	end_file
}

bridge() {
	profile_get .bridge
}

our_rules() {
	iptables -S | grep -c -- "$(bridge)"
}

has_our_rules() {
	[ "$(our_rules)" -gt 0 ]
}

has_our_zone() {
	[ "$(firewall-cmd --get-zone-of-interface="$(bridge)")" = manykube ]
}

# Bring the cluster up, and pods to talk across nodes.
assert_works() {
	manykube start
	assert_all_ready
	assert_web_reaches_web
}

@test "ufw, which lets nobody in" {
	# Else nobody could look at this guest any more.
	ufw allow 22/tcp
	ufw --force enable
	make_cluster --nodes=2
	assert_all_ready
	has_our_rules
	run manykube doctor
	assert_output_has "clusters add their own iptables rules"
	apply_web
	assert_web_reaches_web
}

@test "the host's rules are loaded anew beside a cluster that runs" {
	# As nftables' service does; then ufw comes and drops again.
	nft flush ruleset
	ufw --force disable
	ufw --force enable
	within 10 nft list table inet "$(bridge)"
	within 10 has_our_rules
	assert_web_reaches_web
	assert_all_ready
	manykube stop
	assert_equal "$(our_rules)" 0
	ufw --force disable
	# It leaves its policies behind.
	iptables -P INPUT ACCEPT
	iptables -P FORWARD ACCEPT
}

@test "a table of nftables that drops: the start says so, and what to do" {
	nft -f - <<-'RULES'
		table inet strict {
			chain input { type filter hook input priority 10; policy drop; ct state established,related accept; iifname "lo" accept; iifname "en*" accept; }
			chain forward { type filter hook forward priority 10; policy drop; }
		}
	RULES
	run manykube doctor
	assert_output_has "nftables table 'inet strict' drops traffic by default"
	run -70 manykube start
	assert_output_has "cannot reach this host at"
	assert_output_has "nftables: inet strict"
	nft add rule inet strict input iifname '"mk*"' accept
	nft add rule inet strict forward iifname '"mk*"' accept
	assert_works
	manykube stop
	nft delete table inet strict
}

@test "Docker beside us, which drops what is forwarded" {
	systemctl start docker
	iptables -S FORWARD | grep -q 'P FORWARD DROP'
	iptables -S FORWARD | grep -q 'j DOCKER-USER'
	modprobe br_netfilter
	assert_equal "$(cat /proc/sys/net/bridge/bridge-nf-call-iptables)" 1
	assert_works
	docker info >/dev/null
	# What the user tells Docker comes first.
	assert_equal "$(iptables -S FORWARD | grep -e DOCKER-USER -e "$(bridge)" | head -n 1)" \
		"-A FORWARD -j DOCKER-USER"
	manykube stop
	assert_equal "$(our_rules)" 0
	systemctl stop docker docker.socket
	iptables -P FORWARD ACCEPT
}

@test "firewalld" {
	systemctl start firewalld
	assert_works
	has_our_zone
	systemctl restart firewalld
	within 20 has_our_zone
	assert_web_reaches_web
	manykube delete
	assert_equal "$(firewall-cmd --zone=manykube --list-interfaces)" ""
	assert_equal "$(firewall-cmd --zone=trusted --list-interfaces)" ""
	systemctl stop firewalld
}

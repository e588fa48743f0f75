#!/bin/sh
# Have this node route what the pods of its bridge send each other ($1: 1), or undo that (0): it
# answers ARP for them, and bridges no packet that kube-proxy leads to another port.

off=$((1 - $1))
for link in default cni0; do
	directory=/proc/sys/net/ipv4/conf/$link
	[ -d "$directory" ] || continue
	echo "$1" >"$directory/proxy_arp_pvlan"
	echo "$off" >"$directory/send_redirects"
done
echo "$off" >/proc/sys/net/ipv4/conf/all/send_redirects
[ ! -e /proc/sys/net/bridge/bridge-nf-call-iptables ] ||
	echo "$off" >/proc/sys/net/bridge/bridge-nf-call-iptables

/*
 * The sums of pinned Go modules, in the format of go.sum.
 *
 * For a component built in its own module, the sum of that module suffices: its archive contains a
 * go.sum (or, for Docker, a vendor.sum) for all dependencies.  For our own modules (Kubernetes,
 * etcd), go.sum is made of those of the required modules and of these lines, which the former lack.
 *
 * tools/list-sums.py prints the lines for a new version.
 */
#include "payload/sums.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* clang-format off */
static const char *const sums[] = {
	"github.com/containerd/containerd/v2 v2.4.2 h1:p6Qg+xbEz8lvwdhHDx0U469xENvp4LgGBx+E7djXkGw=",
	"github.com/containerd/containerd/v2 v2.4.2/go.mod h1:vgLdtvl3prFk1d3ZVqQcsDD5Q9IKM+vAIdU54U85w+I=",
	"github.com/containernetworking/plugins v1.9.1 h1:8oU6WsIsU3bpnNZuvHp74a6cE1MJwbj2P7s4/yTUNlA=",
	"github.com/containernetworking/plugins v1.9.1/go.mod h1:fj7kS55qg3o/RgS+WGsF3+ZxwIImMPusQZKzBpcSr4c=",
	"github.com/coredns/coredns v1.13.1 h1:yhYvf/QVwHNjBK65RkC8d9VW91dP9XKem3BOon4eokg=",
	"github.com/coredns/coredns v1.13.1/go.mod h1:UHmBXdGEn/WQ1jdyMYgOxFh/VklkE//arIAxptwVAZI=",
	"github.com/coredns/coredns v1.14.2 h1:L6ECLwm4Fjg7NJamtGBFDBjk/uqvCJjfgAEhrxh5zJo=",
	"github.com/coredns/coredns v1.14.2/go.mod h1:nuO2VVHVluZ6xzPv0dhcNc2h9roH5WxXhtuQH2TkQBc=",
	"github.com/distribution/distribution/v3 v3.1.2 h1:/Bv2YIqqSR00HiO49FT93hovy6r9IlrzwUDsJjCN5qg=",
	"github.com/distribution/distribution/v3 v3.1.2/go.mod h1:Oz0Drs2Tx3iTXzK3DhUD4otfTfqlCxlWVC7QJeXWBP0=",
	"github.com/docker/docker v28.5.2+incompatible h1:DBX0Y0zAjZbSrm1uzOkdr1onVghKaftjlSWt4AFexzM=",
	"github.com/docker/docker v28.5.2+incompatible/go.mod h1:eEKB0N0r5NX/I1kEveEz05bcu8tLC/8azJZsviup8Sk=",
	"github.com/flannel-io/flannel v0.26.7 h1:fG3xrErZfrCYQGtSAdZcPnp0+uBsZsWZmKAK77zC0ok=",
	"github.com/flannel-io/flannel v0.26.7/go.mod h1:/oz+EbTC6NGJTxk2VsqBigFAqaIEYBuS7Bf9/MDJ2DI=",
	"github.com/opencontainers/runc v1.5.2 h1:eUUowc2WJCnFYzI87C1WqRcu356Dk/wsoi90y+2wEfE=",
	"github.com/opencontainers/runc v1.5.2/go.mod h1:xGf9+KlNJkiI1y/C4rLIyLFckqs8WOMo4FFplswY9sw=",
	"github.com/rancher/local-path-provisioner v0.0.30 h1:OkiuofkCSscddl7tma/B9Ox1wu+JEVSrP7IcZI65Ggo=",
	"github.com/rancher/local-path-provisioner v0.0.30/go.mod h1:TqBzH7Qk0qgyzrX/PsG1X99IphVRnPaNWbWUDTxPTsw=",
	"go.etcd.io/etcd/api/v3 v3.6.6 h1:mcaMp3+7JawWv69p6QShYWS8cIWUOl32bFLb6qf8pOQ=",
	"go.etcd.io/etcd/api/v3 v3.6.6/go.mod h1:f/om26iXl2wSkcTA1zGQv8reJRSLVdoEBsi4JdfMrx4=",
	"go.etcd.io/etcd/api/v3 v3.6.8 h1:gqb1VN92TAI6G2FiBvWcqKtHiIjr4SU2GdXxTwyexbM=",
	"go.etcd.io/etcd/api/v3 v3.6.8/go.mod h1:qyQj1HZPUV3B5cbAL8scG62+fyz5dSxxu0w8pn28N6Q=",
	"go.etcd.io/etcd/client/pkg/v3 v3.6.6 h1:uoqgzSOv2H9KlIF5O1Lsd8sW+eMLuV6wzE3q5GJGQNs=",
	"go.etcd.io/etcd/client/pkg/v3 v3.6.6/go.mod h1:YngfUVmvsvOJ2rRgStIyHsKtOt9SZI2aBJrZiWJhCbI=",
	"go.etcd.io/etcd/client/pkg/v3 v3.6.8 h1:Qs/5C0LNFiqXxYf2GU8MVjYUEXJ6sZaYOz0zEqQgy50=",
	"go.etcd.io/etcd/client/pkg/v3 v3.6.8/go.mod h1:GsiTRUZE2318PggZkAo6sWb6l8JLVrnckTNfbG8PWtw=",
	"go.etcd.io/etcd/client/v3 v3.6.6 h1:G5z1wMf5B9SNexoxOHUGBaULurOZPIgGPsW6CN492ec=",
	"go.etcd.io/etcd/client/v3 v3.6.6/go.mod h1:36Qv6baQ07znPR3+n7t+Rk5VHEzVYPvFfGmfF4wBHV8=",
	"go.etcd.io/etcd/client/v3 v3.6.8 h1:B3G76t1UykqAOrbio7s/EPatixQDkQBevN8/mwiplrY=",
	"go.etcd.io/etcd/client/v3 v3.6.8/go.mod h1:MVG4BpSIuumPi+ELF7wYtySETmoTWBHVcDoHdVupwt8=",
	"go.etcd.io/etcd/etcdctl/v3 v3.6.6 h1:6ZcRUDkqxRr5natf/7RiTREP51qNjy3Gn2O1WnXp3bI=",
	"go.etcd.io/etcd/etcdctl/v3 v3.6.6/go.mod h1:CZhQU0gYPxTQk8SS87Vo8WOVUqXADpkvZTQd+iqucLs=",
	"go.etcd.io/etcd/etcdctl/v3 v3.6.8 h1:iO3zX9xuY/X2Y+fnt6mUR7o/18iBGYpd/lhs/4FqHCc=",
	"go.etcd.io/etcd/etcdctl/v3 v3.6.8/go.mod h1:8X8SvxOc5kPQ0e+jbSx3RgKzTNQ3O8rBuQEoDKuQFX0=",
	"go.etcd.io/etcd/etcdutl/v3 v3.6.6 h1:rY7lLz2HKD9ma7AqpAuyRSpMxnYjuZjv4lXO1k2Z8ZM=",
	"go.etcd.io/etcd/etcdutl/v3 v3.6.6/go.mod h1:900Vtzd6DpcbQojLH8e2R42Czo0QroHZuRpvAqbWLCE=",
	"go.etcd.io/etcd/etcdutl/v3 v3.6.8 h1:5YolVcLplhVwSR7IXemN7kBpx/L4qHAmyNc+iW+PL/k=",
	"go.etcd.io/etcd/etcdutl/v3 v3.6.8/go.mod h1:HGfpMG6Sjo9S6KWeXctiYcN8LjLbbUBdAjCYb8V977w=",
	"go.etcd.io/etcd/pkg/v3 v3.6.6 h1:wylOivS/UxXTZ0Le5fOdxCjatW5ql9dcWEggQQHSorw=",
	"go.etcd.io/etcd/pkg/v3 v3.6.6/go.mod h1:9TKZL7WUEVHXYM3srP3ESZfIms34s1G72eNtWA9YKg4=",
	"go.etcd.io/etcd/pkg/v3 v3.6.8 h1:Xe+LIL974spy8b4nEx3H0KMr1ofq3r0kh6FbU3aw4es=",
	"go.etcd.io/etcd/pkg/v3 v3.6.8/go.mod h1:TRibVNe+FqJIe1abOAA1PsuQ4wqO87ZaOoprg09Tn8c=",
	"go.etcd.io/etcd/server/v3 v3.6.6 h1:YSRWGJPzU+lIREwUQI4MfyLZrkUyzjJOVpMxJvZePaY=",
	"go.etcd.io/etcd/server/v3 v3.6.6/go.mod h1:A1OQ1x3PaiENDLywMjCiMwV1pwJSpb0h9Z5ORP2dv6I=",
	"go.etcd.io/etcd/server/v3 v3.6.8 h1:U2strdSEy1U8qcSzRIdkYpvOPtBy/9i/IfaaCI9flZ4=",
	"go.etcd.io/etcd/server/v3 v3.6.8/go.mod h1:88dCtwUnSirkUoJbflQxxWXqtBSZa6lSG0Kuej+dois=",
	"k8s.io/api v0.35.4 h1:P7nFYKl5vo9AGUp1Z+Pmd3p2tA7bX2wbFWCvDeRv988=",
	"k8s.io/api v0.35.4/go.mod h1:yl4lqySWOgYJJf9RERXKUwE9g2y+CkuwG+xmcOK8wXU=",
	"k8s.io/api v0.36.3 h1:NxB+05W2UGqXWFXcLO0RB5cnqnUPP5v5sVlaOH0Iz4w=",
	"k8s.io/api v0.36.3/go.mod h1:JzLQKqRHC5+I8RVj/lS3lCg0mg6nWI9Fo/Sk3ElxHzg=",
	"k8s.io/apiextensions-apiserver v0.35.4 h1:HeP+Upp7ItdvnyGmub0yoix+2z5+ev4M5cE5TCgtOUU=",
	"k8s.io/apiextensions-apiserver v0.35.4/go.mod h1:ogQlk+stIE8mnoRthSYCwlOS12fVqgWFiErMwPaXA7c=",
	"k8s.io/apiextensions-apiserver v0.36.3 h1:dPmOAPhwTtqb1bTxbFPsy18KHPhktQeO3WUPXunZIB0=",
	"k8s.io/apiextensions-apiserver v0.36.3/go.mod h1:KTXFqgXiuw2pRoL+Wpmttqc+up9Xt/GohadPWeLLOa4=",
	"k8s.io/apimachinery v0.35.4 h1:xtdom9RG7e+yDp71uoXoJDWEE2eOiHgeO4GdBzwWpds=",
	"k8s.io/apimachinery v0.35.4/go.mod h1:NNi1taPOpep0jOj+oRha3mBJPqvi0hGdaV8TCqGQ+cc=",
	"k8s.io/apimachinery v0.36.3 h1:PkzMRBRG8joFD8EhCuQAtNPvJlxb82FwplP26HIzvAM=",
	"k8s.io/apimachinery v0.36.3/go.mod h1:cTSjBWgPe/6CQyBKzY/hDIRWCQQQeK0mfLbml0UYFHE=",
	"k8s.io/apiserver v0.35.4 h1:vtuFqNFmF9bPRdHDL2lpK6qCTPWDreZJL4LRPwVM6ho=",
	"k8s.io/apiserver v0.35.4/go.mod h1:JnBcb+J8kFXKpZkgcbcUnPBBHi4qgBii1I7dLxFY/oo=",
	"k8s.io/apiserver v0.36.3 h1:MGSg2SkdfuytiDEcRylT5mQFmmSsbx90XFUO67Y4bsQ=",
	"k8s.io/apiserver v0.36.3/go.mod h1:fVH7zv9EUNUA7Fl7LtDKh8aB9W7u1VQPSGtWV5SjUxg=",
	"k8s.io/cli-runtime v0.35.4 h1:8QRCXSDvopflFNM65Vkkdv42BljPdRSiqf6HFyI1iik=",
	"k8s.io/cli-runtime v0.35.4/go.mod h1:MKLFuZxiJpm87UxjVeQRNy3sCaczHrSOPKN9pinlrM0=",
	"k8s.io/cli-runtime v0.36.3 h1:g+eJ+M1sYpnNYp/q5fzaw2KejIL0Q7DH+xFl6YVoL4U=",
	"k8s.io/cli-runtime v0.36.3/go.mod h1:hZpAqK8nSFXvvLaVCbzUPVp8e9TRLSTCfpNzMt7s3tE=",
	"k8s.io/client-go v0.35.4 h1:DN6fyaGuzK64UvnKO5fOA6ymSjvfGAnCAHAR0C66kD8=",
	"k8s.io/client-go v0.35.4/go.mod h1:2Pg9WpsS4NeOpoYTfHHfMxBG8zFMSAUi4O/qoiJC3nY=",
	"k8s.io/client-go v0.36.3 h1:M4JdVzXxYcZk4fGpfDdYnxSwhLKWCFoQsHW6t+z8Hfg=",
	"k8s.io/client-go v0.36.3/go.mod h1:gcPwr0c87vjjG6HB6pWEqOeuYVoXSsREjzux2j6GF30=",
	"k8s.io/cloud-provider v0.35.4 h1:en1GHdaXhxsCXAJkXHj7uwjkx+BW/8bq7OOO7XqlbMw=",
	"k8s.io/cloud-provider v0.35.4/go.mod h1:zAtUCK/c+/467wdOxDdYN5R//QQOdBeXzy0cwg2fETs=",
	"k8s.io/cloud-provider v0.36.3 h1:M5Nu+Dms8w5WIWJ+kmazaXCpTy3sRPxxFkksTH23MmA=",
	"k8s.io/cloud-provider v0.36.3/go.mod h1:OEXyTpOUQz+wrw8F3b+DwwDORz1FiR8+vvxk7UvEedM=",
	"k8s.io/cluster-bootstrap v0.35.4 h1:XAOSQ+4dvUPdksaVHp/C9rq0XlFmF3UHkx4KGgNgaU4=",
	"k8s.io/cluster-bootstrap v0.35.4/go.mod h1:9tlzRvPEjXAhKV2cok7pJLnMjiRgKZdT9IR3iJzksek=",
	"k8s.io/cluster-bootstrap v0.36.3 h1:pyPFVCjsHrwl3mIQV3dp7YuXn//1DHVpCDzpcjqF6tI=",
	"k8s.io/cluster-bootstrap v0.36.3/go.mod h1:yWUirkNm9DKtLZhGP/lbdJAIU9iUuH/Z9NDdZnkutAk=",
	"k8s.io/component-base v0.35.4 h1:6n1tNJ87johN0Hif0Fs8K2GMthsaUwMqCebUDLYyv7U=",
	"k8s.io/component-base v0.35.4/go.mod h1:qaDJgz5c1KYKla9occFmlJEfPpkuA55s90G509R+PeY=",
	"k8s.io/component-base v0.36.3 h1:vc/UFvPCkW0irPz84LAodAL1j3f4xktPM6dDJIEheAY=",
	"k8s.io/component-base v0.36.3/go.mod h1:hZbNFG+gCMl9EbykDGEu73feKP9/Cq6JsV4pTo9GTO8=",
	"k8s.io/component-helpers v0.35.4 h1:WJM/+fAeeJTAqxPDxgH0aB0q7t8DP+AbV5WkRkOoxYA=",
	"k8s.io/component-helpers v0.35.4/go.mod h1:mE7X9mnMQEX6IbZejdMlWvCx3EPVt1/9PhH/FW0XHDI=",
	"k8s.io/component-helpers v0.36.3 h1:hya22S0Mto0SlHaiD4kMIi817f/tK7uTMsShxrDKQaY=",
	"k8s.io/component-helpers v0.36.3/go.mod h1:QjREK1lOFXR+jxTqzrtHgOtzUc2s9sm8zuFSiK+TW+c=",
	"k8s.io/controller-manager v0.35.4 h1:hkd4rVb39Xmb/zCElz4fDc/xUgVHXZcrZpa+Wy09qVc=",
	"k8s.io/controller-manager v0.35.4/go.mod h1:3ETsjkqokyv3uLkb7Miz7ZS1GweLcQFt2TnA+gGyP5k=",
	"k8s.io/controller-manager v0.36.3 h1:GUP9E6+1EUEzxZgceOw2I+jyuahrTluadj6ZoZ/1Sbw=",
	"k8s.io/controller-manager v0.36.3/go.mod h1:zrjaNqXRz4vfK5TdOQZEfOiTofcyIKrt/Y+jKdwqLa4=",
	"k8s.io/cri-api v0.35.4 h1:9/3Wj18YldMLADyiPoZGrdFHZ7miA8LVO2cjjWENPlk=",
	"k8s.io/cri-api v0.35.4/go.mod h1:V7aEqk4QGvezHJYFCLGfTA+XqSkD6WoWTQdPirLLbFM=",
	"k8s.io/cri-api v0.36.3 h1:QFEMKGim6DSdlaW3JwpjVCjUQgTnkKG7i3McAaBW6Fo=",
	"k8s.io/cri-api v0.36.3/go.mod h1:1gMX7udEAiRCWGS4uxscdbxq6vufwhZt38Ri+XH6P00=",
	"k8s.io/cri-client v0.35.4 h1:9tJjRUpnmifbLthjlaoNZtXyjpmiypreBFXrqizQN1Q=",
	"k8s.io/cri-client v0.35.4/go.mod h1:EUUM0mrGR65wydB6nySuBDyQcs0Mcg/2+FRD0ulM3mM=",
	"k8s.io/cri-client v0.36.3 h1:WJDkJi43siWEUPyChC4ag9xUannsyW/TfL4OgLUsYOA=",
	"k8s.io/cri-client v0.36.3/go.mod h1:kQd5eyZf1fGedMYirzWXG+miafXvaQHwRjYvWTjHcKc=",
	"k8s.io/cri-streaming v0.36.3 h1:9K5Is7E9rwhwrOOiRWoWNX2xQ/5haD6G6DMl6pvfn9M=",
	"k8s.io/cri-streaming v0.36.3/go.mod h1:qNVk/oZbSFiV9Ml/F5wdE16sE4lp+Mk4JJxlB8NbitI=",
	"k8s.io/csi-translation-lib v0.35.4 h1:r9p+eDGywrUxoWoC6dPdCOZpGe9XEivCNKksrgVW/ZE=",
	"k8s.io/csi-translation-lib v0.35.4/go.mod h1:JHjdsj4zeazo+GtGoK5L1e0aDO3xgXV2Co9or/k+Kcs=",
	"k8s.io/csi-translation-lib v0.36.3 h1:C0bncvnjwMGNiBwHbukjiTMhyl2V0QFDH+en8m1q5bo=",
	"k8s.io/csi-translation-lib v0.36.3/go.mod h1:PbDO8nzkv0hgdy36sn3ipms2rJBLAsSnCn/s0QASZP0=",
	"k8s.io/dynamic-resource-allocation v0.35.4 h1:uUFnNPZ+uo/99jWZ+3xhr10BtZZM00n0WcPgBxk8KvM=",
	"k8s.io/dynamic-resource-allocation v0.35.4/go.mod h1:LtkJJpFdOI8z8pv5jQlAGPOIKfQPxLRDtp5LW2zJRqg=",
	"k8s.io/dynamic-resource-allocation v0.36.3 h1:5cDyWiGhqJMrp8UwdgAqHcDkZHQ7wFhIK4aTr3OgFrI=",
	"k8s.io/dynamic-resource-allocation v0.36.3/go.mod h1:jt+LtmnMqIqV7lG4PznEtuhPy+fHipfAD0Q+biKszAg=",
	"k8s.io/endpointslice v0.35.4 h1:UnhPGZw3rVVYegcBDvtCthcza5jx7L6FdyRSxFjsel4=",
	"k8s.io/endpointslice v0.35.4/go.mod h1:HyYSuanZ53lSZmMyYlfV7S4t0IXysHDsdl0n0QySRdg=",
	"k8s.io/endpointslice v0.36.3 h1:5q2Vn5IP9yDCFIb0zNaRWXV59srZbqzhhUxf3qkcL+E=",
	"k8s.io/endpointslice v0.36.3/go.mod h1:IqqIGV1fIEdiI6V/IzH2InMbk6N4OH1nYjWx4RC1GKw=",
	"k8s.io/externaljwt v0.35.4 h1:kNXwktgQV8WQ2qqBMwhIKOJ9yGIs06aboYX3h2k45ig=",
	"k8s.io/externaljwt v0.35.4/go.mod h1:OLUWbMEbvTVhkS89IUp/h8t/gZuSVOM8LlFc5A49Ulo=",
	"k8s.io/externaljwt v0.36.3 h1:a4dbIxCyBLmiz2dhxQfbRPTDdy6RF6KVh492SN346L0=",
	"k8s.io/externaljwt v0.36.3/go.mod h1:/up0w3ygAuF3rfFwzmStspfU10YL3toK+Ejj1H2TXn4=",
	"k8s.io/kms v0.35.4 h1:0eE6Zd4nACEs8cc7qCxf3UwMAtgM87X8doj+pJCxJk0=",
	"k8s.io/kms v0.35.4/go.mod h1:c/uQe/eKrWdBkvizLFW+ThLA6tTzR0RkkwJJyzDRT1g=",
	"k8s.io/kms v0.36.3 h1:uHY7Vfec0IhuTWjO6u/u/6hE1DcZmCB7Xm/6+GQxkNs=",
	"k8s.io/kms v0.36.3/go.mod h1:g91diTD9h0oJCCHkTb00krlF+Qm5HTnkWLi9Q/TpRoc=",
	"k8s.io/kube-aggregator v0.35.4 h1:6eR50WHwqSYJQTR6QxEG5fRW2vBA6Yoqzp72hw76koE=",
	"k8s.io/kube-aggregator v0.35.4/go.mod h1:13mmXpCW9sReIQR8yLvApbKphZfoGnK39UJ8u1opT9g=",
	"k8s.io/kube-aggregator v0.36.3 h1:eypRCZKyGx3u9TLdnLva47l6R/67Zs9h9FQI+uMruaY=",
	"k8s.io/kube-aggregator v0.36.3/go.mod h1:WLfUZLoYlcuy+LnfBOv9eV9bVvNf+x8dYt0mfVrq/6Y=",
	"k8s.io/kube-controller-manager v0.35.4 h1:6ueSSNn0mRdqGtshMwIs1mqENLDeoxhUV/nDzKPylCo=",
	"k8s.io/kube-controller-manager v0.35.4/go.mod h1:zgXP5GbYAHq7cL7TR7XERSeor5OR9uXm4cF51eJBGYI=",
	"k8s.io/kube-controller-manager v0.36.3 h1:aR1L81tpNzINGkGy9x00Vfpm0Cx9+EivY48ugpsy6+A=",
	"k8s.io/kube-controller-manager v0.36.3/go.mod h1:kgv6ebegdZD87X3/tHLSSK5nb10veh+CKsO+/UT55ig=",
	"k8s.io/kube-proxy v0.35.4 h1:cUEpTlPSyD/pWpfP9+Gmjm17LngkYCtIVO625f1bt8c=",
	"k8s.io/kube-proxy v0.35.4/go.mod h1:3vqFH39pE/3T9xNwvw0JbWaNub1b1ABdWDx0SGlfaNY=",
	"k8s.io/kube-proxy v0.36.3 h1:ipoTO/dvNTpbpW6RAvCSCMh1zB2WwpEBkNLLdrz1h7U=",
	"k8s.io/kube-proxy v0.36.3/go.mod h1:467XkulafnGyKCKSSlfQmfEWg1BBUgGSYksXhQ89/iw=",
	"k8s.io/kube-scheduler v0.35.4 h1:sM+xoIfF/meMxD26NxfojQsfgWUReJdPxZALaLOUxAU=",
	"k8s.io/kube-scheduler v0.35.4/go.mod h1:BgLKclWmOqm7Iaa7ymRItMsIZaoLec1k49aO9BBOVGs=",
	"k8s.io/kube-scheduler v0.36.3 h1:sc18quI2CgvH23oU1eJIQ21ivJENzjH4cxATqLSSubM=",
	"k8s.io/kube-scheduler v0.36.3/go.mod h1:M7zaLPp1Q3S6ddqZYYLiQiGw21t5bLD0FaPRXyomP7c=",
	"k8s.io/kubectl v0.35.4 h1:IHitney6OUeH29rBQnt6Cas6az8HpFeSAohormITNMc=",
	"k8s.io/kubectl v0.35.4/go.mod h1:CGWAaof9ae4vGDAyhnSf1bSQN/U7jiWQHLVbMbLMjRI=",
	"k8s.io/kubectl v0.36.3 h1:TesKp+XYQEjPYoFvuobcVnuvira2+/xAVlq//+kksaI=",
	"k8s.io/kubectl v0.36.3/go.mod h1:W+NEb1CzBGmoaI1Nrpn2ETo9omNBl0AsyxnnMT40N6E=",
	"k8s.io/kubelet v0.35.4 h1:g/qX1F6PdJQYzAzje3BDRGGEAmeYiiRi9QlLuyliRyw=",
	"k8s.io/kubelet v0.35.4/go.mod h1:T3X1s+/TM23j8j3hjIem0PCBoSc7VNaKDyOkzAHUiDU=",
	"k8s.io/kubelet v0.36.3 h1:dRzEnhHk35Opy6wjWR4YBcN5RI9lB2npUY37TghFuPU=",
	"k8s.io/kubelet v0.36.3/go.mod h1:4USFGr21Ioka+b964Beq0NvV5b5aca3RWJ1/kfq+RLw=",
	"k8s.io/kubernetes v1.35.4 h1:o/8dBC/pHVpYoGV4OAIytAlNPZbdYVTXJHoYvXC4qzM=",
	"k8s.io/kubernetes v1.35.4/go.mod h1:fPfnQs8GtfrLQ+KuOcpvwQ+mV17jVcgdvPL6ZHxKp10=",
	"k8s.io/kubernetes v1.36.3 h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o=",
	"k8s.io/kubernetes v1.36.3/go.mod h1:6oChkQeI7Yf6lV9lFpSdRzODdbY/ECp/4zUeBk8ONaw=",
	"k8s.io/metrics v0.35.4 h1:KFo3xFe5rzLDarHLNjZB0J1g1c5fvl6A5Kk/8KzIwOA=",
	"k8s.io/metrics v0.35.4/go.mod h1:5DO36o9esGC1VXylSpqJWmwhoopS/erADQcACz1tN3s=",
	"k8s.io/metrics v0.36.3 h1:NDKceAgWS8CJCdDtM5kFACkBOa9Lxia1jUiibJfvUgQ=",
	"k8s.io/metrics v0.36.3/go.mod h1:NTLS8ybwn+zYGwKqYublWPvmnNp8N4pV3etjtx7XWaM=",
	"k8s.io/mount-utils v0.35.4 h1:CRlXPCzdoFZ0sR+W42nX9NH67aV+YxMhp5yyu4feEY8=",
	"k8s.io/mount-utils v0.35.4/go.mod h1:ppC4d+mUpfbAJr/V2E8vvxeCEckNM+S5b0kQBQjd3Pw=",
	"k8s.io/mount-utils v0.36.3 h1:X/18T+WI3UfJvcGa2MMdSBOL5zjT7fIcB7zGHAv6UDk=",
	"k8s.io/mount-utils v0.36.3/go.mod h1:+I47UOG6FiUGVSy7VanjU/mQXLShMo3M7xBpGLzCub8=",
	"k8s.io/pod-security-admission v0.35.4 h1:2IK2zlpjCPCgtJwtGGIxP9rIj4mwUp5nQ2EKPn940E4=",
	"k8s.io/pod-security-admission v0.35.4/go.mod h1:5D35RsrmTiKQ+qHm8FP+xReIKQodHSy/9I/TfejFjKQ=",
	"k8s.io/pod-security-admission v0.36.3 h1:nWRx42eQwSkapa0TPwtho35adfSziRmPYuzwU+4xPpo=",
	"k8s.io/pod-security-admission v0.36.3/go.mod h1:wYrV4tipwzgwUOFIy14KcpIfUKnJduVZPHZMgJEUbVg=",
	"k8s.io/streaming v0.36.3 h1:9rAaqBk0C0Pc7+/fqGekj07NV+/Xrew58p647A0JT8w=",
	"k8s.io/streaming v0.36.3/go.mod h1:z6fV3D+NVkoeqRMtWwlUZK6U17SY/LqNzOxWL6GyR/s=",
};
/* clang-format on */

const char *sums_find(const char *module, const char *version)
{
	cleanup_free char *start = xasprintf("%s %s ", module, version);

	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		if (strncmp(sums[i], start, strlen(start)) == 0)
			return sums[i] + strlen(start);
	return NULL;
}

void sums_add_all(struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		strbuf_addf(out, "%s\n", sums[i]);
}

int sums_check(const char *module, const char *version, const char *sum, struct error *err)
{
	const char *pinned = sums_find(module, version);
	int r;

	if (!pinned)
		return error_because(err, &reason_download, -EBADMSG,
				     "the checksum of the Go module %s %s is not known", module,
				     version);
	if (strcmp(pinned, sum) == 0)
		return 0;
	r = error_because(err, &reason_download, -EBADMSG,
			  "the Go module %s %s has the checksum '%s' instead of '%s'", module,
			  version, sum, pinned);
	return error_hint(err, r,
			  "the proxy sent a changed module: set GOPROXY to another proxy and try "
			  "again");
}

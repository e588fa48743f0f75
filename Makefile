# Shortcuts for common tasks; meson does the building.
#
#	make            build manykube and its helper programs in build/
#	make up         install missing packages, build, and start a cluster of three nodes
#	make test       run all tests, including end-to-end tests on real clusters
#	make test ONLY=e2e/network   run only matching tests
#	make test-fresh test 'make up' in a minimal Debian; FROM=source builds Kubernetes there, which
#	                takes a quarter of an hour
#	make test-hosts test on other kinds of hosts, in QEMU guests; ONLY=short runs one scenario
#	make soak       100 random failures and heals of a cluster of 3+3 nodes under load; STEPS=20 SEED=1
#	make fuzz       run libFuzzer on the parsers; ONLY=yaml SECONDS=600
#	make bench      measure start times, memory and disk space, compared with plain kubeadm
#	make docs       generate docs/commands.md, docs/exit-codes.md, docs/cluster-file.md and its schema
#	make install    install to PREFIX=/usr/local in DESTDIR=; make uninstall removes the files
#	make deb        build/manykube_VERSION_ARCH.deb

PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?=
FROM ?= download
SECONDS ?= 60
STEPS ?= 100
SEED ?=

# Nodes need root.  PATH is passed on so that Go is found under sudo.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo 'sudo -E env "PATH=$$PATH"')

all: build/build.ninja
	@ninja -C build

# The programs for clusters, without tests.
programs: build/build.ninja
	@ninja -C build manykube manykube-agent manykube-pause

build/build.ninja:
	meson setup build --prefix=$(PREFIX)

build-asan/build.ninja:
	meson setup build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false

build-clang/build.ninja:
	CC=clang meson setup build-clang

deps:
	@tools/deps.sh test $(if $(MANYKUBE_TEST_HOSTS),hosts)

up:
	@tools/deps.sh
	@$(MAKE) --no-print-directory programs
	$(SUDO) build/manykube start --nodes=3 --yes
	$(SUDO) build/manykube kubectl -- get nodes

test: deps
	@$(MAKE) --no-print-directory all
	@$(SUDO) tests/run.sh $(ONLY)

test-fresh: deps
	@$(MAKE) --no-print-directory programs
	@$(SUDO) tests/fresh/run.sh $(FROM)

# Not part of 'test', because emulation is slow.
test-hosts:
	@tools/deps.sh test hosts
	@$(MAKE) --no-print-directory all
	@$(SUDO) tests/hosts/run.sh $(ONLY)

# Not part of 'test', because it takes an hour.
soak: deps
	@$(MAKE) --no-print-directory all
	@$(SUDO) env SOAK_STEPS="$(STEPS)" SOAK_SEED="$(SEED)" bats tests/soak/soak.bats

fuzz:
	@tools/deps.sh test fuzz
	@[ -d build-fuzz ] || CC=clang meson setup build-fuzz -Dfuzzer=true -Db_sanitize=address,undefined \
		-Db_lundef=false -Dwerror=false
	@tools/fuzz.sh $(SECONDS) $(ONLY)

bench: deps
	@$(MAKE) --no-print-directory all
	@$(SUDO) tools/bench.sh

asan: build-asan/build.ninja
	@ninja -C build-asan

clang: build-clang/build.ninja
	@ninja -C build-clang

format:
	git ls-files -co --exclude-standard -- 'src/*.[ch]' 'tests/*.[ch]' | xargs clang-format -i

# Generated documentation; a test fails if it is out of date.
docs: all
	@for name in commands exit-codes cluster-file; do \
		env -i MANYKUBE_HOME=/nonexistent build/manykube __docs $$name >docs/$$name.md || exit; done
	@env -i MANYKUBE_HOME=/nonexistent build/manykube __docs cluster-schema >docs/schema/cluster.json

# As root, build as the owner of build/, so that no files owned by root are left there.
BUILDER := $(shell [ "$$(id -u)" != 0 ] || [ ! -d build ] || [ "$$(stat -c %u build)" = 0 ] || \
	stat -c 'setpriv --reuid=%u --regid=%g --clear-groups' build)

installable: build/build.ninja
	@meson introspect build --buildoptions | grep -q '"name": "prefix", "value": "$(PREFIX)"' || \
		$(BUILDER) meson configure build -Dprefix=$(PREFIX)
	@$(BUILDER) ninja -C build

install: installable
	@DESTDIR=$(DESTDIR) meson install -C build --no-rebuild

uninstall: installable
	@meson introspect build --installed | grep -o '": "[^"]*"' | cut -d'"' -f3 | \
		sed 's,^,$(DESTDIR),' | xargs rm -f
	@rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/libexec/manykube \
		$(DESTDIR)$(PREFIX)/share/doc/manykube/schema $(DESTDIR)$(PREFIX)/share/doc/manykube

# build/manykube_VERSION_ARCH.deb, from a copy of the working tree.
deb:
	@rm -rf build/deb
	@mkdir -p build/deb/manykube
	@tar -c --exclude='./build*' --exclude=./.git . | tar -x -C build/deb/manykube
	cd build/deb/manykube && DEB_BUILD_OPTIONS="noautodbgsym $$DEB_BUILD_OPTIONS" \
		dpkg-buildpackage --build=binary --no-sign
	@mv build/deb/*.deb build/
	@rm -rf build/deb

clean:
	rm -rf build build-asan build-clang build-fuzz

.PHONY: all programs deps up test test-fresh test-hosts soak fuzz bench asan clang format docs installable install uninstall deb clean

# The front for people; meson does the building.
#
#	make            build/manykube, with the programs that it needs beside it
#	make up         install what is missing, build, and start a cluster of three nodes
#	make test       all tests, the end-to-end ones on real clusters included
#	make test ONLY=e2e/network   only what matches
#	make test-fresh only 'make up' on a machine that has never seen manykube; FROM=source builds
#	                Kubernetes there, which takes a quarter of an hour
#	make test-hosts tests on other kinds of hosts, guests of QEMU; ONLY=short for a part
#	make fuzz       have libFuzzer look for input that breaks parsers; ONLY=yaml SECONDS=600
#	make bench      measure starts, memory and disk, beside the by-the-book way
#	make docs       write docs/commands.md, docs/exit-codes.md and those of a cluster's file
#	make install    PREFIX=/usr/local DESTDIR=; make uninstall removes it again
#	make deb        build/manykube_VERSION_ARCH.deb

PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?=
FROM ?= download
SECONDS ?= 60

# Nodes need root.  PATH is kept for Go, which sudo would not find.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo 'sudo -E env "PATH=$$PATH"')

all: build/build.ninja
	@ninja -C build

# What clusters need, without the tests.
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

# Apart from the others: what is emulated takes its time.
test-hosts:
	@tools/deps.sh test hosts
	@$(MAKE) --no-print-directory all
	@$(SUDO) tests/hosts/run.sh $(ONLY)

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

# What the program knows of itself; a test fails if it is not up to date.
docs: all
	@for name in commands exit-codes cluster-file; do \
		env -i MANYKUBE_HOME=/nonexistent build/manykube __docs $$name >docs/$$name.md || exit; done
	@env -i MANYKUBE_HOME=/nonexistent build/manykube __docs cluster-schema >docs/schema/cluster.json

# As root, build as the one who did before: no file of root's is left among theirs.
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

# build/manykube_VERSION_ARCH.deb, from a copy of what is here.
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

.PHONY: all programs deps up test test-fresh test-hosts fuzz bench asan clang format docs installable install uninstall deb clean

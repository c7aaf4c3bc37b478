# SPDX-License-Identifier: GPL-2.0
# nicprobe: `make help` tells what can be made.
PREFIX  ?= /usr/local
CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
B       ?= build
# BPF programs as objects and skeletons: any compiler's build can use those of another.
SKELS   ?= $(B)/skel

# as libbpf's headers call machines, where compilers call them otherwise
BPFARCH_x86_64      := x86
BPFARCH_aarch64     := arm64
BPFARCH_riscv64     := riscv
BPFARCH_powerpc64le := powerpc
BPFARCH_s390x       := s390
BPFARCH_loongarch64 := loongarch

# make CROSS=arm64: for that machine, into build/arm64, against a root of Debian for it (deps-cross).
VM_CACHE = $(or $(NICPROBE_VM),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/nicprobe-vm)
ifdef CROSS
TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET := $(or $(TRIPLET_$(CROSS)),$(error CROSS=$(CROSS): only arm64))
SYSROOT ?= $(VM_CACHE)/root-$(CROSS)
B       := build/$(CROSS)
CC      := $(CLANG) --target=$(TRIPLET) --sysroot=$(SYSROOT)
CROSS_LD := -fuse-ld=lld
ifeq ($(filter deps-cross,$(MAKECMDGOALS))$(wildcard $(SYSROOT)/done),)
$(error no $(SYSROOT); try: sudo make CROSS=$(CROSS) deps-cross)
endif
endif
ifdef SAN			# make SAN=1 check: all of it under ASan and UBSan
B        := build/san
SANFLAGS := -fsanitize=address,undefined -fno-omit-frame-pointer
endif
CFLAGS   ?= -O2 -g
# By default; make HARDEN= HARDEN_LD= leaves it out. _FORTIFY_SOURCE needs an optimizer, and whoever
# sets it has the say.
HARDEN    ?= -fstack-protector-strong -fPIE $(if $(SAN)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) \
	     $(CFLAGS)),,$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE \
	     -D_FORTIFY_SOURCE=2))
HARDEN_LD ?= -pie -Wl,-z,relro -Wl,-z,now
# Built elsewhere it is the same to the byte.
NOWHERE  := -ffile-prefix-map=$(CURDIR)=.
CC_FLAGS = -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -iquote . -I$(SKELS) $(SANFLAGS) $(HARDEN) $(NOWHERE) \
	   $(CPPFLAGS) $(CFLAGS)
LD_FLAGS = $(HARDEN_LD) $(CROSS_LD) $(LDFLAGS)
LDLIBS   = -lxdp -lbpf -lmnl -lelf -lz -lm -lpthread
BPFFLAGS = -O2 -g -Wall -Wextra -Wno-unused-parameter -target bpf -mcpu=v3 -iquote . $(NOWHERE) \
	   -D__TARGET_ARCH_$(BPFARCH) \
	   -I$(SYSROOT)/usr/include/$(or $(TRIPLET),$(shell $(CC) -print-multiarch))
# What the programs run beside is what the compiler makes, not what it runs on.
MACHINE  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
BPFARCH  := $(or $(BPFARCH_$(MACHINE)),$(MACHINE))

# every room: which may see which, tests/layers.sh says
DIRS := $(shell find cmd report record findings top trial serve render lib xdp bpf probes drivers -type d)
H    := $(wildcard $(DIRS:%=%/*.h))
BPF  := $(wildcard $(DIRS:%=%/*.bpf.c))
SRC  := $(filter-out %.bpf.c,$(wildcard $(DIRS:%=%/*.c)))
OBJ  := $(SRC:%.c=$(B)/%.o)
SKEL := $(patsubst %.bpf.c,$(SKELS)/%.skel.h,$(notdir $(BPF)))

.PHONY: all deps demo check bench bench-quick bench-docs lint fuzz install uninstall deb clean help
.SECONDARY:
.DELETE_ON_ERROR:

all: $(B)/nicprobe $(if $(filter build,$(B)),nicprobe)	## build ./nicprobe

nicprobe: $(B)/nicprobe
	@ln -sf $< $@

$(B)/nicprobe: $(OBJ)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c $(H) $(SKEL)
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) -c -o $@ $<

# Its bytes are in the object beside it: a program that changed is embedded anew.
$(foreach s,$(BPF),$(eval $(B)/$(s:%.bpf.c=%.o): $(SKELS)/$(notdir $(s:%.bpf.c=%.skel.h))))
$(B)/lib/kernel/kernel.o: $(SKELS)/ways.skel.h

vpath %.bpf.c $(DIRS)
$(SKELS)/%.skel.h: $(SKELS)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(SKELS)/%.bpf.o: %.bpf.c $(H)
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) $(filter -Werror,$(CFLAGS)) -c -o $@ $<

# The views, as C: their names and what they say.
VIEWS := $(sort $(wildcard views/*))
$(SKELS)/views.inc: $(VIEWS)
	@mkdir -p $(@D)
	@for v in $(VIEWS); do echo "{ \"$${v#views/}\","; sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$v; echo "},"; done >$@
$(B)/cmd/views.o: $(SKELS)/views.inc

# Debian packages: to build and for the demo; and for the tests, lint and bench besides.
PACKAGES     := gcc make clang llvm bpftool libc6-dev libbpf-dev libxdp-dev libmnl-dev libelf-dev \
		zlib1g-dev libjson-c-dev libmicrohttpd-dev libncurses-dev iproute2 python3
PACKAGES_DEV := ethtool procps util-linux mandoc bash-completion python3-prometheus-client iputils-ping strace libcap2-bin git \
		libclang-rt-14-dev cppcheck bpftrace tcpdump musl-tools tmux chromium poppler-utils zsh fish \
		debhelper lintian

# $(call install,PACKAGES): nothing, and no network, when all are there.
missing = $(shell dpkg-query -Wf '$${Package} $${Status}\n' $(1) 2>/dev/null | \
	    awk '/installed$$/ && !/not-installed/ { have[$$1] } END { n = split("$(1)", all); \
	    for (i = 1; i <= n; i++) if (!(all[i] in have)) printf "%s ", all[i] }')
define install
	@missing="$(strip $(call missing,$(1)))"; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ]; then \
		echo "installing: $$missing"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends $$missing >/dev/null; \
	else \
		echo "missing: $$missing"; echo "  try: sudo make $(2)"; $(3) \
	fi
endef

deps:				## install the Debian packages needed to build (root)
	$(call install,$(PACKAGES),deps,exit 1;)

deps-dev: deps			## and those for the tests, lint and bench (root)
	$(call install,$(PACKAGES_DEV),deps-dev,)
	@command -v prometheus >/dev/null || [ -x build/prometheus ] || \
		$(MAKE) --no-print-directory -s build/prometheus || echo "no prometheus: its checks are skipped"

# It and promtool are taken out of the package: to install that would start a server.
build/prometheus:
	@mkdir -p $(@D)/deb && cd $(@D)/deb && apt-get download -qq prometheus >/dev/null 2>&1 && \
		dpkg-deb --fsys-tarfile prometheus_*.deb | tar -x ./usr/bin
	@mv $(@D)/deb/usr/bin/promtool $(@D)/deb/usr/bin/prometheus $(@D) && rm -r $(@D)/deb

demo: deps			## show it all on packets of its own (root)
	@$(MAKE) --no-print-directory -s all $(B)/tests/nic
	@tests/demo

# tests/nic is the hardware; the unit tests see all but the commands.
UNITS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/unit/*_test.c))

$(B)/tests/nic: $(wildcard tests/nic/*.c tests/nic/*.h)
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $(filter %.c,$^) -lbpf -lpthread

$(B)/tests/conns: tests/conns.c
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $< -lpthread

$(B)/tests/lookups: tests/lookups.c
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $< -lpthread

$(B)/tests/trap.so: tests/trap.S
	@mkdir -p $(@D)
	$(CC) $(CROSS_LD) -shared -nostdlib -o $@ $<

$(B)/tests/xsk: tests/xsk.c
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $< -lxdp -lbpf

$(B)/tests/unit/%: tests/unit/%.c $(filter-out $(B)/cmd/%,$(OBJ)) $(wildcard tests/unit/*.h)
	@mkdir -p $(@D)
	$(CC) $(CC_FLAGS) $(LD_FLAGS) -o $@ $(filter-out %.h,$^) $(LDLIBS)

$(B)/tests/unit/segment_test: tests/vm/model/segment.c tests/vm/model/segment.h

check: deps-dev			## run every test; without root those that need none
	@$(MAKE) --no-print-directory -s all tests
	@PATH="$$PATH:$(CURDIR)/build" B=$(B) NICPROBE=$(CURDIR)/$(B)/nicprobe \
		NIC=$(CURDIR)/$(B)/tests/nic tests/run $(TESTS)

deps-cross: deps		## CROSS=arm64: a root of Debian to build against, unpacked (root)
	$(call install,lld,deps-cross,exit 1;)
	@tests/vm/sysroot $(VM_CACHE) $(CROSS)

# Debian's kernels under emulation, fetched once into ~/.cache/nicprobe-vm (or $NICPROBE_VM).
PACKAGES_VM := qemu-system-x86 busybox-static kmod cpio xz-utils zstd iw

deps-vm: deps-dev
	$(call install,$(PACKAGES_VM),deps-vm,exit 1;)

check-vm:			## test on Debian's kernels, with other drivers, emulated (root)
	@$(MAKE) --no-print-directory -s deps-vm || \
		{ echo "not ok check-vm: what it needs cannot be installed: $(PACKAGES_VM)"; exit 1; }
	@$(MAKE) --no-print-directory -s all tests
	@B=$(B) tests/vm/run $(KERNELS)

# Network cards of ours, for the guests: qemu preloads them. What it lacks, qemu has.
$(B)/tests/model.so: $(wildcard tests/vm/model/*.c tests/vm/model/*.h)
	@mkdir -p $(@D)
	$(CC) $(filter-out $(SANFLAGS),$(CC_FLAGS)) -shared -fPIC -o $@ $(filter %.c,$^)

# Somebody else's XDP program, for the guests.
$(B)/tests/vm/%.bpf.o: tests/vm/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c -o $@ $<

.PHONY: tests deps-dev deps-vm deps-cross check-vm
tests: $(B)/tests/nic $(B)/tests/xsk $(B)/tests/conns $(B)/tests/lookups $(B)/tests/trap.so $(UNITS) \
	$(B)/tests/vm/pass.bpf.o \
	$(if $(CROSS),,$(B)/bench/bench $(B)/tests/model.so)	# what runs here, at any rate

# What it costs, beside what else one would use.
$(B)/bench/%.bpf.o: bench/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c -o $@ $<

$(B)/bench/%.skel.h: $(B)/bench/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@

BENCH := $(filter-out %.bpf.c,$(wildcard bench/*.c))
BENCH_SKEL := $(patsubst %.bpf.c,$(B)/%.skel.h,$(wildcard bench/*.bpf.c))
$(B)/bench/bench: $(BENCH) bench/bench.h $(BENCH_SKEL) $(filter-out $(B)/cmd/%,$(OBJ))
	$(CC) $(CC_FLAGS) -I$(B)/bench $(LD_FLAGS) -o $@ $(filter %.c %.o,$^) $(LDLIBS)

bench: deps-dev			## measure what it costs: a quarter of an hour (root)
	@$(MAKE) --no-print-directory -s all $(B)/tests/nic $(B)/tests/conns $(B)/bench/bench
	@$(RUN_BENCH)

bench-quick: deps-dev		## the same in two minutes, roughly, for a first look (root)
	@$(MAKE) --no-print-directory -s all $(B)/tests/nic $(B)/tests/conns $(B)/bench/bench
	@$(RUN_BENCH) --quick --out $(B)/bench/quick

bench-docs:			## have README.md quote the last bench
	@python3 bench/page.py bench/results README.md

RUN_BENCH = B=$(B) NICPROBE=$(CURDIR)/$(B)/nicprobe NIC=$(CURDIR)/$(B)/tests/nic \
	    PATH="$$PATH:/usr/sbin" python3 bench/run.py

# Two at a time. SECONDS=600 for longer, TARGETS=module for one of them.
fuzz: all			## feed made-up input to every parser, a minute each
	@FUZZ=$(or $(SECONDS),60) B=$(B) sh tests/fuzz/run.sh $(TARGETS)

lint: deps-dev $(SKEL)		## include directions, style, cppcheck
	@sh tests/layers.sh
	@sh tests/style.sh
	@rm -rf $(B)/cppcheck && mkdir -p $(B)/cppcheck	# what one job has learned of a file that the other one checks
	@cppcheck -q -j$(shell nproc) --cppcheck-build-dir=$(B)/cppcheck --error-exitcode=1 \
		--enable=warning,performance,portability --inline-suppr \
		--suppress=nullPointerRedundantCheck --suppress=uninitvar --include=tests/cppcheck.h -I. \
		-D_GNU_SOURCE $(SRC) $(wildcard tests/nic/*.c tests/vm/model/*.c)

# What is installed, below $(PREFIX): MODE FROM TO. Debian has directories of its own for some.
ZSHDIR  ?= share/zsh/site-functions
FISHDIR ?= share/fish/vendor_completions.d
UNITDIR ?= lib/systemd/system
PAGES   := $(notdir $(wildcard man/*.[1-8]))
UNITS_OF_SYSTEMD := $(notdir $(wildcard systemd/*.service systemd/*.socket))
INSTALLED = 755:$(B)/nicprobe:sbin/nicprobe \
	$(foreach p,$(PAGES),644:man/$(p):share/man/man$(subst .,,$(suffix $(p)))/$(p)) \
	644:completion/nicprobe:share/bash-completion/completions/nicprobe \
	644:completion/_nicprobe:$(ZSHDIR)/_nicprobe \
	644:completion/nicprobe.fish:$(FISHDIR)/nicprobe.fish \
	$(foreach u,$(UNITS_OF_SYSTEMD),644:systemd/$(u):$(UNITDIR)/$(u)) \
	644:systemd/nicprobe.sysusers:lib/sysusers.d/nicprobe.conf \
	644:systemd/nicprobe.tmpfiles:lib/tmpfiles.d/nicprobe.conf

# The units start it where it is.
install: all			## to $(DESTDIR)$(PREFIX)
	@for file in $(INSTALLED); do \
		from=$${file#*:} to=$(DESTDIR)$(PREFIX)/$${file##*:}; \
		install -D -m $${file%%:*} $${from%:*} $$to || exit 1; \
	done
	@sed -i 's,/usr/sbin/,$(PREFIX)/sbin/,' $(UNITS_OF_SYSTEMD:%=$(DESTDIR)$(PREFIX)/$(UNITDIR)/%)

uninstall:			## undo that
	@for file in $(INSTALLED); do rm -f $(DESTDIR)$(PREFIX)/$${file##*:} || exit 1; done

deb: deps			## build the Debian package, into build/
	$(call install,debhelper,deb,exit 1;)
	@DESTINATION=build debian/rules clean binary

clean:				## remove what was built
	rm -rf $(B) nicprobe

help:				## this
	@sed -n 's/^\([a-z-]*\):[^#]*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

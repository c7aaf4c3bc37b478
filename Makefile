# nicprobe: `make help` tells what can be made.
PREFIX  ?= /usr/local
CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
B       ?= build

CFLAGS   ?= -O2 -g
CFLAGS   += -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -I$(B)/skel
LDLIBS   = -lxdp -lbpf -lmnl -lelf -lm
BPFFLAGS = -O2 -g -Wall -Wextra -Wno-unused-parameter -target bpf -mcpu=v3 \
	   -D__TARGET_ARCH_$(BPFARCH) -I/usr/include/$(shell $(CC) -print-multiarch)
BPFARCH  = $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))

DIRS := cmd render lib xdp bpf drivers
H    := $(wildcard $(DIRS:%=%/*.h))
BPF  := $(wildcard $(DIRS:%=%/*.bpf.c))
SRC  := $(filter-out %.bpf.c,$(wildcard $(DIRS:%=%/*.c)))
OBJ  := $(SRC:%.c=$(B)/%.o)
SKEL := $(patsubst %.bpf.c,$(B)/skel/%.skel.h,$(notdir $(BPF)))

.PHONY: all deps demo check bench lint fuzz install uninstall clean help
.SECONDARY:
.DELETE_ON_ERROR:

all: nicprobe			## build ./nicprobe

nicprobe: $(B)/nicprobe
	@ln -sf $< $@

$(B)/nicprobe: $(OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/%.o: %.c $(H) | $(SKEL)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

vpath %.bpf.c $(DIRS)
$(B)/skel/%.skel.h: $(B)/skel/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(B)/skel/%.bpf.o: %.bpf.c $(H)
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c -o $@ $<

clean:				## remove what was built
	rm -rf $(B) nicprobe

help:				## this
	@sed -n 's/^\([a-z-]*\):[^#]*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

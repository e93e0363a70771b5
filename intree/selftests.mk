# SPDX-License-Identifier: GPL-2.0
# Tests of /dev/pages: static position-independent programs on nolibc, which
# run without an MMU. start.c, their entry point, is for riscv.

ARCH ?= $(shell uname -m)

ifneq ($(filter riscv%,$(ARCH)),)
# Built and installed, but not run with the others: they want parameters of the
# driver, boot options, the driver as a module, or measure instead of testing.
TEST_GEN_PROGS_EXTENDED := \
	pages_faults \
	pages_hardened \
	pages_module \
	pages_params \
	pages_reclaim \
	pages_reserve \
	pages_timing \

TEST_GEN_PROGS := $(filter-out $(TEST_GEN_PROGS_EXTENDED),\
	$(patsubst %.c,%,$(wildcard pages_*.c)))
endif

OVERRIDE_TARGETS := 1
include ../lib.mk

READELF := $(if $(LLVM),$(LLVM_PREFIX)llvm-readelf$(LLVM_SUFFIX),$(CROSS_COMPILE)readelf)

CFLAGS += -std=gnu11 -O2 -fPIE -fno-stack-protector -fno-asynchronous-unwind-tables
CFLAGS += -fno-builtin-printf -Wall -Wextra -nostdinc
CFLAGS += -isystem $(top_srcdir)/tools/include/nolibc $(KHDR_INCLUDES)
# The stack of a nommu program cannot grow; 128 KiB instead of the default 8 MiB.
LDFLAGS += -static-pie -nostdlib -Wl,-z,stack-size=131072
LDFLAGS += $(if $(LLVM),-fuse-ld=lld)

EXTRA_CLEAN += $(OUTPUT)/start.o

$(OUTPUT)/start.o: start.c
	$(call msg,CC,,$@)
	$(Q)$(CC) $(CFLAGS) -c $< -o $@

$(OUTPUT)/pages_%: pages_%.c $(OUTPUT)/start.o check-pie $(wildcard *.h)
	$(call msg,CC,,$@)
	$(Q)$(CC) $(CFLAGS) -include nolibc.h $(LDFLAGS) $(OUTPUT)/start.o $< -o $@.tmp
	$(Q)sh ./check-pie $(READELF) $@.tmp
	$(Q)mv $@.tmp $@

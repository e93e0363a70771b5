# SPDX-License-Identifier: GPL-2.0
#
# /dev/pages: set up, build, boot, test, measure. The kernel's own make reads
# Kbuild instead of this file.

BUILD ?= build
KDIR ?=
LLVM ?=
KERNEL ?=
QUICK ?=

override BUILD := $(abspath $(BUILD))
export BUILD KDIR LLVM KERNEL
# The distribution's tools first, as tools/lib.sh does.
export PATH := $(BUILD)/tools/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PYTHONPYCACHEPREFIX := $(BUILD)/pycache

# Settings of tools/boot, passed on when they have been given.
SETTINGS := MODULE MODPARAMS APPEND QEMU_ARGS MEM SMP ICOUNT TIMEOUT NAME FILES
given = $(foreach s,$(SETTINGS),$(if $(filter command environment,$(firstword $(origin $(s)))),'$(s)=$($(s))'))

# Where nothing else is asked for, a kernel that carries the module will do.
ONLY := $(if $(MAKECMDGOALS),$(if $(filter-out module module-noopt modules_install,$(MAKECMDGOALS)),,module))

help:
	@awk -F ' *## *' '/^[a-z_-]+:.* ## / { sub(/:.*/, "", $$1); printf "  make %-15s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  KDIR=dir use a kernel that you have built; LLVM=-22 a certain clang; BUILD=dir not build/"
	@echo "  KERNEL=debug, riscv64-mmu or x86_64 use another kernel of configs/: setup, module, test, boot"
	@echo "  All is set up on the way: as root what is missing is installed, else you are told how."

setup: ## fetch and build what the module needs: tools, kernel, guest
	@tools/setup $(ONLY)

run: module selftests ## boot the kernel and see what a mapping costs, with /dev/pages and without
	@bench/run --quick

bench: module selftests library ## measure in full: table, verdicts, CSV files and plots in build/report
	@tools/preflight bench
	@tools/stub
	@tools/malloc-2007
	@bench/run --full

test: module module-noopt selftests library examples ## boot and test everything, or the boots in TESTS=; the last line counts
	@tools/preflight test
	@tools/busybox
	@tools/malloc-2007
	@tools/programs
	@tools/test $(TESTS)

programs: module selftests library ## run Lua, SQLite, zlib and more with musl's malloc and with ours; NAMES=
	@tools/programs
	@programs/run $(NAMES)

prove: module module-noopt selftests library ## try all promises under load, faults and abuse, for hours; QUICK=1 minutes
	@tools/preflight test
	@QUICK=$(QUICK) tools/prove $(PARTS)

boot: module selftests ## run PROG= [ARGS=] in the guest; settings: tools/boot --help; 'make' turns its exit status into 2
	@tools/boot $(given) $(PROG) $(ARGS)

module: setup ## build build/module/rust_uncleared.ko
	@tools/module

module-noopt: setup
	@tools/module noopt

modules_install: module ## install the module for its kernel, below INSTALL_MOD_PATH=
	@tools/module install

selftests: setup ## build the test programs into build/selftests
	@tools/selftests

shell: module selftests library examples ## boot into a shell, to try things; exit or poweroff ends it
	@tools/busybox
	@tools/malloc-2007
	@tools/shell $(given)

examples: library ## build pagestat and the examples into build/programs/guest
	@tools/examples

library: setup selftests ## build the allocator for programs, build/lib/libpages_alloc.a
	@tools/preflight programs
	@tools/musl
	@tools/library

install: library ## install headers, library, manual and rules below PREFIX=/usr/local, DESTDIR=
	@tools/install

install-in-tree: ## put driver, tests and documents into the kernel source KDIR=
	@tools/install-in-tree "$(KDIR)"

matrix: library ## build and test the module on every kernel that Debian offers; KERNELS=
	@tools/kernels $(KERNELS)

series: setup ## make the patches for upstream in build/series, and have checkpatch judge them
	@tools/preflight test
	@tools/series --check

upstream: setup selftests library ## build the driver on these patches instead of nommu/, and run all boots
	@tools/preflight test
	@tools/upstream

lint: setup ## check style and form of all there is
	@tools/preflight lint
	@tools/lint

clean: ## remove what was built of this project, keep kernels and tools
	rm -rf $(foreach d,module module-* kernel-*noopt stub series upstream selftests selftests-x86_64 guest guest-x86_64 report log pycache programs,$(BUILD)/$(d))

distclean: ## remove all of build/
	rm -rf $(BUILD)

.PHONY: help setup run bench test prove matrix boot module module-noopt modules_install install install-in-tree series upstream selftests library programs examples shell lint clean distclean

# SPDX-License-Identifier: GPL-2.0
#
# /dev/pages: set up, build, boot, test, measure. The kernel's own make reads
# Kbuild instead of this file.

BUILD ?= build
KDIR ?=
LLVM ?=

override BUILD := $(abspath $(BUILD))
export BUILD KDIR LLVM
# The distribution's tools first, as tools/lib.sh does.
export PATH := $(BUILD)/tools/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PYTHONPYCACHEPREFIX := $(BUILD)/pycache

# Settings of tools/boot, passed on when they have been given.
SETTINGS := MODULE MODPARAMS APPEND QEMU_ARGS MEM SMP ICOUNT TIMEOUT NAME
given = $(foreach s,$(SETTINGS),$(if $(filter command environment,$(firstword $(origin $(s)))),'$(s)=$($(s))'))

help:
	@awk -F ' *## *' '/^[a-z-]+:.* ## / { sub(/:.*/, "", $$1); printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  KDIR=dir use a kernel that you have built; LLVM=-22 a certain clang; BUILD=dir not build/"
	@echo "  All is set up on the way: as root what is missing is installed, else you are told how."

setup: ## fetch and build what the module needs: tools, kernel, guest
	@tools/setup

run: module selftests ## boot the kernel and see what a mapping costs, with /dev/pages and without
	@bench/run --quick

bench: module selftests ## measure in full: table, verdicts, CSV files and plots in build/report
	@tools/preflight bench
	@tools/stub
	@bench/run --full

test: module module-noopt selftests ## boot and test everything, or the boots in TESTS=; the last line counts
	@tools/test $(TESTS)

boot: module selftests ## run PROG= [ARGS=] in the guest; settings: tools/boot --help; 'make' turns its exit status into 2
	@tools/boot $(given) $(PROG) $(ARGS)

module: setup ## build build/module/rust_uncleared.ko
	@tools/module

module-noopt: setup
	@tools/module noopt

selftests: setup ## build the test programs into build/selftests
	@tools/selftests

lint: setup ## check style and form of all there is
	@tools/preflight lint
	@tools/lint

clean: ## remove what was built of this project, keep kernel and tools
	rm -rf $(foreach d,module module-noopt kernel-noopt stub selftests guest report log pycache programs,$(BUILD)/$(d))

distclean: ## remove all of build/
	rm -rf $(BUILD)

.PHONY: help setup run bench test boot module module-noopt selftests lint clean distclean

# SPDX-License-Identifier: GPL-2.0

obj-$(CONFIG_RUST_UNCLEARED) += rust_uncleared.o

# Under -Os the small generic functions of the kernel crate are calls instead
# of inlined: the module gets larger by a third, and slower.
rustflags-y += -Copt-level=2

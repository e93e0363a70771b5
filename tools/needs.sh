# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# What a target needs of the machine. Each check adds one line to $problems
# and names in $packages what would cure it; "rust", "clang" and "qemu" stand
# for sets that depend on what apt offers. Sourced after lib.sh.

# shellcheck disable=SC2034 # for kdir and kernel-source
MIN_LINUX=7.2
MIN_RUST=1.85
MIN_BINDGEN=0.71.1
MIN_QEMU=7.2
GOOD_QEMU=10.0 # from here on the plain rv64 CPU has Zicboz

problem() {
	problems="$problems$1
"
	packages="$packages $2"
}

# at_least HAVE WANTED
at_least() {
	[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

# version COMMAND: the first thing that looks like a version number.
version() {
	"$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' | head -n 1
}

need_command() {
	have "$1" || problem "$1 is missing" "$2"
}

need_rust() {
	if ! have rustc; then
		problem "rustc is missing" rust
		return
	fi
	rustc=$(version rustc)
	at_least "$rustc" $MIN_RUST ||
		problem "rustc $rustc is older than $MIN_RUST, which the kernel asks for" rust

	sources=$(rustc --print sysroot)/lib/rustlib/src/rust
	if [ ! -r "$sources/library/core/src/lib.rs" ]; then
		problem "the library sources of rustc $rustc are missing" rust
		return
	fi
	# Debian keeps them in a directory named after their version.
	found=$(basename "$(readlink -f "$sources")")
	case $found in
	rustc-[0-9]*)
		[ "${found#rustc-}" = "$rustc" ] ||
			problem "rustc is $rustc, but its library sources are ${found#rustc-}" rust
		;;
	esac
}

need_bindgen() {
	found=$(version bindgen)
	if [ -z "$found" ] || ! at_least "$found" $MIN_BINDGEN; then
		# tools/bindgen builds one, for which it needs cargo.
		need_command cargo rust
	fi
}

need_clang() {
	n=$(llvm_suffix)
	n=${n#-}
	if [ -z "$n" ]; then
		problem "no clang, lld and llvm of one version, 17 or newer" clang
		return
	fi
	for tool in clang ld.lld llvm-ar llvm-nm llvm-objcopy llvm-readelf; do
		have "$tool-$n" || problem "$tool-$n is missing" clang
	done
	for library in "/usr/lib/llvm-$n/lib/libclang"*.so*; do
		[ ! -e "$library" ] || return 0
	done
	problem "libclang of clang $n is missing, which bindgen loads" clang
}

need_qemu() {
	# The firmware below a riscv kernel that has an MMU.
	[ "$KERNEL" != riscv64-mmu ] ||
		[ -e /usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin ] ||
		problem "OpenSBI is missing, the firmware of QEMU's riscv64" opensbi

	emulator=qemu-system-$GUEST
	if ! have "$emulator"; then
		problem "$emulator is missing" qemu
		return
	fi
	found=$(version "$emulator")
	if ! at_least "$found" $MIN_QEMU; then
		problem "QEMU $found is older than $MIN_QEMU" qemu
	elif ! at_least "$found" $GOOD_QEMU && [ ! -e "$BUILD/apt/no-newer-qemu" ]; then
		problem "QEMU $found is older than $GOOD_QEMU and has no Zicboz" qemu
	fi
}

need_base() {
	need_rust
	need_clang
	# The bindings of a kernel in KDIR are built.
	[ -n "$KDIR" ] || need_bindgen
	need_command python3 python3
	need_command make make
	need_command bc bc
	need_command bison bison
	need_command flex flex
	need_command perl perl
	need_command patch patch
	need_command xz xz-utils
	need_command flock util-linux
	[ -r /usr/include/stdio.h ] || problem "the C library's headers are missing" libc6-dev
}

# What brings the musl compiler, tools/musl, SQLite's own generators, and what
# some archives of sources are packed with.
need_programs() {
	python3 -m pip --version >/dev/null 2>&1 ||
		problem "Python's pip is missing" python3-pip
	need_command tclsh tcl
	need_command bzip2 bzip2
}

need_bench() {
	need_command gnuplot gnuplot-nox
}

# What the host's own tests make and look at patches and an installation with.
need_test() {
	need_command git git
	need_command rustfmt rust-lint
	need_command pkg-config pkgconf
	need_command valgrind valgrind
	need_command groff groff-base
	need_command mandoc mandoc
}

need_lint() {
	need_command shellcheck shellcheck
	need_command git git
	need_command rustfmt rust-lint
	if ! have clippy-driver; then
		problem "clippy-driver is missing" rust-lint
		return
	fi
	# "clippy 0.1.96 (hash date)" belongs to "rustc 1.96.x (hash date)".
	clippy=$(version clippy-driver | cut -d. -f3)
	[ "$clippy" = "$(version rustc | cut -d. -f2)" ] ||
		problem "clippy is of 1.$clippy, but rustc is $(version rustc)" rust-lint
}

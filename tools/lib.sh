# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts of tools/ share: paths, the tool chain's names, messages,
# long steps with progress. Sourced, not run.

TOP=$(cd "$(dirname "$0")/.." && pwd)
case ${BUILD:=build} in
/*) ;;
*) BUILD=$TOP/$BUILD ;;
esac
LOG=$BUILD/log
mkdir -p "$LOG"

# KDIR is a kernel that somebody else built; empty: our own, build/kernel.
KDIR=${KDIR:-}
[ ! -d "$KDIR" ] || KDIR=$(cd "$KDIR" && pwd)

# KERNEL is another kernel of ours, configs/NAME.config; what is built for it
# goes into folders with that name behind a dash.
KERNEL=${KERNEL:-}
KERNEL_SUFFIX=${KERNEL:+-$KERNEL}

# How each kernel of ours is made: the architecture and the configuration that
# its fragments go on top of.
# shellcheck disable=SC2034 # for those who source this
case $KERNEL in
riscv64-mmu)
	ARCH=riscv BASE=nommu_virt_defconfig FRAGMENTS=configs/riscv64-mmu.config
	;;
x86_64)
	ARCH=x86 BASE=tinyconfig FRAGMENTS=configs/x86_64.config
	;;
*)
	ARCH=riscv BASE=nommu_virt_defconfig
	FRAGMENTS="configs/nommu.config${KERNEL:+ configs/$KERNEL.config}"
	;;
esac
if [ -n "$KDIR" ]; then
	ARCH=riscv
	! grep -qs '^CONFIG_X86_64=y' "$KDIR/.config" || ARCH=x86
fi

# What programs are built for, and where they go: those of riscv64 are the same
# with an MMU and without.
# shellcheck disable=SC2034 # as above
case $ARCH in
x86) GUEST=x86_64 GUEST_SUFFIX=-x86_64 IMAGE=arch/x86/boot/bzImage ;;
*) GUEST=riscv64 GUEST_SUFFIX='' IMAGE=arch/riscv/boot/Image ;;
esac
export GUEST

# The distribution's tools first: a rustup or pyenv in front of them brings a
# compiler without its library sources, or one that clippy does not match.
PATH=$BUILD/tools/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL

# What was said to the make above us is not meant for the kernel's make.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

JOBS=$(nproc)

say() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
}

die() {
	say "$@"
	exit 1
}

have() {
	command -v "$1" >/dev/null 2>&1
}

# The build tree of the kernel in use.
kernel_dir() {
	echo "${KDIR:-$BUILD/kernel$KERNEL_SUFFIX}"
}

# The source that it was built from: a link, or the tree itself.
kernel_source() {
	if [ -z "$KDIR" ]; then
		echo "$BUILD/linux"
	elif [ -e "$KDIR/source" ]; then
		readlink -f "$KDIR/source"
	else
		from=$(sed -n 's|^include \(/.*\)/Makefile$|\1|p' "$KDIR/Makefile" | head -n 1)
		echo "${from:-$KDIR}"
	fi
}

# The newest version N for which the whole set clang-N, ld.lld-N, llvm-*-N is
# installed; nothing when there is none.
newest_llvm() {
	for path in /usr/bin/clang-[0-9]*; do
		n=${path##*-}
		if [ "${n%%[!0-9]*}" = "$n" ] && [ "$n" -ge 17 ] && have "ld.lld-$n" &&
			have "llvm-ar-$n"; then
			echo "$n"
		fi
	done | sort -n | tail -n 1
}

# The suffix for the kernel's LLVM=: the caller's, or the one of the kernel
# in KDIR, or the newest.
llvm_suffix() {
	if [ -n "${LLVM:-}" ]; then
		echo "$LLVM"
		return
	fi
	n=
	if [ -n "$KDIR" ] && [ -r "$KDIR/.config" ]; then
		n=$(sed -n 's/^CONFIG_CC_VERSION_TEXT=".*clang version \([0-9]*\).*/\1/p' \
			"$KDIR/.config")
		have "clang-$n" || n=
	fi
	[ -n "$n" ] || n=$(newest_llvm)
	echo "-$n"
}

# kmake DIR ARG...: the kernel's make, with our tool chain and nothing of the
# machine in the image, so that a figure repeats on another one.
kmake() {
	dir=$1
	shift
	suffix=$(llvm_suffix)
	make -C "$dir" -j"$JOBS" ARCH="$ARCH" LLVM="$suffix" \
		LIBCLANG_PATH="/usr/lib/llvm$suffix/lib" \
		KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=builder \
		KBUILD_BUILD_HOST=localhost "$@"
}

seconds() {
	date +%s
}

# The start of a line: on a terminal, over what progress has left there.
if [ -t 2 ]; then
	START=$(printf '\r\033[K')
else
	START=
fi

# progress TEXT LOG: show that a step is alive until the step's shell ends. On
# a terminal by a line that is rewritten; elsewhere, and for what goes on in
# the background (BACKGROUND=1), by a line every half minute.
progress() {
	began=$(seconds)
	shown=$began
	while kill -0 $$ 2>/dev/null; do
		sleep 1
		now=$(seconds)
		lines=$(grep -c '^  [A-Z]' "$2" 2>/dev/null) || :
		line="$1: $((now - began)) s"
		[ "${lines:-0}" -eq 0 ] || line="$line, $lines objects"
		if [ -n "$START" ] && [ -z "${BACKGROUND:-}" ]; then
			printf '%s%s' "$START" "$line" >&2
		elif [ $((now - shown)) -ge 30 ]; then
			shown=$now
			printf '%s%s\n' "$START" "$line" >&2
		fi
	done
}

# step TEXT NAME COMMAND...: run a long command with its output in
# build/log/NAME.log; show progress, and the log's end when it fails.
step() {
	text=$1
	log=$LOG/$2.log
	shift 2
	from=$(seconds)
	: >"$log"
	progress "$text" "$log" 9>&- & # the sleep in there must not keep setup's lock
	ticker=$!
	trap 'kill $ticker 2>/dev/null; exit 130' INT TERM
	# Not "|| status=$?", which would switch off set -e in what is called.
	set +e
	(
		set -e
		"$@"
	) >"$log" 2>&1
	status=$?
	set -e
	kill $ticker 2>/dev/null || :
	wait $ticker 2>/dev/null || :
	trap - INT TERM
	printf '%s' "$START" >&2
	if [ $status -ne 0 ]; then
		tail -n 20 "$log" >&2
		die "$text: failed; see $log"
	fi
	took=$(($(seconds) - from))
	# Nobody wants to read of what took no time.
	[ $took -lt 2 ] || printf '%s: done in %d s\n' "$text" $took >&2
}

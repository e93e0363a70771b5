# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# A private apt configuration under build/apt: the machine's own Debian mirror,
# with suites added where we need them. The machine's configuration stays as it
# is; signatures are verified by apt as always. Sourced after lib.sh.

CODENAME=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")

# apt_setup NAME [SUITE...]: make apt use the mirror and these suites, and
# fetch the package lists; with TYPES="deb deb-src" those of the sources, too.
apt_setup() {
	name=$1
	shift
	dir=$BUILD/apt/$name
	mkdir -p "$dir/sources" "$BUILD/apt/lists/partial" "$BUILD/apt/cache/archives/partial"
	find /etc/apt/sources.list /etc/apt/sources.list.d -maxdepth 1 \
		\( -name '*.list' -o -name '*.sources' \) \
		-exec awk -v codename="$CODENAME" -v extra="$*" -v types="${TYPES:-}" \
		-f "$TOP/tools/aptsources.awk" {} + >"$dir/sources/debian.sources" 2>/dev/null || :
	grep -q "^Suites:.*${*:-.}" "$dir/sources/debian.sources" ||
		die "apt on this machine names no Debian mirror for '$CODENAME'; add one"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$dir/sources";
		Dir::State::lists "$BUILD/apt/lists";
		Dir::Cache "$BUILD/apt/cache";
		APT::Get::List-Cleanup "false";
		APT::Sandbox::User "root";
		Acquire::Retries "3";
	END
	APT_CONFIG=$dir/apt.conf
	export APT_CONFIG
	step "package lists ($name)" "apt-update-$name" apt-get -q update
}

# offers PACKAGE: can apt install it?
offers() {
	[ -n "$(apt-cache madison "$1" 2>/dev/null)" ]
}

# candidate PACKAGE: the version that apt would install.
candidate() {
	apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \(.*\)/\1/p' | grep -v none
}

# SPDX-License-Identifier: GPL-2.0
#
# Read the machine's apt sources, of both formats, and print those of the
# Debian archive as deb822 stanzas, their Signed-By and options kept.
#
#	awk -v codename=bookworm [-v extra="forky sid"] [-v types="deb deb-src"]
#		-f aptsources.awk FILE...
#
# With extra= print one more stanza: the same mirror with these suites.
# Exit status 3: the machine names no Debian mirror.

BEGIN {
	if (types == "")
		types = "deb"
	split(codename " stable oldstable testing unstable sid", names, " ")
	for (i in names)
		base[names[i]] = 1
	for (name in base) {
		wanted[name] = 1
		wanted[name "-updates"] = 1
		wanted[name "-security"] = 1
		wanted[name "/updates"] = 1
	}
}

FNR == 1 { end_stanza() }

/^[ \t]*#/ { next }

FILENAME !~ /\.sources$/ {
	if ($1 == "deb")
		one_line()
	next
}

/^[ \t]*$/ { end_stanza(); next }

# A line that continues the field above it.
/^[ \t]/ {
	if (field == "uris" || field == "suites" || field == "types")
		value[field] = value[field] " " $0
	else if (field == "keep")
		rest = rest $0 "\n"
	next
}

{
	name = tolower($0)
	sub(/[ \t]*:.*/, "", name)
	text = $0
	sub(/^[^:]*:[ \t]*/, "", text)
	field = name
	if (name == "uris" || name == "suites" || name == "types" || name == "enabled")
		value[name] = text
	else if (name == "components")
		field = "drop"
	else {
		field = "keep"
		rest = rest $0 "\n"
	}
}

END {
	end_stanza()
	if (mirror == "")
		exit 3
	if (extra != "")
		printf "%s", mirror "Suites: " extra "\n\n"
}

# deb [option=value ...] URI SUITE COMPONENT...
function one_line(    line, options, count, words, i, pair) {
	line = $0
	sub(/^[ \t]*deb[ \t]+/, "", line)
	if (match(line, /^\[[^]]*\]/)) {
		options = substr(line, 2, RLENGTH - 2)
		line = substr(line, RLENGTH + 1)
	}
	count = split(options, words, " ")
	for (i = 1; i <= count; i++) {
		split(words[i], pair, "=")
		if (pair[1] == "arch")
			pair[1] = "Architectures"
		gsub(/,/, " ", pair[2])
		rest = rest pair[1] ": " pair[2] "\n"
	}
	split(line, words, " ")
	value["types"] = "deb"
	value["uris"] = words[1]
	value["suites"] = words[2]
	end_stanza()
}

function end_stanza(    stanza, count, suites, i, kept, is_main) {
	if (value["suites"] != "" && (" " value["types"] " ") ~ / deb / &&
	    tolower(value["enabled"]) !~ /no|false|off|0/ && value["uris"] !~ /^cdrom:/) {
		stanza = "Types: " types "\nURIs: " value["uris"] "\nComponents: main\n" rest
		count = split(value["suites"], suites, " ")
		for (i = 1; i <= count; i++) {
			if (suites[i] in wanted)
				kept = kept " " suites[i]
			if (suites[i] in base)
				is_main = 1
		}
		if (kept != "")
			printf "%s", stanza "Suites:" kept "\n\n"
		if (is_main && mirror == "")
			mirror = stanza
	}
	delete value["types"]; delete value["uris"]
	delete value["suites"]; delete value["enabled"]
	rest = ""
	field = ""
}

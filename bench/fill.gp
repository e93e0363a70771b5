# SPDX-License-Identifier: GPL-2.0
# What it costs to map memory, fill all of it and unmap it, for each byte: one
# panel for each size, one bar for each series. The filling is the program's
# own work and the same for all; what comes after it in a bar is the price of
# having the memory.
# Needs: csv, out, and a terminal already set.

set output out
set datafile separator comma
set encoding utf8

order = "anon anon-uninitialized dev-zero pages-private pages-private-uncleared pages pages-idle pages-uncleared"
names = "anonymous:anonymous,\nuninitialized:/dev/zero:/dev/pages,\nprivate:/dev/pages,\nprivate, uncleared:/dev/pages,\nzeroed:/dev/pages,\nzeroed, idle:/dev/pages,\nuncleared"
rank(name) = sum [i = 1:words(order)] (word(order, i) eq name ? i : 0)

set style fill solid 1.0 noborder
set yrange [8.6:0.4]
set xrange [0:0.86]
set xtics 0.2 nomirror textcolor rgb "#404040" format "%.1f"
set grid xtics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set border 1 linecolor rgb "#808080"
unset ytics
unset key

# Columns: 4 map_avg, 5 fill_avg, 6 unmap_avg, 8 per_byte, 9 errno.
bytes = 1024.0
per(from, kib) = column(2) == kib && valid(8) ? from / (kib * bytes) : NaN
failed(kib) = column(2) == kib && !valid(8) ? rank(strcol(1)) : NaN
here(kib) = column(2) == kib && valid(8) ? rank(strcol(1)) : NaN

sizes = "1024 4096 16384 65536"
titles = "1 MiB:4 MiB:16 MiB:64 MiB"
cut(text, n) = n == 1 ? text[1:strstrt(text, ":") - 1] : cut(text[strstrt(text, ":") + 1:*], n - 1)
titles = titles . ":"
names = names . ":"

set label 1 "What it costs to have memory and fill it" at screen 0.02,0.945 font ",20"
set label 2 "map, fill by 4 KiB copies, unmap: instructions per byte, Linux on riscv64 without an MMU, counted in QEMU" at screen 0.02,0.885 textcolor rgb "#404040"
set object 1 rectangle at screen 0.655,0.945 size screen 0.014,0.024 fillcolor rgb "#c9c9c9" linewidth 0
set label 3 "fill" at screen 0.667,0.945
set object 2 rectangle at screen 0.725,0.945 size screen 0.014,0.024 fillcolor rgb "#0072b2" linewidth 0
set label 4 "map" at screen 0.737,0.945
set object 3 rectangle at screen 0.80,0.945 size screen 0.014,0.024 fillcolor rgb "#d55e00" linewidth 0
set label 5 "unmap" at screen 0.812,0.945

set multiplot layout 1,4 margins 0.135,0.985,0.085,0.79 spacing 0.018
do for [panel = 1:4] {
	kib = int(word(sizes, panel))
	set title cut(titles, panel) textcolor rgb "#202020" font ",16"
	if (panel == 1) {
		do for [i = 1:8] {
			set label 10 + i cut(names, i) at first -0.03,i right offset 0,(strstrt(cut(names, i), "\n") ? 0.45 : 0) textcolor rgb "#202020"
		}
	} else {
		unset label
		unset object
	}
	plot csv using (per(column(5), kib) / 2):(here(kib)):(per(column(5), kib) / 2):(0.33) with boxxyerror linecolor rgb "#c9c9c9", \
		"" using (per(column(5) + column(4) / 2, kib)):(here(kib)):(per(column(4), kib) / 2):(0.33) with boxxyerror linecolor rgb "#0072b2", \
		"" using (per(column(5) + column(4) + column(6) / 2, kib)):(here(kib)):(per(column(6), kib) / 2):(0.33) with boxxyerror linecolor rgb "#d55e00", \
		"" using (per(column(7), kib) + 0.02):(here(kib)):(sprintf("%.2f", column(8))) with labels left textcolor rgb "#202020", \
		"" using (0.02):(failed(kib)):(strcol(9)) with labels left textcolor rgb "#a0a0a0"
}
unset multiplot

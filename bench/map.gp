# SPDX-License-Identifier: GPL-2.0
# The cost of map + unmap against size: ours in instructions on the left, the
# measurement of 2007 in microseconds on the right. Two panels, as the units
# have nothing to do with each other; both span as many decades, so that slopes
# can be compared by eye.
# Needs: csv, data, out, a terminal already set; and for the arrow last_kib,
# last_base, last_ours: the largest size that anonymous memory can serve, its
# cost there, and that of uncleared pages (0: no arrow).

set output out
set datafile separator comma
set encoding utf8

set logscale xy
set xrange [3.2:81920]
set xtics ("4 KiB" 4, "16" 16, "64" 64, "256" 256, "1 MiB" 1024, "4" 4096, "16" 16384, "64" 65536)
set grid xtics ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set border 3 linecolor rgb "#808080"
set tics nomirror textcolor rgb "#404040"
set xlabel "size of the mapping" textcolor rgb "#404040"
set format y "10^{%L}"
set key left top reverse Left samplen 2.2 spacing 1.15 textcolor rgb "#202020"

# Ours stand out; what there was before stays in the background.
set style line 1 linecolor rgb "#4d4d4d" linewidth 2.2 pointtype 7 pointsize 0.45
set style line 2 linecolor rgb "#9a9a9a" linewidth 2.2 pointtype 7 pointsize 0.45
set style line 3 linecolor rgb "#c8a24a" linewidth 2.2 pointtype 7 pointsize 0.45
set style line 4 linecolor rgb "#0072b2" linewidth 3.2 pointtype 7 pointsize 0.55
set style line 5 linecolor rgb "#d55e00" linewidth 3.2 pointtype 7 pointsize 0.55
set style line 10 linecolor rgb "#0072b2" linewidth 2.6 dashtype 3 pointtype 7 pointsize 0.3
set style line 6 linecolor rgb "#7db8dc" linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.3
set style line 7 linecolor rgb "#f0a878" linewidth 1.6 dashtype 2 pointtype 7 pointsize 0.3

# Column 5 is map_avg, column 8 is unmap_avg; a failed size has neither.
pair(name) = strcol(1) eq name && valid(5) ? column(5) + column(8) : NaN

set multiplot layout 1,2 margins 0.065,0.985,0.115,0.86 spacing 0.075

set label 1 "What a mapping costs without an MMU" at screen 0.02,0.955 font ",20"
set title "map + unmap, Linux on riscv64, counted in QEMU" textcolor rgb "#404040"
set ylabel "instructions" textcolor rgb "#404040"
set yrange [500:1.5e8]
if (last_ours > 0) {
	set arrow 1 from last_kib,last_ours to last_kib,last_base heads filled size screen 0.006,18 linecolor rgb "#202020" linewidth 1.2 front
	set label 2 sprintf("%.0f times", last_base / last_ours) at last_kib * 1.12,sqrt(last_base * last_ours) * 0.35 left font ",16" front
}
if (last_base > 0) {
	set label 3 "the core ends here,\nENOMEM above" at last_kib,last_base * 6 center textcolor rgb "#606060" font ",12" front
}
plot csv using 2:(pair("anon")) with linespoints linestyle 1 title "anonymous", \
	"" using 2:(pair("anon-uninitialized")) with linespoints linestyle 2 title "anonymous, MAP\\_UNINITIALIZED", \
	"" using 2:(pair("dev-zero")) with linespoints linestyle 3 title "/dev/zero", \
	"" using 2:(pair("pages-private")) with linespoints linestyle 6 title "/dev/pages, private", \
	"" using 2:(pair("pages-private-uncleared")) with linespoints linestyle 7 title "/dev/pages, private, uncleared", \
	"" using 2:(pair("pages")) with linespoints linestyle 4 title "/dev/pages, zeroed", \
	"" using 2:(pair("pages-uncleared")) with linespoints linestyle 5 title "/dev/pages, uncleared", \
	"" using 2:(pair("pages-idle")) with linespoints linestyle 10 title "/dev/pages, zeroed, after idle time"

unset label
unset arrow
set title "malloc() in 2007 (Bryan Wu, average), two real machines" textcolor rgb "#404040"
set ylabel "microseconds"
set yrange [1:3e5]
set style line 8 linecolor rgb "#4d4d4d" linewidth 2.6 pointtype 7 pointsize 0.5
set style line 9 linecolor rgb "#009e73" linewidth 2.6 pointtype 7 pointsize 0.5
blackfin = data . "/malloc-2007-blackfin-nommu.csv"
x86 = data . "/malloc-2007-x86-mmu.csv"
sized(kib) = kib > 0 ? kib : NaN
plot blackfin using (sized($1)):3 with linespoints linestyle 8 title "Blackfin, no MMU", \
	x86 using (sized($1)):3 with linespoints linestyle 9 title "x86, with MMU"

unset multiplot

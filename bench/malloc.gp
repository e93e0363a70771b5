# SPDX-License-Identifier: GPL-2.0
# The cost of malloc against size: ours in instructions on the left, the
# measurement of 2007 in microseconds on the right, which spans as many decades.
# Needs: csv (the C library's malloc), pages (ours), data, out, a terminal.

set output out
set datafile separator comma
set encoding utf8

set logscale xy
set xrange [3.2:20480]
set xtics ("4 KiB" 4, "16" 16, "64" 64, "256" 256, "1 MiB" 1024, "4" 4096, "16" 16384)
set grid xtics ytics linecolor rgb "#e4e4e4" linewidth 1 linetype 1
set border 3 linecolor rgb "#808080"
set tics nomirror textcolor rgb "#404040"
set xlabel "size of the block" textcolor rgb "#404040"
set format y "10^{%L}"
set key left top reverse Left samplen 2.2 spacing 1.15 textcolor rgb "#202020"
set style line 1 linecolor rgb "#4d4d4d" linewidth 2.6 pointtype 7 pointsize 0.5
set style line 2 linecolor rgb "#d55e00" linewidth 3.2 pointtype 7 pointsize 0.55
set style line 3 linecolor rgb "#009e73" linewidth 2.6 pointtype 7 pointsize 0.5

# Column 5 is malloc_avg, column 8 is free_avg; a failed size has neither.
pair(unused) = valid(5) ? column(5) + column(8) : NaN

set multiplot layout 1,2 margins 0.065,0.985,0.115,0.86 spacing 0.075
set label 1 "What malloc() costs without an MMU" at screen 0.02,0.955 font ",20"
set title "malloc + free, Linux on riscv64, counted in QEMU, clock included" textcolor rgb "#404040"
set ylabel "instructions" textcolor rgb "#404040"
set yrange [200:2e7]
plot csv using 2:(pair(0)) with linespoints linestyle 1 title "musl", \
	pages using 2:(pair(0)) with linespoints linestyle 2 title "musl with the malloc on /dev/pages"

unset label
set title "malloc() in 2007 (Bryan Wu, average), two real machines" textcolor rgb "#404040"
set ylabel "microseconds"
set yrange [1:1e5 * 3]
blackfin = data . "/malloc-2007-blackfin-nommu.csv"
x86 = data . "/malloc-2007-x86-mmu.csv"
sized(kib) = kib > 0 ? kib : NaN
plot blackfin using (sized($1)):3 with linespoints linestyle 1 title "Blackfin, no MMU", \
	x86 using (sized($1)):3 with linespoints linestyle 3 title "x86, with MMU"

unset multiplot

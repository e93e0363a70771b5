// SPDX-License-Identifier: GPL-2.0
/*
 * What a mapping costs: /dev/pages timed against anonymous memory and
 * /dev/zero.
 *
 * pages_timing [map] [fill] [live] [WORD=...]...
 *	map: mmap + munmap, as measured in 2007; fill: mmap, write all of it in
 *	4 KiB copies, munmap, as in 2017; live: mmap + munmap of 4 KiB beside
 *	others that are live. None of the three: all.
 *	series=A,B	leave out the other series
 *	beside=A,B	in "live", leave out the other live ones
 *	sizes=KIB,KIB	in "map", leave out the other sizes
 *	rounds=N	do not go by the usual numbers of rounds
 * pages_timing try-core
 *	one anonymous mapping above the allocator's largest block, to see what
 *	the kernel says to it. It warns, so this needs a boot that survives that.
 *
 * Prints "meta NAME VALUE" lines, then "table NAME" lines each followed by
 * CSV, then "end".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "timing_clock.h"
#include "timing_live.h"
#include "timing_measure.h"
#include "timing_print.h"
#include "timing_series.h"

#define MAP_ROUNDS	128
#define FILL_ROUNDS	8

#define WORDS \
	"words are map, fill, live, series=NAME,NAME, beside=NAME,NAME, " \
	"sizes=KIB,KIB, rounds=N, try-core"

static struct {
	bool map, fill, live, try_core;
	struct choice series, beside;
	int rounds;
} wanted;

static struct table map_table, fill_table;

static void measure_table(struct table *t, bool filling)
{
	struct row *row;
	int i, j;

	for (i = 0; i < N_SERIES; i++) {
		for (j = 0; wanted.series.has[i] && j < t->sizes.n; j++) {
			row = &t->rows[i][j];
			row->err = measure_size(&all_series[i],
						t->sizes.kib[j], t->rounds,
						filling, row);
		}
	}
}

/* The beginning of a file, as a string. */
static bool read_text(const char *path, char *text, int size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* One number for each order of block in every line of /proc/buddyinfo. */
static unsigned long largest_block_kib(void)
{
	unsigned long kib = PAGE / 1024;
	char text[512], *p;
	int orders = 0;

	if (!read_text("/proc/buddyinfo", text, sizeof(text)))
		return 0;
	p = strstr(text, "zone ");
	if (!p)
		return 0;
	for (p += 5; *p == ' '; p++)
		;
	for (; *p && *p != ' ' && *p != '\n'; p++)
		;
	for (; *p && *p != '\n'; p++)
		orders += p[0] == ' ' && p[1] >= '0' && p[1] <= '9';
	return orders ? kib << (orders - 1) : 0;
}

/* Whether one instruction of this CPU clears a whole cache line. */
static bool has_zicboz(void)
{
	char text[1024];

	return read_text("/proc/cpuinfo", text, sizeof(text)) &&
	       strstr(text, "zicboz");
}

static void print_meta(const struct cost *clock, unsigned long calibration)
{
	unsigned long avg = tenths(clock, MAP_ROUNDS);
	struct utsname uts;

	uname(&uts);
	printf("meta kernel %s\n", uts.release);
	printf("meta machine %s\n", uts.machine);
	printf("meta zicboz %s\n", has_zicboz() ? "yes" : "no");
	printf("meta core_limit_kib %lu\n", core_limit_kib);
	printf("meta calibration_instructions %lu\n", CALIBRATION_INSTRUCTIONS);
	printf("meta calibration_ns %lu\n", calibration);
	printf("meta clock_read_ns %lu.%lu\n", avg / 10, avg % 10);
	printf("meta map_rounds %d\n", map_table.rounds);
	printf("meta fill_rounds %d\n", fill_table.rounds);
}

static int try_core(void)
{
	unsigned long kib = core_limit_kib * 2;
	struct row row = { };
	int fd = -1, err;

	err = measure(&all_series[0], fd, kib * 1024, 0, false, &row);
	printf("table try-core\nseries,size_kib,errno\n%s,%lu,%s\nend\n",
	       all_series[0].name, kib, errno_name(-err));
	return 0;
}

/* sizes=KIB,KIB */
static bool choose_sizes(const char *p)
{
	int kib;

	for (; p; p = strchr(p, ',')) {
		p += *p == ',';
		kib = atoi(p);
		if (kib <= 0 || kib % 4 || map_table.sizes.n == MAX_SIZES)
			return false;
		add_sizes(&map_table.sizes, kib, kib, 4);
	}
	return true;
}

static bool understand(char *word)
{
	if (!strcmp(word, "map"))
		wanted.map = true;
	else if (!strcmp(word, "fill"))
		wanted.fill = true;
	else if (!strcmp(word, "live"))
		wanted.live = true;
	else if (!strcmp(word, "try-core"))
		wanted.try_core = true;
	else if (!strncmp(word, "series=", 7))
		return choose(&wanted.series, word + 7);
	else if (!strncmp(word, "beside=", 7))
		return choose(&wanted.beside, word + 7);
	else if (!strncmp(word, "sizes=", 6))
		return choose_sizes(word + 6);
	else if (!strncmp(word, "rounds=", 7) && atoi(word + 7) > 0)
		wanted.rounds = atoi(word + 7);
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	struct cost clock = { };
	unsigned long calibration;
	int i;

	wanted.series = all_of_them();
	wanted.beside = all_of_them();
	for (i = 1; i < argc; i++) {
		if (!understand(argv[i])) {
			fprintf(stderr, "pages_timing: cannot make sense of '%s'; %s\n",
				argv[i], WORDS);
			return 2;
		}
	}

	core_limit_kib = largest_block_kib();
	if (!core_limit_kib) {
		fprintf(stderr, "pages_timing: no use of /proc/buddyinfo (errno %d); mount /proc\n",
			errno);
		return 1;
	}
	if (wanted.try_core)
		return try_core();

	if (!wanted.map && !wanted.fill && !wanted.live) {
		wanted.map = true;
		wanted.fill = true;
		wanted.live = true;
	}
	map_table.rounds = wanted.rounds ? wanted.rounds : MAP_ROUNDS;
	fill_table.rounds = wanted.rounds ? wanted.rounds : FILL_ROUNDS;
	if (!wanted.map)
		map_table.sizes.n = 0;
	else if (!map_table.sizes.n)
		sizes_of_2007(&map_table.sizes);
	if (wanted.fill)
		sizes_of_2017(&fill_table.sizes);
	memset(source, 0x5a, sizeof(source));

	settle(1000);
	calibration = calibrate(8);
	clock_cost(&clock, MAP_ROUNDS);
	measure_table(&map_table, false);
	measure_table(&fill_table, true);
	if (wanted.live)
		measure_live(&wanted.series, &wanted.beside, map_table.rounds);

	print_meta(&clock, calibration);
	print_table(&map_table, &wanted.series, false);
	print_table(&fill_table, &wanted.series, true);
	if (wanted.live)
		print_live(map_table.rounds);
	printf("end\n");
	return 0;
}

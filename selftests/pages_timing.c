// SPDX-License-Identifier: GPL-2.0
/*
 * What a mapping costs: /dev/pages timed against anonymous memory and
 * /dev/zero.
 *
 * pages_timing [map] [fill] [quick] [rounds=N]
 *	map: mmap + munmap, as measured in 2007; fill: mmap, write all of it in
 *	4 KiB copies, munmap, as in 2017; quick: fewer sizes; neither: both.
 * pages_timing try-core
 *	one anonymous mapping above the allocator's largest block, to see what
 *	the kernel says to it. It warns, so this needs a boot that survives that.
 *
 * Prints "meta NAME VALUE" lines, then "table NAME" lines each followed by
 * CSV, then "end". Nothing is written before all measuring is done: the
 * console's interrupts would land in what is measured.
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
#include "timing_series.h"

#define MAP_ROUNDS	128
#define FILL_ROUNDS	8
#define PAGE		4096

struct row {
	struct cost map, fill, unmap;
	int err;
};

struct table {
	struct sizes sizes;
	int rounds;
	struct row rows[N_SERIES][MAX_SIZES];
};

static struct table map_table, fill_table;
static unsigned long source[PAGE / sizeof(long)];
static unsigned long core_limit_kib;

/*
 * 4 KiB, eight words at a time. The barrier keeps the compiler from turning
 * the loop into a call of nolibc's memcpy(), which goes byte by byte.
 */
static void copy_page(unsigned long *to)
{
	const unsigned long *from = source;
	int i;

	for (i = 0; i < PAGE / (int)sizeof(long); i += 8) {
		unsigned long a = from[i], b = from[i + 1];
		unsigned long c = from[i + 2], d = from[i + 3];
		unsigned long e = from[i + 4], f = from[i + 5];
		unsigned long g = from[i + 6], h = from[i + 7];

		to[i] = a;
		to[i + 1] = b;
		to[i + 2] = c;
		to[i + 3] = d;
		to[i + 4] = e;
		to[i + 5] = f;
		to[i + 6] = g;
		to[i + 7] = h;
		asm volatile("" : : : "memory");
	}
}

static void fill(char *p, unsigned long bytes)
{
	unsigned long at;

	for (at = 0; at < bytes; at += PAGE)
		copy_page((unsigned long *)(p + at));
}

/*
 * Let the kernel finish what it has put off (RCU callbacks, boot work), and
 * come back just after a timer tick: so every measurement starts from the same
 * point, and what went before it does not show in it.
 */
static void settle(unsigned int ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000L,
	};

	nanosleep(&ts, NULL);
}

static int measure(const struct series *s, int fd, unsigned long bytes,
		   int rounds, bool filling, struct row *row)
{
	unsigned long t0, t1, t2, t3;
	int round;
	void *p;

	for (round = 0; round <= rounds; round++) {
		dither(round);
		t0 = now();
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, s->flags, fd,
			 s->offset);
		t1 = now();
		if (p == MAP_FAILED)
			return -errno;
		t2 = t1;
		if (filling) {
			fill(p, bytes);
			t2 = now();
		}
		if (munmap(p, bytes))
			return -errno;
		t3 = now();
		cost_add(&row->map, round, t1 - t0);
		cost_add(&row->fill, round, t2 - t1);
		cost_add(&row->unmap, round, t3 - t2);
	}
	return 0;
}

/*
 * Each size has its own open file, so that no figure depends on the sizes
 * measured before it.
 *
 * Core memory cannot be had in blocks above MAX_PAGE_ORDER. mm/nommu.c does
 * not check: the page allocator warns, memory is dumped to the log, and the
 * caller gets ENOMEM. That is known without the call, so it is not made; the
 * try-core run shows that it is true.
 */
static int measure_size(const struct series *s, unsigned int kib, int rounds,
			bool filling, struct row *row)
{
	int fd = -1, err;

	if (s->core && kib > core_limit_kib)
		return -ENOMEM;
	if (s->path[0]) {
		fd = open(s->path, O_RDWR);
		if (fd < 0)
			return -errno;
	}
	settle(40);
	err = measure(s, fd, kib * 1024UL, rounds, filling, row);
	if (fd >= 0)
		close(fd);
	return err;
}

static void measure_table(struct table *t, bool filling)
{
	struct row *row;
	int i, j;

	for (i = 0; i < N_SERIES; i++) {
		for (j = 0; j < t->sizes.n; j++) {
			row = &t->rows[i][j];
			row->err = measure_size(&all_series[i],
						t->sizes.kib[j], t->rounds,
						filling, row);
		}
	}
}

/* One number for each order of block in every line of /proc/buddyinfo. */
static unsigned long largest_block_kib(void)
{
	unsigned long kib = PAGE / 1024;
	char text[512], *p;
	int fd, orders = 0;
	ssize_t n;

	fd = open("/proc/buddyinfo", O_RDONLY);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
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

static const char *errno_name(int err)
{
	static char number[16];

	switch (err) {
	case 0:
		return "";
	case EACCES:
		return "EACCES";
	case EAGAIN:
		return "EAGAIN";
	case EINTR:
		return "EINTR";
	case EINVAL:
		return "EINVAL";
	case ENODEV:
		return "ENODEV";
	case ENOENT:
		return "ENOENT";
	case ENOMEM:
		return "ENOMEM";
	case ENXIO:
		return "ENXIO";
	case EPERM:
		return "EPERM";
	}
	snprintf(number, sizeof(number), "errno-%d", err);
	return number;
}

/* Sums stay whole until here; the one decimal is rounded to nearest. */
static unsigned long tenths(const struct cost *c, int rounds)
{
	return (c->sum * 10 + rounds / 2) / rounds;
}

static void print_meta(const struct cost *clock, unsigned long calibration)
{
	unsigned long avg = tenths(clock, MAP_ROUNDS);
	struct utsname uts;

	uname(&uts);
	printf("meta kernel %s\n", uts.release);
	printf("meta machine %s\n", uts.machine);
	printf("meta core_limit_kib %lu\n", core_limit_kib);
	printf("meta calibration_instructions %lu\n", CALIBRATION_INSTRUCTIONS);
	printf("meta calibration_ns %lu\n", calibration);
	printf("meta clock_read_ns %lu.%lu\n", avg / 10, avg % 10);
	printf("meta map_rounds %d\n", map_table.rounds);
	printf("meta fill_rounds %d\n", fill_table.rounds);
}

static void print_avg(const struct cost *c, int rounds)
{
	unsigned long avg = tenths(c, rounds);

	printf("%lu.%lu,", avg / 10, avg % 10);
}

static void print_map_row(const struct row *row, int rounds)
{
	printf("%lu,%lu,", row->map.first, row->map.min);
	print_avg(&row->map, rounds);
	printf("%lu,%lu,", row->map.max, row->unmap.min);
	print_avg(&row->unmap, rounds);
	printf("%lu,\n", row->unmap.max);
}

static void print_fill_row(const struct row *row, int rounds, unsigned int kib)
{
	struct cost all = {
		.first = row->map.first + row->fill.first + row->unmap.first,
		.sum = row->map.sum + row->fill.sum + row->unmap.sum,
	};
	unsigned long thousandths;

	printf("%lu,", all.first);
	print_avg(&row->map, rounds);
	print_avg(&row->fill, rounds);
	print_avg(&row->unmap, rounds);
	print_avg(&all, rounds);
	thousandths = all.sum * 1000 / (kib * 1024UL * rounds);
	printf("%lu.%03lu,\n", thousandths / 1000, thousandths % 1000);
}

static void print_table(const struct table *t, bool filling)
{
	const char *none = filling ? ",,,,,," : ",,,,,,,";
	int i, j;

	if (!t->sizes.n)
		return;
	printf("table %s\n", filling ? "fill" : "results");
	printf("series,size_kib,%s,errno\n", filling ?
	       "first,map_avg,fill_avg,unmap_avg,total_avg,per_byte" :
	       "map_first,map_min,map_avg,map_max,unmap_min,unmap_avg,unmap_max");
	for (i = 0; i < N_SERIES; i++) {
		for (j = 0; j < t->sizes.n; j++) {
			const struct row *row = &t->rows[i][j];

			printf("%s,%u,", all_series[i].name, t->sizes.kib[j]);
			if (row->err)
				printf("%s%s\n", none, errno_name(-row->err));
			else if (filling)
				print_fill_row(row, t->rounds, t->sizes.kib[j]);
			else
				print_map_row(row, t->rounds);
		}
	}
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

static int wrong_word(const char *word)
{
	fprintf(stderr, "pages_timing: unknown word '%s' (map, fill, quick, rounds=N, try-core)\n",
		word);
	return 2;
}

int main(int argc, char **argv)
{
	bool map = false, filling = false, quick = false, once = false;
	struct cost clock = { };
	unsigned long calibration;
	int rounds = 0, i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "map"))
			map = true;
		else if (!strcmp(argv[i], "fill"))
			filling = true;
		else if (!strcmp(argv[i], "quick"))
			quick = true;
		else if (!strcmp(argv[i], "try-core"))
			once = true;
		else if (!strncmp(argv[i], "rounds=", 7) && atoi(argv[i] + 7) > 0)
			rounds = atoi(argv[i] + 7);
		else
			return wrong_word(argv[i]);
	}

	core_limit_kib = largest_block_kib();
	if (!core_limit_kib) {
		fprintf(stderr, "pages_timing: no use of /proc/buddyinfo (errno %d); mount /proc\n",
			errno);
		return 1;
	}
	if (once)
		return try_core();

	map_table.rounds = rounds ? rounds : MAP_ROUNDS;
	fill_table.rounds = rounds ? rounds : FILL_ROUNDS;
	if (map || !filling) {
		if (quick)
			sizes_to_read(&map_table.sizes);
		else
			sizes_of_2007(&map_table.sizes);
	}
	if (filling || !map)
		sizes_of_2017(&fill_table.sizes);
	memset(source, 0x5a, sizeof(source));

	settle(1000);
	calibration = calibrate(8);
	clock_cost(&clock, MAP_ROUNDS);
	measure_table(&map_table, false);
	measure_table(&fill_table, true);

	print_meta(&clock, calibration);
	print_table(&map_table, false);
	print_table(&fill_table, true);
	printf("end\n");
	return 0;
}

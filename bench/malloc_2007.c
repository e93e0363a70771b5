// SPDX-License-Identifier: GPL-2.0
/*
 * What malloc() costs by size: the measure of 2007, written anew. A block is
 * had and given back 128 times, nothing is written to it; minimum, average and
 * maximum of the rounds. It is compiled once and linked twice: with the C
 * library's own malloc, and with the one on /dev/pages.
 *
 * malloc_2007 NAME
 *	NAME is the name of the series. Prints "meta NAME VALUE" lines, then
 *	"table malloc" and CSV, then "end". In a row with an errno the block
 *	could not be had.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS		128
#define MAX_SIZES	96
#define SETTLE_MS	40
#define CALIBRATION	200000UL

#define COLUMNS \
	"malloc_first,malloc_min,malloc_avg,malloc_max,free_min,free_avg,free_max,errno"

struct cost {
	unsigned long first, min, max, sum;
};

struct row {
	struct cost malloc, free;
	int err;
};

static unsigned long sizes[MAX_SIZES];
static struct row rows[MAX_SIZES];
static int n_sizes;

/*
 * Under instruction counting a nanosecond is an instruction, but the clock is
 * shown in ticks of 100. The system call, whatever the C library would do.
 */
static unsigned long now(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

/* Two instructions for each of @n, which is at least one. */
static void spin(unsigned long n)
{
	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
}

/*
 * Delays that spread the rounds over the clock's tick, so that they are not all
 * rounded the same way.
 */
static void dither(int round)
{
	spin(round * 31 % 50 + 1);
}

/* Sleep, so that what was put off is done and the next tick is far away. */
static void settle(int ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000L };

	nanosleep(&ts, NULL);
}

/* Round 0 is kept apart: it finds the allocator cold. */
static void cost_add(struct cost *c, int round, unsigned long t)
{
	if (!round) {
		c->first = t;
		return;
	}
	if (round == 1 || t < c->min)
		c->min = t;
	if (t > c->max)
		c->max = t;
	c->sum += t;
}

static void measure(unsigned long size, struct row *row)
{
	unsigned long t0, t1, t2;
	void *block;
	int round;

	settle(SETTLE_MS);
	for (round = 0; round <= ROUNDS; round++) {
		dither(round);
		t0 = now();
		block = malloc(size);
		/* The compiler shall not see that nothing is done with it. */
		__asm__ volatile("" : "+r"(block));
		t1 = now();
		if (!block) {
			row->err = errno;
			return;
		}
		free(block);
		t2 = now();
		cost_add(&row->malloc, round, t1 - t0);
		cost_add(&row->free, round, t2 - t1);
	}
}

/* Those of 2007, and some below a page. */
static void choose_sizes(void)
{
	unsigned long kib;

	for (kib = 0; kib < 128; kib += 4) {
		sizes[n_sizes++] = kib * 1024;
		if (kib)
			continue;
		sizes[n_sizes++] = 16;
		sizes[n_sizes++] = 64;
		sizes[n_sizes++] = 256;
		sizes[n_sizes++] = 1024;
		sizes[n_sizes++] = 2048;
		sizes[n_sizes++] = 3072;
	}
	for (; kib < 1024; kib += 128)
		sizes[n_sizes++] = kib * 1024;
	for (; kib <= 16384; kib += 1024)
		sizes[n_sizes++] = kib * 1024;
}

/* What the clock shows for a known number of instructions: the least of some. */
static unsigned long calibrate(void)
{
	unsigned long least = -1UL, t;
	int i;

	for (i = 0; i < 8; i++) {
		t = now();
		spin(CALIBRATION / 2);
		t = now() - t;
		if (t < least)
			least = t;
	}
	return least;
}

static void print_average(unsigned long sum)
{
	unsigned long tenths = (sum * 10 + ROUNDS / 2) / ROUNDS;

	printf("%lu.%lu", tenths / 10, tenths % 10);
}

static void print_row(const char *name, unsigned long size, const struct row *row)
{
	printf("%s,%.6g,", name, size / 1024.0);
	if (row->err) {
		printf(",,,,,,,%s\n", row->err == ENOMEM ? "ENOMEM" : "other");
		return;
	}
	printf("%lu,%lu,", row->malloc.first, row->malloc.min);
	print_average(row->malloc.sum);
	printf(",%lu,%lu,", row->malloc.max, row->free.min);
	print_average(row->free.sum);
	printf(",%lu,\n", row->free.max);
}

int main(int argc, char **argv)
{
	struct cost clock = { 0 };
	unsigned long calibration, t;
	int i;

	if (argc != 2) {
		fprintf(stderr, "usage: malloc_2007 NAME\n");
		return 2;
	}
	choose_sizes();
	settle(999);
	calibration = calibrate();
	for (i = 0; i <= ROUNDS; i++) {
		dither(i);
		t = now();
		cost_add(&clock, i, now() - t);
	}
	for (i = 0; i < n_sizes; i++)
		measure(sizes[i], &rows[i]);

	printf("meta calibration_instructions %lu\n", CALIBRATION);
	printf("meta calibration_ns %lu\n", calibration);
	printf("meta clock_read_ns ");
	print_average(clock.sum);
	printf("\nmeta malloc_rounds %d\n", ROUNDS);
	printf("table malloc\nseries,size_kib," COLUMNS "\n");
	for (i = 0; i < n_sizes; i++)
		print_row(argv[1], sizes[i], &rows[i]);
	printf("end\n");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Prints what was measured, as CSV. Nothing is written before all measuring
 * is done: the console's interrupts would land in what is measured.
 */
#ifndef TIMING_PRINT_H
#define TIMING_PRINT_H

#include "timing_live.h"
#include "timing_measure.h"

#define MAP_COLUMNS \
	"map_first,map_min,map_avg,map_max,unmap_min,unmap_avg,unmap_max,errno"
#define FILL_COLUMNS \
	"first,map_avg,fill_avg,unmap_avg,total_avg,per_byte,errno"

struct table {
	struct sizes sizes;
	int rounds;
	struct row rows[N_SERIES][MAX_SIZES];
};

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
	case EIO:
		return "EIO";
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
	case ETIMEDOUT:
		return "ETIMEDOUT";
	}
	snprintf(number, sizeof(number), "errno-%d", err);
	return number;
}

/* Sums stay whole until here; the one decimal is rounded to nearest. */
static unsigned long tenths(const struct cost *c, int rounds)
{
	return (c->sum * 10 + rounds / 2) / rounds;
}

static void print_avg(const struct cost *c, int rounds)
{
	unsigned long avg = tenths(c, rounds);

	printf("%lu.%lu,", avg / 10, avg % 10);
}

static void print_map_row(const struct row *row, int rounds)
{
	if (row->err) {
		printf(",,,,,,,%s\n", errno_name(-row->err));
		return;
	}
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

	if (row->err) {
		printf(",,,,,,%s\n", errno_name(-row->err));
		return;
	}
	printf("%lu,", all.first);
	print_avg(&row->map, rounds);
	print_avg(&row->fill, rounds);
	print_avg(&row->unmap, rounds);
	print_avg(&all, rounds);
	thousandths = all.sum * 1000 / (kib * 1024UL * rounds);
	printf("%lu.%03lu,\n", thousandths / 1000, thousandths % 1000);
}

static void print_table(const struct table *t, const struct choice *chosen,
			bool filling)
{
	int i, j;

	if (!t->sizes.n)
		return;
	printf("table %s\nseries,size_kib,%s\n", filling ? "fill" : "results",
	       filling ? FILL_COLUMNS : MAP_COLUMNS);
	for (i = 0; i < N_SERIES; i++) {
		for (j = 0; chosen->has[i] && j < t->sizes.n; j++) {
			const struct row *row = &t->rows[i][j];

			printf("%s,%u,", all_series[i].name, t->sizes.kib[j]);
			if (filling)
				print_fill_row(row, t->rounds, t->sizes.kib[j]);
			else
				print_map_row(row, t->rounds);
		}
	}
}

static void print_live(int rounds)
{
	const struct live_row *r;

	printf("table live\nseries,beside,live,%s\n", MAP_COLUMNS);
	for (r = live_rows; r < live_rows + n_live_rows; r++) {
		printf("%s,%s,%d,", r->series->name, r->beside->name, r->live);
		print_map_row(&r->row, rounds);
	}
}

#endif /* TIMING_PRINT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures 4 KiB beside other mappings that are live, of the device or
 * anonymous: what grows with their number, and whose cost that is.
 */
#ifndef TIMING_LIVE_H
#define TIMING_LIVE_H

#include "timing_measure.h"

#define MAX_LIVE	1000

struct live_row {
	const struct series *series, *beside;
	int live;
	struct row row;
};

static const char live_series[][24] = { "anon", "pages-uncleared" };
static const int live_counts[] = { 0, 10, 100, MAX_LIVE };

#define N_LIVE_SERIES	ARRAY_SIZE(live_series)
#define N_LIVE_COUNTS	ARRAY_SIZE(live_counts)
#define N_LIVE_ROWS	(N_LIVE_SERIES * N_LIVE_SERIES * N_LIVE_COUNTS)

static struct live_row live_rows[N_LIVE_ROWS];
static int n_live_rows;
static void *live_mappings[MAX_LIVE];

static int measure_beside(const struct series *s, const struct series *beside,
			  int live, int rounds, struct row *row)
{
	int made = 0, fd, err;

	err = open_series(beside, &fd);
	if (err)
		return err;
	while (made < live) {
		live_mappings[made] = map_one(beside, fd, PAGE);
		if (live_mappings[made] == MAP_FAILED)
			break;
		made++;
	}
	if (made < live)
		err = -errno;
	else
		err = measure_size(s, PAGE / 1024, rounds, false, row);
	while (made--)
		munmap(live_mappings[made], PAGE);
	if (fd >= 0)
		close(fd);
	return err;
}

static void measure_counts(const struct series *s, const struct series *beside,
			   int rounds)
{
	struct live_row *r;
	unsigned int i;

	for (i = 0; i < N_LIVE_COUNTS; i++) {
		r = &live_rows[n_live_rows++];
		r->series = s;
		r->beside = beside;
		r->live = live_counts[i];
		r->row.err = measure_beside(s, beside, r->live, rounds,
					    &r->row);
	}
}

static void measure_live(const struct choice *chosen,
			 const struct choice *chosen_beside, int rounds)
{
	const struct series *s, *beside;
	unsigned int i, j;

	for (i = 0; i < N_LIVE_SERIES; i++) {
		s = series_named(live_series[i]);
		for (j = 0; chosen->has[s - all_series] && j < N_LIVE_SERIES; j++) {
			beside = series_named(live_series[j]);
			if (chosen_beside->has[beside - all_series])
				measure_counts(s, beside, rounds);
		}
	}
}

#endif /* TIMING_LIVE_H */

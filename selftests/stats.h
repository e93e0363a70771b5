/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device's figures in debugfs, and memory as it is, with what the device keeps
 * for reuse left where it is.
 */
#ifndef SELFTESTS_STATS_H
#define SELFTESTS_STATS_H

#include "memory.h"

#define STATS_DIR	"/sys/kernel/debug/pages/"
#define IDLE_STEP_MS	10
#define IDLE_STEPS	1000

enum figure {
	MAPPINGS, MAPPED, PEAK, CLEAN, DIRTY, RESERVE, RESERVE_FREE,
	CLEARED, UNCLEARED, RECYCLED, FAILURES, FIGURES
};

static const char * const figure_names[FIGURES] = {
	[MAPPINGS] = "mappings",
	[MAPPED] = "mapped_bytes",
	[PEAK] = "peak_bytes",
	[CLEAN] = "cached_clean_bytes",
	[DIRTY] = "cached_dirty_bytes",
	[RESERVE] = "reserve_bytes",
	[RESERVE_FREE] = "reserve_free_bytes",
	[CLEARED] = "cleared_bytes",
	[UNCLEARED] = "uncleared_bytes",
	[RECYCLED] = "recycled_bytes",
	[FAILURES] = "failures",
};

static inline long figure(enum figure which)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), STATS_DIR "%s", figure_names[which]);
	if (!read_file(path, text, sizeof(text)))
		ksft_exit_fail_perror(path);
	return atol(text);
}

struct stats {
	long of[FIGURES];
};

static inline struct stats all_figures(void)
{
	struct stats now;
	int i;

	for (i = 0; i < FIGURES; i++)
		now.of[i] = figure(i);
	return now;
}

/* Bytes that wait for reuse. */
static inline long cached(void)
{
	return figure(CLEAN) + figure(DIRTY);
}

/* Asks for what waits, as memory pressure would.  A reserve keeps its own. */
static inline void drop_cached(void)
{
	drop_caches();
}

/* Waits until the device has cleared what waits; ten seconds at most. */
static inline bool is_idle(void)
{
	int i;

	for (i = 0; i < IDLE_STEPS && figure(DIRTY); i++)
		sleep_ms(IDLE_STEP_MS);
	if (i == IDLE_STEPS)
		ksft_print_msg("%ld bytes are still not cleared\n", figure(DIRTY));
	return i < IDLE_STEPS;
}

#endif /* SELFTESTS_STATS_H */

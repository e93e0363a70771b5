/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cheap generator with a known start: each run is the same.
 */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

static inline unsigned int next_random(void)
{
	static unsigned int state = 1;

	state = state * 1103515245 + 12345;
	return state >> 16;
}

#endif /* SELFTESTS_RANDOM_H */

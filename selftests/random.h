/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cheap generator with a known start: each run is the same.
 */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

/* The next number of whoever begins with a @state of his own. */
static inline unsigned int random_after(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 16;
}

static inline unsigned int next_random(void)
{
	static unsigned int state = 1;

	return random_after(&state);
}

#endif /* SELFTESTS_RANDOM_H */

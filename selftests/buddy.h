/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Free memory by the size of its blocks.
 */
#ifndef SELFTESTS_BUDDY_H
#define SELFTESTS_BUDDY_H

#include "memory.h"

/* Free blocks of the largest order, over all zones: the last column of each line. */
static inline long largest_free_blocks(void)
{
	static char text[2 * KIB];
	char *line = text;
	long blocks = 0;

	write_file("/proc/sys/vm/stat_refresh", "1");
	read_file("/proc/buddyinfo", text, sizeof(text));
	while (*line) {
		char *end = strchr(line, '\n');
		char *last = end;

		while (last[-1] == ' ')
			last--;
		while (last[-1] != ' ')
			last--;
		blocks += atol(last);
		line = end + 1;
	}
	return blocks;
}

/* Slab pages that the core keeps may lie in that many blocks of two dozen. */
#define PINNED_BLOCKS	2

/*
 * Were there so many before?  With an MMU the device's memory is from the same part as the
 * core's own, which is in between then, so that says nothing.
 */
static inline bool largest_blocks_are_back(long blocks)
{
	if (has_mmu() || largest_free_blocks() + PINNED_BLOCKS >= blocks)
		return true;
	ksft_print_msg("%ld blocks of 4 MiB before, %ld now\n", blocks, largest_free_blocks());
	return false;
}

#endif /* SELFTESTS_BUDDY_H */

// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A pool of packet buffers: one mapping, cut into slots of 2 KiB, a list of those
 * that are free. A network device writes into them by their physical addresses, which
 * are where the program sees them; taking a slot and giving it back are two
 * instructions each and never fail while one is free.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pages.h"

#define SLOT_BYTES	2048
#define SLOTS		512
#define PACKETS		20000
#define IN_FLIGHT	600	/* more than there is room for */

union slot {
	union slot *next;	/* while it is free */
	unsigned char bytes[SLOT_BYTES];
};

static union slot *pool, *first_free;

static bool make_pool(int fd)
{
	size_t i;

	pool = pages_map_uncleared(fd, SLOTS * sizeof(union slot));
	if (!pool)
		return false;
	for (i = 0; i < SLOTS; i++)
		pool[i].next = i + 1 < SLOTS ? &pool[i + 1] : NULL;
	first_free = pool;
	return true;
}

static union slot *take(void)
{
	union slot *slot = first_free;

	if (slot)
		first_free = slot->next;
	return slot;
}

static void give_back(union slot *slot)
{
	slot->next = first_free;
	first_free = slot;
}

int main(void)
{
	static union slot *queue[IN_FLIGHT];
	unsigned long received = 0, dropped = 0, bytes = 0;
	int fd = pages_open();
	unsigned int i;

	if (fd < 0) {
		perror(PAGES_PATH);
		return EXIT_FAILURE;
	}
	if (!make_pool(fd)) {
		perror("no memory for the pool");
		return EXIT_FAILURE;
	}
	for (i = 0; i < PACKETS; i++) {
		union slot **place = &queue[i % IN_FLIGHT];
		size_t len = 64 + i * 37 % 1455;

		if (*place) {	/* the oldest one has been worked on */
			bytes += (*place)->bytes[0] + 64;
			give_back(*place);
		}
		*place = take();
		if (!*place) {
			dropped++;
			continue;
		}
		memset((*place)->bytes, len % 200, len);
		received++;
	}
	printf("%lu packets received, %lu dropped, sum %lu, pool of %zu bytes\n", received,
	       dropped, bytes, SLOTS * sizeof(union slot));
	pages_unmap(pool, SLOTS * sizeof(union slot));
	pages_close(fd);
	return EXIT_SUCCESS;
}

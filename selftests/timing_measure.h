/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures one series at one size.
 */
#ifndef TIMING_MEASURE_H
#define TIMING_MEASURE_H

#include "timing_clock.h"
#include "timing_series.h"

#define PAGE		4096
#define DIRTY_BYTES	"/sys/kernel/debug/pages/cached_dirty_bytes"

#define SETTLE_MS	40

/* Long enough that one look is enough, unless there is much to clear. */
#define IDLE_MS		50
#define IDLE_TRIES	100

/* Too short for that. */
#define SHORT_MS	8

struct row {
	struct cost map, fill, unmap;
	int err;
};

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

/*
 * Idle time, until the device has nothing left to clear. The file stays open:
 * what opening and closing it leaves behind would fall into the next round.
 */
static int wait_until_clean(void)
{
	static int fd = -1;
	char text[32];
	int tries;

	if (fd < 0)
		fd = open(DIRTY_BYTES, O_RDONLY);
	if (fd < 0)
		return -errno;
	for (tries = 0; tries < IDLE_TRIES; tries++) {
		settle(IDLE_MS);
		if (lseek(fd, 0, SEEK_SET) < 0 ||
		    read(fd, text, sizeof(text)) <= 0)
			return -EIO;
		if (text[0] == '0')
			return 0;
	}
	return -ETIMEDOUT;
}

static void *map_one(const struct series *s, int fd, unsigned long bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, s->flags, fd,
		    s->offset);
}

static int measure(const struct series *s, int fd, unsigned long bytes,
		   int rounds, bool filling, struct row *row)
{
	unsigned long t0, t1, t2, t3;
	int round, err;
	void *p;

	for (round = 0; round <= rounds; round++) {
		if (s->idle) {
			err = wait_until_clean();
			if (err)
				return err;
		} else if (round == 1) {
			settle(SHORT_MS);
		}
		dither(round);
		t0 = now();
		p = map_one(s, fd, bytes);
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

/* An errno, or 0 and a descriptor: -1 for memory that needs none. */
static int open_series(const struct series *s, int *fd)
{
	*fd = -1;
	if (!s->path[0])
		return 0;
	*fd = open(s->path, O_RDWR);
	return *fd < 0 ? -errno : 0;
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
	int fd, err;

	if (s->core && kib > core_limit_kib)
		return -ENOMEM;
	err = open_series(s, &fd);
	if (err)
		return err;
	settle(SETTLE_MS);
	/* What other sizes have dirtied is not to be cleared meanwhile. */
	wait_until_clean();
	err = measure(s, fd, kib * 1024UL, rounds, filling, row);
	if (fd >= 0)
		close(fd);
	return err;
}

#endif /* TIMING_MEASURE_H */

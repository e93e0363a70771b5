/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is timed: the ways to ask for memory, and the sizes.
 *
 * The tables hold no pointers, so nothing in them has to be relocated when a
 * kernel without an MMU starts the program.
 */
#ifndef TIMING_SERIES_H
#define TIMING_SERIES_H

#include <linux/pages.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct series {
	char name[24];
	char path[12];		/* empty: anonymous memory */
	int flags;
	unsigned long long offset;
	bool core;		/* the pages come from the core's allocator */
	bool idle;		/* each round comes after some idle time */
};

static const struct series all_series[] = {
	{ .name = "anon", .flags = MAP_PRIVATE | MAP_ANONYMOUS, .core = true },
	{ .name = "anon-uninitialized",
	  .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_UNINITIALIZED,
	  .core = true },
	{ .name = "dev-zero", .path = "/dev/zero", .flags = MAP_PRIVATE,
	  .core = true },
	{ .name = "pages", .path = "/dev/pages", .flags = MAP_SHARED },
	{ .name = "pages-idle", .path = "/dev/pages", .flags = MAP_SHARED,
	  .idle = true },
	{ .name = "pages-uncleared", .path = "/dev/pages",
	  .flags = MAP_SHARED | MAP_UNINITIALIZED },
	{ .name = "pages-private", .path = "/dev/pages", .flags = MAP_PRIVATE,
	  .core = true },
	{ .name = "pages-private-uncleared", .path = "/dev/pages",
	  .flags = MAP_PRIVATE, .offset = PAGES_OFFSET_UNCLEARED,
	  .core = true },
};

#define N_SERIES	((int)ARRAY_SIZE(all_series))

static const struct series *series_named(const char *name)
{
	int i;

	for (i = 0; i < N_SERIES; i++)
		if (!strcmp(all_series[i].name, name))
			return &all_series[i];
	return NULL;
}

/* Some of the series: one mark for each of the table above. */
struct choice {
	bool has[N_SERIES];
};

static struct choice all_of_them(void)
{
	struct choice c;

	memset(c.has, true, sizeof(c.has));
	return c;
}

/* By their names, "A,B", which are cut apart. False: there is no such. */
static bool choose(struct choice *c, char *names)
{
	const struct series *s;
	char *next;

	memset(c->has, false, sizeof(c->has));
	for (; names; names = next) {
		next = strchr(names, ',');
		if (next)
			*next++ = '\0';
		s = series_named(names);
		if (!s)
			return false;
		c->has[s - all_series] = true;
	}
	return true;
}

#define MAX_SIZES	64

struct sizes {
	int n;
	unsigned int kib[MAX_SIZES];
};

static void add_sizes(struct sizes *s, unsigned int from, unsigned int to,
		      unsigned int step)
{
	unsigned int kib;

	for (kib = from; kib <= to && s->n < MAX_SIZES; kib += step)
		s->kib[s->n++] = kib;
}

/*
 * The steps of the measurement of 2007, which the plots put beside ours, and
 * two sizes more, to see whether what is flat there stays so.
 */
static void sizes_of_2007(struct sizes *s)
{
	add_sizes(s, 4, 128, 4);
	add_sizes(s, 256, 1024, 128);
	add_sizes(s, 2048, 16384, 1024);
	add_sizes(s, 32768, 65536, 32768);
}

/* The steps of the measurement of 2017: 1, 4, 16 and 64 MiB. */
static void sizes_of_2017(struct sizes *s)
{
	unsigned int kib;

	for (kib = 1024; kib <= 65536; kib *= 4)
		add_sizes(s, kib, kib, 4);
}

#endif /* TIMING_SERIES_H */

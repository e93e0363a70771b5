/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The model of pages_fuzz.c: what is open, what is mapped, and what has to be in it.
 *
 * Each operation draws from a generator of its own, seeded by the seed and its number,
 * so that leaving out some does not change what the others draw.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include "run.h"
#include "stats.h"

#define FILES		64	/* open file descriptions, live or kept by a mapping */
#define FDS		12	/* descriptors */
#define SLOTS		24	/* mappings */
#define FIRST_FD	20	/* of the descriptors; below are those of the program */
#define SMALL		(64 * KIB)	/* every word of a mapping up to this is looked at */
#define SURE		(16 * KIB)	/* memory of this length is always free in one piece */
#define BUFFER		(5 * PAGE)

struct open_file {
	unsigned long serial;	/* what it writes begins with this; 0: unused */
	int mode;
	long fds, mappings, bytes;
};

struct fd {
	int fd;			/* -1: closed */
	struct open_file *file;
};

enum memory { DIRECT, COPY, ANONYMOUS };

struct slot {
	unsigned long *p;	/* NULL: unused */
	size_t len;		/* as it was asked for */
	enum memory memory;
	struct open_file *file;
	unsigned long stamp;
};

enum promise { SHOWS_ZEROS, SHOWS_OWN, SHOWS_ANY };

static struct {
	unsigned long seed, now;	/* the operation that is under way */
	unsigned long random;
	enum promise promise;
	unsigned long limit;
	unsigned long serials, stamps;
	long bytes, mappings, failures, refused, peak;
	bool trace, broken;
	struct open_file files[FILES];
	struct fd fds[FDS];
	struct slot slots[SLOTS];
	unsigned char buffer[BUFFER + 2 * PAGE];
} fuzz;

/* splitmix64 */
static inline unsigned long mix(unsigned long x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static inline unsigned long draw(unsigned long below)
{
	fuzz.random = mix(fuzz.random);
	return (fuzz.random >> 16) % below;
}

static inline bool one_in(unsigned long n)
{
	return draw(n) == 0;
}

/* What is wrong, once: the run ends with it. */
#define wrong(...)						\
	do {							\
		if (!fuzz.broken)				\
			ksft_print_msg("found: seed=%lu op=%lu: ", fuzz.seed, fuzz.now);\
		if (!fuzz.broken)				\
			printf(__VA_ARGS__);			\
		fuzz.broken = true;				\
	} while (0)

#define trace(...)						\
	do {							\
		if (fuzz.trace)					\
			printf("# " __VA_ARGS__);		\
	} while (0)

/* An outcome is 0 or more, or a negative errno. */
static inline long outcome_of(long ret)
{
	return ret < 0 && ret >= -4095 ? ret : 0;
}

static inline void want(const char *what, long got, long wanted)
{
	if (got != wanted)
		wrong("%s: %ld, but it should be %ld\n", what, got, wanted);
}

/* nolibc turns errors into -1 and errno. */
static inline long with_errno(long ret)
{
	return ret == -1 ? -errno : ret;
}

static inline struct fd *some_fd(void)
{
	struct fd *fd = &fuzz.fds[draw(FDS)];

	return fd->file ? fd : NULL;
}

static inline struct slot *some_slot(void)
{
	struct slot *slot = &fuzz.slots[draw(SLOTS)];

	return slot->p ? slot : NULL;
}

static inline struct slot *empty_slot(void)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (!fuzz.slots[i].p)
			return &fuzz.slots[i];
	return NULL;
}

static inline void put_file(struct open_file *file)
{
	if (!file->fds && !file->mappings)
		file->serial = 0;
}

/* A new open file description; there are more than can be held. */
static inline struct open_file *new_file(int mode)
{
	int i;

	for (i = 0; fuzz.files[i].serial; i++)
		;
	fuzz.files[i] = (struct open_file){ .serial = ++fuzz.serials, .mode = mode };
	return &fuzz.files[i];
}

/* The words that are looked at and written: all of a small mapping, else four a page. */
static inline size_t next_word(size_t word, size_t len)
{
	const size_t words = PAGE / sizeof(long);

	return PAGE_UP(len) > SMALL && word % words == 1 ? word + words - 3 : word + 1;
}

static inline size_t words_in(size_t len)
{
	return PAGE_UP(len) / sizeof(long);
}

/* Writes what tells file, mapping and place. */
static inline void stamp(struct slot *slot)
{
	size_t i;

	slot->stamp = (slot->file ? slot->file->serial : 0) << 40 |
		      (++fuzz.stamps & 0xfffff) << 20;
	for (i = 0; i < words_in(slot->len); i = next_word(i, slot->len))
		slot->p[i] = slot->stamp + (i & 0xfffff);
}

static inline void check_stamp(struct slot *slot)
{
	size_t i;

	for (i = 0; i < words_in(slot->len); i = next_word(i, slot->len))
		if (slot->p[i] != slot->stamp + (i & 0xfffff)) {
			wrong("a mapping of %lu bytes changed at word %lu: %lx, not %lx\n",
			      slot->len, i, slot->p[i], slot->stamp + (i & 0xfffff));
			return;
		}
}

/* What a fresh mapping shows: zeros, or what its open file has written. */
static inline void check_fresh(struct slot *slot, bool uncleared)
{
	enum promise promise = uncleared ? fuzz.promise : SHOWS_ZEROS;
	size_t i;

	/* Under policy 1 copies are zero; the core's own opt-out shows anything. */
	if (promise == SHOWS_OWN && slot->memory == COPY)
		promise = SHOWS_ZEROS;
	if (uncleared && slot->memory == ANONYMOUS)
		promise = SHOWS_ANY;
	if (promise == SHOWS_ANY)
		return;
	for (i = 0; i < words_in(slot->len); i = next_word(i, slot->len))
		if (slot->p[i] && (promise == SHOWS_ZEROS ||
				   slot->p[i] >> 40 != slot->file->serial)) {
			wrong("a fresh mapping of %lu bytes shows %lx at word %lu\n",
			      slot->len, slot->p[i], i);
			return;
		}
}

static inline void count_mapping(struct slot *slot, int sign)
{
	if (slot->file)
		slot->file->mappings += sign;
	if (slot->memory == DIRECT) {
		slot->file->bytes += sign * (long)PAGE_UP(slot->len);
		fuzz.bytes += sign * (long)PAGE_UP(slot->len);
		fuzz.mappings += sign;
		if (fuzz.bytes > fuzz.peak)
			fuzz.peak = fuzz.bytes;
	}
}

static inline void forget(struct slot *slot)
{
	count_mapping(slot, -1);
	slot->p = NULL;
	if (slot->file)
		put_file(slot->file);
}

/* Verifies and unmaps. */
static inline void unmap(struct slot *slot)
{
	check_stamp(slot);
	want("munmap", with_errno(munmap(slot->p, slot->len)), 0);
	forget(slot);
}

/* Live direct mappings of an open file, for fdinfo. */
static inline long direct_mappings(struct open_file *file)
{
	long count = 0;
	int i;

	for (i = 0; i < SLOTS; i++)
		count += fuzz.slots[i].p && fuzz.slots[i].file == file &&
			 fuzz.slots[i].memory == DIRECT;
	return count;
}

#endif /* SELFTESTS_FUZZ_H */

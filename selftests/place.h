/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the run of a mapping lies in memory.  Without an MMU that is its address.  With
 * one, /proc/PID/maps tells it of a private mapping, as its offset.  The memory of a
 * shared one is marked and looked for.
 */
#ifndef SELFTESTS_PLACE_H
#define SELFTESTS_PLACE_H

#include "kcore.h"
#include "stats.h"

/* The offset that /proc/self/maps has for the mapping at @p. */
static inline unsigned long offset_in_maps(const unsigned char *p)
{
	static char maps[16 * KIB];
	char *line = maps;

	read_file("/proc/self/maps", maps, sizeof(maps));
	while (line && *line) {
		char *word;

		if (strtoul(line, &word, 16) == (unsigned long)p) {
			/* "START-END PERMISSIONS OFFSET" */
			word = strchr(word, ' ');
			word = word ? strchr(word + 1, ' ') : NULL;
			return word ? strtoul(word + 1, NULL, 16) : NOWHERE;
		}
		line = strchr(line, '\n');
		line += !!line;
	}
	return NOWHERE;
}

/* It stays open: opening it may sleep, and others would go on while a test looks. */
static inline const struct kcore *all_ram(void)
{
	static struct kcore core;

	if (!core.count)
		kcore_open(&core);
	return &core;
}

/* Marks the first page of a shared mapping while @look goes on; the old word comes back. */
static inline unsigned long with_mark(unsigned char *p, unsigned long place,
				      unsigned long (*look)(const struct kcore *core,
							    unsigned long place,
							    unsigned long mark))
{
	static unsigned long marks;
	const struct kcore *core = all_ram();
	unsigned long *first = (void *)p;
	unsigned long old = *first;
	unsigned long mark = kcore_stamp(++marks << 16);
	unsigned long found;

	__atomic_store_n(first, mark, __ATOMIC_SEQ_CST);
	found = look(core, place, mark);
	__atomic_store_n(first, old, __ATOMIC_SEQ_CST);
	return found;
}

static inline unsigned long look_everywhere(const struct kcore *core, unsigned long unused,
					    unsigned long mark)
{
	unsigned long offset;
	unsigned int i;

	(void)unused;
	for (i = 0; i < core->count; i++)
		for (offset = 0; offset < core->segments[i].p_filesz; offset += PAGE)
			if (kcore_word(core, i, offset) == mark)
				return core->segments[i].p_paddr + offset;
	return NOWHERE;
}

static inline unsigned long look_there(const struct kcore *core, unsigned long place,
				       unsigned long mark)
{
	return kcore_word_at(core, place) == mark ? place : NOWHERE;
}

/* The place of a direct mapping. */
static inline unsigned long place_of(unsigned char *p, const struct kind *kind)
{
	if (!p)
		return NOWHERE;
	if (!has_mmu())
		return (unsigned long)p;
	if (!(kind->flags & MAP_SHARED))
		return offset_in_maps(p);
	return with_mark(p, NOWHERE, look_everywhere);
}

/* Does a direct mapping lie there?  That is faster to find out. */
static inline bool lies_at(unsigned char *p, const struct kind *kind, unsigned long place)
{
	if (!has_mmu() || !p || !(kind->flags & MAP_SHARED))
		return place_of(p, kind) == place;
	return with_mark(p, place, look_there) == place;
}

/*
 * Leaves a run of @len bytes full of @stamp behind, the only one that waits, and says
 * where it lies.
 */
static inline unsigned long leave_dirty(int fd, size_t len, unsigned char stamp)
{
	unsigned long place;
	unsigned char *p;

	drop_cached();
	p = map(fd, SHARED_UNCLEARED, len);
	place = place_of(p, SHARED_UNCLEARED);
	if (!expect(place != NOWHERE))
		return NOWHERE;
	fill(p, stamp, len);
	return expect(!munmap(p, len)) ? place : NOWHERE;
}

/*
 * How much of the run at @place is zero, from its beginning on, whoever has it; with an MMU
 * by the first word of each page.
 */
static inline size_t zeros_at(unsigned long place, size_t len)
{
	size_t at = 0;

	if (!has_mmu())
		return first_other((void *)place, len, 0, 0);
	while (at < len && !kcore_word_at(all_ram(), place + at))
		at += PAGE;
	return at;
}

#endif /* SELFTESTS_PLACE_H */

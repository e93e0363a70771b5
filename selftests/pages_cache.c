// SPDX-License-Identifier: GPL-2.0
/*
 * Which run a mapping gets of those that wait for reuse.
 */
#include "place.h"
#include "random.h"
#include "run.h"
#include "stats.h"
#include "worker.h"

#define STAMP		0x3c
#define SLOTS		32
#define ROUNDS		20000

static const size_t sizes[] = {
	1, PAGE, 3 * PAGE, 33 * KIB, 64 * KIB, 65 * PAGE, MIB, 1234567, 4 * MIB,
	5 * MIB + 12 * KIB, 16 * MIB,
};

static bool comes_back(int fd, const struct kind *kind, size_t len)
{
	unsigned char *p = map(fd, kind, len);
	unsigned long place = place_of(p, kind);
	long recycled;
	int i;

	if (!expect(place != NOWHERE) || !expect(!munmap(p, len)))
		return false;
	for (i = 0; i < 3; i++) {
		recycled = figure(RECYCLED);
		p = map(fd, kind, len);
		if (!expect(lies_at(p, kind, place)) || !expect(!munmap(p, len)) ||
		    !expect(figure(RECYCLED) - recycled == (long)PAGE_UP(len)))
			return false;
	}
	return true;
}

static bool same_run_again(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i, j;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++)
		for (j = 0; ok && j < ARRAY_SIZE(kinds); j++) {
			drop_cached();
			if (kinds[j].direct)
				ok = comes_back(fd, &kinds[j], sizes[i]);
		}
	close(fd);
	return ok;
}

/* Leaves a run that is zero and one that @writer has written, and says where. */
static bool clean_and_dirty(int writer, size_t len, unsigned long *clean,
			    unsigned long *dirty_run)
{
	unsigned char *p, *q;

	drop_cached();
	p = map(writer, SHARED, len);
	q = map(writer, SHARED, len);
	*clean = place_of(p, SHARED);
	*dirty_run = place_of(q, SHARED);
	if (!expect(*clean != NOWHERE) || !expect(*dirty_run != NOWHERE))
		return false;
	fill(p, STAMP, PAGE_UP(len));
	fill(q, STAMP, PAGE_UP(len));
	return expect(!munmap(p, len)) && is_idle() && expect(!munmap(q, len)) &&
	       expect(figure(CLEAN) == (long)PAGE_UP(len)) &&
	       expect(figure(DIRTY) == (long)PAGE_UP(len));
}

/* What gets which run, of those that clean_and_dirty() has left. */
static bool prefers(const struct kind *kind, bool own, bool dirty_first)
{
	int fd = open_pages();
	int writer = own ? fd : open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++) {
		unsigned long clean, dirty_run;
		unsigned char *p, *q;
		long cleared;

		if (!clean_and_dirty(writer, sizes[i], &clean, &dirty_run))
			return false;
		cleared = figure(CLEARED);
		p = map(fd, kind, sizes[i]);
		ok = expect(lies_at(p, kind, dirty_first ? dirty_run : clean)) &&
		     expect(figure(CLEARED) == cleared) &&
		     expect(all_bytes(p, PAGE_UP(sizes[i]), dirty_first ? STAMP : 0));
		/* Second choice: the other one. */
		q = map(fd, kind, sizes[i]);
		ok &= expect(lies_at(q, kind, dirty_first ? clean : dirty_run)) &&
		      expect(all_bytes(q, PAGE_UP(sizes[i]), 0));
		if (p)
			munmap(p, sizes[i]);
		if (q)
			munmap(q, sizes[i]);
	}
	if (!own)
		close(writer);
	close(fd);
	return ok;
}

static bool zeroed_prefers_clean(void)
{
	return prefers(SHARED, true, false) && prefers(PRIVATE_READ_ONLY, false, false);
}

static bool uncleared_prefers_dirty(void)
{
	return prefers(SHARED_UNCLEARED, true, true);
}

static bool uncleared_leaves_foreign(void)
{
	return prefers(SHARED_UNCLEARED, false, false);
}

/* A run of @have pages waits, one of @want is asked for. */
static const struct cut {
	size_t have;
	size_t want;
	bool clean;
	bool zeroed;
	bool cuts;
} cuts[] = {
	{ 2, 1, false, false, true },
	{ 10, 6, false, false, true },
	{ 64, 33, false, false, true },
	{ 256, 200, false, false, true },
	{ 1000, 600, false, false, true },
	{ 1024, 1023, false, false, true },
	{ 1283, 1024, false, false, true },
	{ 1283, 1025, false, false, true },
	{ 3000, 1500, false, false, true },
	{ 3072, 2048, false, false, true },
	{ 10, 6, true, true, true },
	{ 10, 6, true, false, true },
	{ 1024, 1000, true, true, true },
	/* It saves a new run, if not the clearing. */
	{ 10, 6, false, true, true },
	/* Many times as long: it would be gone for those who need it. */
	{ 200, 6, false, false, false },
};

static bool cut_works(int fd, const struct cut *cut)
{
	const struct kind *kind = cut->zeroed ? SHARED : SHARED_UNCLEARED;
	size_t have = cut->have * PAGE, want = cut->want * PAGE;
	unsigned char shows = cut->clean || cut->zeroed || has_mmu() ? 0 : STAMP;
	unsigned char *p, *q;
	unsigned long place;
	long recycled;
	bool ok;

	place = leave_dirty(fd, have, STAMP);
	if (place == NOWHERE)
		return false;
	ok = !cut->clean || is_idle();
	recycled = figure(RECYCLED);
	q = map(fd, kind, want);
	if (!expect(q))
		return false;
	recycled = figure(RECYCLED) - recycled;
	if (!cut->cuts) {
		ok &= expect(recycled == 0) && expect(cached() == (long)have);
		return expect(!munmap(q, want)) && ok;
	}
	ok &= expect(lies_at(q, kind, place)) && expect(recycled == (long)want) &&
	      expect(cached() == (long)(have - want)) && expect(all_bytes(q, want, shows));
	/* The rest waits on. */
	p = map(fd, kind, have - want);
	ok &= expect(lies_at(p, kind, place + want)) && expect(all_bytes(p, have - want, shows));
	return expect(!munmap(q, want)) && expect(!munmap(p, have - want)) && ok;
}

static bool longer_run_is_cut(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++)
		if (!cut_works(fd, &cuts[i])) {
			ksft_print_msg("%zu pages of %zu, %s, %s\n", cuts[i].want, cuts[i].have,
				       cuts[i].clean ? "zero" : "not zero",
				       cuts[i].zeroed ? "zeroed" : "uncleared");
			ok = false;
		}
	close(fd);
	return ok;
}

/* Runs of these pages wait, end to end; one of @want is asked for. */
static const struct join {
	size_t have[4];
	size_t want;
	bool zeroed;
	bool joins;
} joins[] = {
	{ { 4, 4 }, 8, false, true },
	{ { 16, 9, 4, 3 }, 32, false, true },
	{ { 16, 9, 4, 3 }, 27, true, true },
	{ { 512, 512 }, 1000, false, true },
	{ { 1024, 1024 }, 2048, false, true },
	{ { 1048, 1000 }, 2000, true, true },
	/* Less than all of them together. */
	{ { 4, 4 }, 9, false, false },
};

static bool join_works(int fd, const struct join *join)
{
	const struct kind *kind = join->zeroed ? SHARED : SHARED_UNCLEARED;
	unsigned char *p, *at[ARRAY_SIZE(join->have)];
	size_t want = join->want * PAGE, sum = 0, i;
	unsigned long start, place;
	long recycled;
	bool ok = true;

	/* One run, which is cut from its beginning, so that the parts are neighbours. */
	for (i = 0; i < ARRAY_SIZE(join->have); i++)
		sum += join->have[i] * PAGE;
	start = leave_dirty(fd, sum, STAMP);
	if (start == NOWHERE)
		return false;
	for (i = 0, place = start; i < ARRAY_SIZE(join->have) && join->have[i]; i++) {
		at[i] = map(fd, SHARED_UNCLEARED, join->have[i] * PAGE);
		ok &= expect(lies_at(at[i], SHARED_UNCLEARED, place));
		place += join->have[i] * PAGE;
		if (has_mmu())
			fill(at[i], STAMP, join->have[i] * PAGE);
	}
	/* In an order of its own. */
	while (i-- > 0)
		ok &= expect(!munmap(at[i], join->have[i] * PAGE));
	ok &= expect(cached() == (long)sum);

	recycled = figure(RECYCLED);
	p = map(fd, kind, want);
	recycled = figure(RECYCLED) - recycled;
	place = place_of(p, kind);
	if (!expect(place != NOWHERE))
		return false;
	if (join->joins)
		ok &= expect(recycled == (long)want) && expect(cached() == (long)(sum - want)) &&
		      expect(place >= start && place + want <= start + sum) &&
		      expect(all_bytes(p, want, join->zeroed || has_mmu() ? 0 : STAMP));
	else
		ok &= expect(recycled == 0) && expect(cached() == (long)sum);
	return expect(!munmap(p, want)) && ok;
}

static bool neighbours_are_joined(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(joins); i++)
		if (!join_works(fd, &joins[i])) {
			ksft_print_msg("%zu pages, row %zu\n", joins[i].want, i);
			ok = false;
		}
	close(fd);
	return ok;
}

/* Neighbours that two open files wrote: who gets both sees neither's bytes. */
static bool joined_for_nobody(void)
{
	const size_t len = 8 * PAGE;
	int mine = open_pages(), theirs = open_pages();
	unsigned char *p, *q;
	unsigned long place;
	bool ok;

	drop_cached();
	p = map(mine, SHARED_UNCLEARED, 2 * len);
	place = place_of(p, SHARED_UNCLEARED);
	ok = expect(place != NOWHERE) && expect(!munmap(p, 2 * len));
	p = map(mine, SHARED_UNCLEARED, len);
	q = map(theirs, SHARED_UNCLEARED, len);
	if (!expect(lies_at(p, SHARED_UNCLEARED, place)) ||
	    !expect(lies_at(q, SHARED_UNCLEARED, place + len)))
		return false;
	fill(p, STAMP, len);
	fill(q, STAMP, len);
	ok &= expect(!munmap(p, len)) && expect(!munmap(q, len));
	q = map(mine, SHARED_UNCLEARED, 2 * len);
	ok &= expect(lies_at(q, SHARED_UNCLEARED, place)) && expect(all_bytes(q, 2 * len, 0));
	ok &= expect(!munmap(q, 2 * len));
	close(mine);
	close(theirs);
	return ok;
}

/* Sizes of a log of mixed requests: few of them are ever the same. */
static bool mixed_sizes(const struct kind *kind, size_t max_pages, unsigned int percent)
{
	static unsigned char *p[SLOTS];
	static size_t len[SLOTS];
	int fd = open_pages();
	long recycled = figure(RECYCLED);
	long mapped = 0;
	bool ok = true;
	size_t i;

	drop_cached();
	for (i = 0; ok && i < ROUNDS; i++) {
		unsigned int slot = next_random() % SLOTS;

		if (p[slot]) {
			ok = !munmap(p[slot], len[slot]);
			p[slot] = NULL;
			continue;
		}
		len[slot] = (next_random() % max_pages + 1) * PAGE;
		p[slot] = map(fd, kind, len[slot]);
		ok = p[slot];
		mapped += len[slot];
	}
	for (i = 0; i < SLOTS; i++)
		if (p[i]) {
			ok &= !munmap(p[i], len[i]);
			p[i] = NULL;
		}
	recycled = figure(RECYCLED) - recycled;
	close(fd);
	ksft_print_msg("%ld %% of 1 to %zu pages were recycled, %s\n", recycled / (mapped / 100),
		       max_pages, kind->name);
	return expect(ok) && expect(recycled / (mapped / 100) >= percent);
}

/* So long that others must come along, who free the core's records of what is unmapped. */
static bool mixed_sizes_hit(void)
{
	bool ok;

	schedule(SCHED_OTHER, 0);
	ok = mixed_sizes(SHARED_UNCLEARED, 128, 90) && mixed_sizes(SHARED, 128, 90) &&
	     /* With an MMU the core's records lie between the runs, and long ones are rare. */
	     (has_mmu() || mixed_sizes(SHARED_UNCLEARED, 600, 80));
	schedule(SCHED_FIFO, 10);
	return ok;
}

static const struct test tests[] = {
	{ "a run comes back to who maps its size again, and is counted", same_run_again },
	{ "a zeroed mapping prefers a run that is zero, and costs no clearing",
	  zeroed_prefers_clean },
	{ "an uncleared mapping prefers what its open file wrote", uncleared_prefers_dirty,
	  NO_OPT_OUT },
	{ "an uncleared mapping prefers zeros to what another open file wrote",
	  uncleared_leaves_foreign },
	{ "a longer run is cut, its rest waits", longer_run_is_cut },
	{ "runs that are neighbours are joined, what is too much waits", neighbours_are_joined },
	{ "what two open files wrote is joined for nobody to see", joined_for_nobody },
	{ "most of a workload of mixed sizes is recycled", mixed_sizes_hit },
};

int main(void)
{
	worker_runs_when_asleep();
	run_tests(tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The reserve: a run that is taken when the module is loaded, before memory is in
 * pieces. The argument is its length in bytes (reserve_bytes=). The limit max_bytes=
 * must be far above the memory, so that memory is what runs out.
 */
#include "klog.h"
#include "place.h"
#include "random.h"
#include "run.h"
#include "stats.h"

#define STAMP		0x3c
/* Mappings from this length on come from the reserve. */
#define FROM		(64 * KIB)
#define PIECE		MIB
#define MAX_PIECES	64
#define SLOTS		32
#define ROUNDS		20000
#define MAX_SINGLES	10000
#define CHILD_DEVICE	10
/* What is left to the kernel while memory is in pieces. */
#define LEFT_PAGES	3072

static size_t reserve;
static unsigned long start;

static bool in_reserve(unsigned char *p, const struct kind *kind, size_t len)
{
	unsigned long place = kind->direct ? place_of(p, kind) : NOWHERE;

	return place >= start && place - start + len <= reserve;
}

/*
 * The whole of it, where it is and as it should be. Afterwards it waits in one piece, so
 * that run_test() finds the same amount of memory before a test and after it.
 */
static bool is_whole(int fd)
{
	unsigned char *p = map(fd, SHARED, reserve);
	bool ok = expect(p) && expect(!start || lies_at(p, SHARED, start)) &&
		  expect(figure(RESERVE_FREE) == 0) && expect(all_bytes(p, reserve, 0));

	if (p) {
		fill(p, STAMP, reserve);
		ok &= expect(!munmap(p, reserve));
	}
	return ok && expect(figure(RESERVE_FREE) == (long)reserve);
}

/* Where it lies, nobody knows but by mapping all of it. */
static bool all_of_it(void)
{
	int fd = open_pages();
	bool ok = expect(figure(RESERVE) == (long)reserve) &&
		  expect(figure(RESERVE_FREE) == (long)reserve);
	unsigned char *p = map(fd, SHARED, reserve);

	start = place_of(p, SHARED);
	ok = ok && expect(start != NOWHERE) && expect(figure(RESERVE_FREE) == 0) &&
	     expect(!munmap(p, reserve)) && is_whole(fd);
	close(fd);
	return ok;
}

static const struct {
	size_t len;
	bool from_reserve;
} sizes[] = {
	{ 1, false },
	{ PAGE, false },
	{ 60 * KIB, false },
	{ 60 * KIB + 1, true },
	{ FROM, true },
	{ 68 * KIB, true },
	{ MIB, true },
	{ 1234567, true },
	{ 4 * MIB, true },
	{ 5 * MIB + 12 * KIB, true },
};

static bool large_ones_first(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; j < ARRAY_SIZE(kinds); j++) {
			size_t whole = PAGE_UP(sizes[i].len);
			bool here = sizes[i].from_reserve && kinds[j].direct;
			unsigned char *p;

			if (!kinds[j].direct && whole > 4 * MIB)
				continue;
			p = map(fd, &kinds[j], sizes[i].len);
			ok &= expect(p) && expect(in_reserve(p, &kinds[j], whole) == here) &&
			      expect(reserve - figure(RESERVE_FREE) == (here ? whole : 0)) &&
			      expect(!munmap(p, sizes[i].len)) &&
			      expect(figure(RESERVE_FREE) == (long)reserve);
		}
	ok = is_whole(fd) && ok;
	close(fd);
	return ok;
}

/* One piece after the other, in the reserve and beyond it. */
static bool used_up(void)
{
	unsigned char *p[MAX_PIECES];
	unsigned long at[MAX_PIECES];
	size_t count = reserve / PIECE + 4;
	int fd = open_pages();
	long recycled;
	bool ok = is_whole(fd);
	size_t i;

	for (i = 0; i < count; i++) {
		const struct kind *kind = i & 1 ? SHARED : SHARED_UNCLEARED;

		p[i] = map(fd, kind, PIECE);
		at[i] = place_of(p[i], kind);
		ok &= expect(p[i]) &&
		      expect(in_reserve(p[i], kind, PIECE) == (i < reserve / PIECE));
	}
	ok &= expect(figure(RESERVE_FREE) == 0);
	/* What came from elsewhere is recycled as well. */
	recycled = figure(RECYCLED);
	ok &= expect(!munmap(p[count - 1], PIECE));
	p[count - 1] = map(fd, SHARED, PIECE);
	ok &= expect(lies_at(p[count - 1], SHARED, at[count - 1])) &&
	      expect(figure(RECYCLED) - recycled == (long)PIECE);
	/* And what comes free in the reserve is preferred again. */
	ok &= expect(!munmap(p[3], PIECE));
	p[3] = map(fd, SHARED, PIECE);
	ok &= expect(lies_at(p[3], SHARED, at[3]));
	for (i = 0; i < count; i++)
		ok &= !munmap(p[i], PIECE);
	ok = expect(ok) && is_whole(fd);
	close(fd);
	return ok;
}

/* Nobody may get what somebody else has, whatever was taken and given back. */
static bool whole_after_mixed_sizes(void)
{
	static unsigned char *p[SLOTS];
	static size_t len[SLOTS];
	static long taken[SLOTS];
	int fd = open_pages();
	bool ok = true;
	long mapped = 0;
	size_t i;

	for (i = 0; ok && i < ROUNDS; i++) {
		unsigned int slot = next_random() % SLOTS;

		if (p[slot]) {
			ok = expect(p[slot][0] == slot + 1) &&
			     expect(p[slot][len[slot] - 1] == slot + 1) &&
			     expect(!munmap(p[slot], len[slot]));
			mapped -= taken[slot];
			p[slot] = NULL;
		} else {
			long before = figure(RESERVE_FREE);

			len[slot] = FROM + next_random() % 150 * PAGE;
			p[slot] = map(fd, SHARED_UNCLEARED, len[slot]);
			ok = expect(p[slot]);
			if (!ok)
				break;
			p[slot][0] = slot + 1;
			p[slot][len[slot] - 1] = slot + 1;
			taken[slot] = before - figure(RESERVE_FREE);
			mapped += taken[slot];
			/* With an MMU it takes a while to find out where a mapping lies. */
			if (!has_mmu() || i % 500 == 0)
				ok = expect(taken[slot] == in_reserve(p[slot], SHARED_UNCLEARED,
								      len[slot]) * (long)len[slot]);
		}
		if (i % 50 == 0)
			ok &= expect((long)reserve - figure(RESERVE_FREE) == mapped);
	}
	for (i = 0; i < SLOTS; i++)
		if (p[i])
			ok &= expect(!munmap(p[i], len[i]));
	ok = ok && is_whole(fd);
	close(fd);
	return ok;
}

static int child_exits(void)
{
	map(CHILD_DEVICE, SHARED, 8 * MIB);
	map(CHILD_DEVICE, PRIVATE_READ_ONLY, FROM);
	return figure(RESERVE_FREE) != (long)(reserve - 8 * MIB - FROM);
}

static bool exit_gives_back(void)
{
	int fd = open_pages();
	bool ok = true;
	int i;

	dup2(fd, CHILD_DEVICE);
	for (i = 0; i < 3; i++)
		ok &= expect(ended_well(start_child("exit", reserve, 0))) && is_whole(fd);
	close(CHILD_DEVICE);
	close(fd);
	return ok;
}

static bool cleared_when_idle(void)
{
	int fd = open_pages();
	bool ok = expect(dirty(fd, SHARED_UNCLEARED, reserve, STAMP)) && is_idle();
	long cleared = figure(CLEARED);
	unsigned char *p = map(fd, SHARED, reserve);

	ok = ok && expect(p) && expect(figure(CLEARED) == cleared) &&
	     expect(all_bytes(p, reserve, 0)) && expect(!munmap(p, reserve));
	close(fd);
	return ok;
}

/* Takes single pages until little is left, and gives every second one back. */
static size_t break_memory(int fd, unsigned char **singles)
{
	size_t n = 0;
	size_t i;

	while (n < MAX_SINGLES) {
		if (n % 64 == 0 && free_pages() < LEFT_PAGES)
			break;
		singles[n] = map(fd, SHARED_UNCLEARED, PAGE);
		if (!singles[n])
			break;
		n++;
	}
	/* Neighbours were taken one after the other. */
	for (i = 0; i < n; i += 2) {
		munmap(singles[i], PAGE);
		singles[i] = NULL;
	}
	return n;
}

static bool memory_in_pieces(void)
{
	static unsigned char *singles[MAX_SINGLES], *rest[MAX_PIECES * 16];
	int fd = open_pages();
	int klog = klog_open(true);
	size_t n = break_memory(fd, singles);
	size_t pieces = 0;
	bool ok;
	size_t i;

	/* Whatever is still in one piece, down to 8 KiB, is taken. */
	while (pieces < ARRAY_SIZE(rest)) {
		rest[pieces] = map(fd, SHARED_UNCLEARED, 2 * PAGE);
		if (!rest[pieces])
			break;
		pieces++;
	}
	ok = expect(n > MAX_SINGLES / 4) && expect(pieces < ARRAY_SIZE(rest)) &&
	     expect(errno == ENOMEM) && expect(free_pages() > (long)n / 3) &&
	     expect(!map(fd, SHARED, 2 * PAGE)) && expect(errno == ENOMEM) &&
	     is_whole(fd) && expect(klog_silent(klog));

	for (i = 0; i < n; i++)
		if (singles[i])
			ok &= !munmap(singles[i], PAGE);
	for (i = 0; i < pieces; i++)
		ok &= !munmap(rest[i], 2 * PAGE);
	close(klog);
	close(fd);
	return expect(ok);
}

static const struct test tests[] = {
	{ "a mapping as large as the reserve is the reserve", all_of_it },
	{ "mappings from 64 KiB on come from it first, others and copies do not",
	  large_ones_first },
	{ "when it is used up the page allocator helps out, and its runs are recycled", used_up },
	{ "it is whole again after 20000 mappings of mixed sizes", whole_after_mixed_sizes },
	{ "it is whole again after a process with parts of it has ended", exit_gives_back },
	{ "what waits in it is cleared when idle", cleared_when_idle },
	{ "all of it can be mapped while other memory is in single pages", memory_in_pieces },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv)) {
		reserve = atol(argv[3]);
		return child_exits();
	}
	reserve = argc > 1 ? atol(argv[1]) : 0;
	run_tests(tests, ARRAY_SIZE(tests));
}

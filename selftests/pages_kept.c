// SPDX-License-Identifier: GPL-2.0
/*
 * How much may wait for reuse: so many pieces, or with an argument so many bytes, which
 * cache_bytes= has set.
 */
#include "run.h"
#include "stats.h"
#include "worker.h"

#define MAX_PIECES	512
#define MANY		700
/* Two readings, one after the other, may differ by a page there. */
#define MMU_JITTER	1

static long limit;

static const size_t sizes[] = {
	1, PAGE, 3 * PAGE, 33 * KIB, 64 * KIB, 65 * PAGE, MIB, 1234567, 4 * MIB,
	5 * MIB + 12 * KIB, 16 * MIB,
};

/* Maps and unmaps more runs of @len than may wait, which is @most. */
static bool waits_at_most(size_t len, size_t most)
{
	static unsigned char *p[MANY];
	size_t many = most + most / 3;
	int fd = open_pages();
	bool ok = true;
	long before, fewer, may_miss;
	size_t i;

	may_miss = most * len / PAGE + (has_mmu() ? MMU_JITTER : 0);
	drop_cached();
	before = free_pages();
	for (i = 0; i < many; i++)
		p[i] = map(fd, SHARED_UNCLEARED, len);
	for (i = 0; i < many; i++)
		ok &= expect(p[i]) && expect(!munmap(p[i], len)) &&
		      expect(cached() == (long)((i < most ? i + 1 : most) * len));
	/* Page tables that are empty go back a little later. */
	for (i = 0; i < SETTLE_STEPS && before - free_pages() > may_miss; i++)
		sleep_ms(SETTLE_STEP_MS);
	fewer = before - free_pages();
	if (fewer > may_miss)
		ksft_print_msg("%zu pages wait, %ld are missing\n", most * len / PAGE, fewer);
	ok &= expect(fewer <= may_miss);
	close(fd);
	return ok;
}

/* What is bounded is the number of blocks as which the runs would go back. */
static bool number_is_bounded(void)
{
	return waits_at_most(PAGE, MAX_PIECES) && waits_at_most(63 * PAGE, MAX_PIECES / 6);
}

/* Whatever is unmapped, what waits stays below the limit, and a run above it is freed. */
static bool bytes_are_bounded(void)
{
	unsigned char *p[ARRAY_SIZE(sizes)];
	int fd = open_pages();
	bool ok = true;
	int round;
	size_t i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			p[i] = map(fd, round & 1 ? SHARED : SHARED_UNCLEARED, sizes[i]);
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			ok &= expect(p[i]) && expect(!munmap(p[i], sizes[i])) &&
			      expect(cached() <= limit);
			/* What fits is kept, also if others have to go. */
			if ((long)PAGE_UP(sizes[i]) <= limit)
				ok &= expect(cached() >= (long)PAGE_UP(sizes[i]));
		}
	}
	drop_cached();
	ok &= expect(cached() == 0) && expect(dirty(fd, SHARED, limit + PAGE, 0)) &&
	      expect(cached() == 0);
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "at most 512 pieces wait", number_is_bounded },
};

static const struct test limit_tests[] = {
	{ "no more bytes wait than cache_bytes says", bytes_are_bounded },
};

int main(int argc, char **argv)
{
	worker_runs_when_asleep();
	if (argc > 1) {
		limit = atol(argv[1]);
		run_tests(limit_tests, ARRAY_SIZE(limit_tests));
	}
	run_tests(tests, ARRAY_SIZE(tests));
}

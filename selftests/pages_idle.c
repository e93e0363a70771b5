// SPDX-License-Identifier: GPL-2.0
/*
 * While nobody wants memory the device clears what waits, so that a zeroed mapping
 * finds zeros.  As soon as somebody maps something it stops.
 */
#include "place.h"
#include "run.h"
#include "stats.h"
#include "worker.h"

#define STAMP		0x3c
/* So long that clearing it outweighs all that a debug kernel does besides. */
#define LONG		(32 * MIB)
#define LARGE		(32 * MIB)
#define CHILD_DEVICE	10
/* Shorter than the time after which the device takes itself to be idle. */
#define BUSY_STEP_MS	4
#define BUSY_STEPS	100
/* Where it is a matter of luck whether the device is in the midst of something. */
#define TRIES		20

static const size_t sizes[] = {
	1, PAGE, 3 * PAGE, 33 * KIB, 64 * KIB, 65 * PAGE, MIB, 1234567, 4 * MIB,
	5 * MIB + 12 * KIB, 16 * MIB,
};

static long sum_of_sizes(void)
{
	long sum = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		sum += PAGE_UP(sizes[i]);
	return sum;
}

/* Dirties a run of each size, all at once, so that none of them is used twice. */
static bool dirty_all(int fd)
{
	unsigned char *p[ARRAY_SIZE(sizes)];
	bool ok = true;
	size_t i;

	drop_cached();
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = map(fd, SHARED_UNCLEARED, sizes[i]);
		if (!expect(p[i]))
			return false;
		fill(p[i], STAMP, PAGE_UP(sizes[i]));
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		ok &= !munmap(p[i], sizes[i]);
	return expect(ok);
}

static bool all_is_cleared(void)
{
	int fd = open_pages();
	bool ok = dirty_all(fd) && expect(figure(DIRTY) == sum_of_sizes()) &&
		  expect(figure(CLEAN) == 0);
	long cleared = figure(CLEARED);

	ok = ok && is_idle() && expect(figure(CLEAN) == sum_of_sizes()) &&
	     expect(figure(CLEARED) - cleared == sum_of_sizes());
	close(fd);
	return ok;
}

/* All of them at once, each without clearing and byte for byte zero. */
static bool zeroed_costs_no_clearing(void)
{
	unsigned char *p[ARRAY_SIZE(sizes)];
	int fd = open_pages();
	bool ok = dirty_all(fd) && is_idle();
	long cleared = figure(CLEARED);
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++) {
		p[i] = map(fd, SHARED, sizes[i]);
		ok = expect(p[i]) && expect(all_bytes(p[i], PAGE_UP(sizes[i]), 0)) &&
		     expect(figure(CLEARED) == cleared);
	}
	ok = ok && expect(figure(CLEAN) == 0);
	while (i--)
		ok &= !munmap(p[i], sizes[i]);
	close(fd);
	return ok;
}

/*
 * By the clock, if instructions are not counted: then a busy host makes each of them
 * longer, so the shortest of many is taken.
 */
static bool zeroed_is_as_fast_as_uncleared(void)
{
	unsigned long long zeroed = -1ULL, uncleared = -1ULL, clearing = -1ULL;
	int fd = open_pages();
	bool ok = true;
	int i;

	drop_cached();
	time_to_map(fd, SHARED, LONG);
	for (i = counts_instructions() ? 1 : TRIES; i; i--) {
		shortest(&clearing, time_to_map(fd, SHARED, LONG));
		shortest(&uncleared, time_to_map(fd, SHARED_UNCLEARED, LONG));
		ok &= is_idle();
		shortest(&zeroed, time_to_map(fd, SHARED, LONG));
	}
	if (!ok || zeroed > 2 * uncleared || zeroed > clearing / 5)
		ksft_print_msg("32 MiB take %llu ns, uncleared %llu, to be cleared %llu\n",
			       zeroed, uncleared, clearing);
	close(fd);
	return ok && expect(zeroed <= 2 * uncleared) && expect(zeroed <= clearing / 5);
}

/*
 * Maps a page now and then, so that the device never is idle.  True if nothing is cleared
 * meanwhile but what these mappings need themselves.
 */
static bool busy_and_not_cleared(int fd)
{
	long before = figure(CLEARED);
	long needed = 0;
	bool ok = true;
	int i;

	for (i = 0; i < BUSY_STEPS; i++) {
		long now = figure(CLEARED);

		ok &= dirty(fd, SHARED_UNCLEARED, PAGE, STAMP);
		needed += figure(CLEARED) - now;
		sleep_ms(BUSY_STEP_MS);
	}
	return expect(ok) && expect(needed <= (has_mmu() ? BUSY_STEPS * (long)PAGE : 0)) &&
	       expect(figure(CLEARED) - before == needed);
}

static bool waits_until_idle(void)
{
	int fd = open_pages();
	long cleared;
	bool ok;

	drop_cached();
	ok = expect(dirty(fd, SHARED_UNCLEARED, PAGE, STAMP)) && is_idle();
	ok = ok && expect(dirty(fd, SHARED_UNCLEARED, LARGE, STAMP));
	ok = ok && busy_and_not_cleared(fd) && expect(figure(DIRTY) >= (long)LARGE);
	cleared = figure(CLEARED);
	ok = ok && is_idle() && expect(figure(CLEARED) - cleared >= (long)LARGE);
	close(fd);
	return ok;
}

/* Waits until the clearing of a large run is under way, and says where that is. */
static unsigned long half_cleared(int fd)
{
	unsigned long place;
	long cleared;
	int i;

	place = leave_dirty(fd, LARGE, STAMP);
	if (place == NOWHERE)
		return NOWHERE;
	cleared = figure(CLEARED);
	for (i = 0; i < IDLE_STEPS && figure(CLEARED) - cleared < (long)MIB; i++)
		sleep_ms(1);
	return expect(i < IDLE_STEPS) && expect(figure(DIRTY) == (long)LARGE) &&
	       expect(figure(CLEARED) - cleared < (long)LARGE) ? place : NOWHERE;
}

/*
 * Maps a run that is half cleared; *@rest is what was cleared for it. The device has the
 * run in its hands for a step at a time: if it was so when this task woke up, the mapping
 * has another one, and it is done again. So it is where the clock went too far.
 */
static unsigned char *map_half_cleared(int writer, int fd, const struct kind *kind, long *rest)
{
	int i;

	for (i = 0; i < TRIES; i++) {
		unsigned long half = half_cleared(writer);
		long cleared = figure(CLEARED);
		unsigned char *p = map(fd, kind, LARGE);

		*rest = figure(CLEARED) - cleared;
		if (!expect(p) || (half == NOWHERE && counts_instructions()))
			break;
		if (half != NOWHERE && lies_at(p, kind, half))
			return p;
		munmap(p, LARGE);
	}
	expect(i < TRIES);
	return NULL;
}

static bool stops_half_way(void)
{
	int fd = open_pages();
	int tries = counts_instructions() ? 1 : TRIES;
	bool ok;

	while (half_cleared(fd) == NOWHERE && --tries)
		;
	/* The new page is policy's to clear, once; a step that has begun comes to its end. */
	ok = expect(tries) && expect(dirty(fd, SHARED_UNCLEARED, PAGE, STAMP));
	sleep_ms(1);
	ok = ok && busy_and_not_cleared(fd) && expect(figure(DIRTY) >= (long)LARGE) && is_idle();
	close(fd);
	return ok;
}

/* Who takes a run that is half cleared has the rest cleared, and nothing twice. */
static bool zeroed_half_way(void)
{
	int fd = open_pages();
	long rest;
	unsigned char *p = map_half_cleared(fd, fd, SHARED, &rest);
	bool ok = expect(p) && expect(all_bytes(p, LARGE, 0)) &&
		  expect(rest > 0) && expect(rest <= (long)(LARGE - MIB)) &&
		  expect(!munmap(p, LARGE));

	close(fd);
	return ok;
}

static bool uncleared_half_way(void)
{
	int fd = open_pages();
	long rest;
	unsigned char *p = map_half_cleared(fd, fd, SHARED_UNCLEARED, &rest);
	bool ok = expect(p) && expect(rest == 0) &&
		  expect(first_other(p, LARGE, 0, STAMP) == LARGE) && expect(p[0] == 0) &&
		  expect(p[LARGE - 1] == STAMP);

	/* What is written now is not taken for cleared later on. */
	if (ok)
		fill(p, STAMP, LARGE);
	ok = ok && expect(!munmap(p, LARGE));
	p = map(fd, SHARED, LARGE);
	ok = ok && expect(p) && expect(all_bytes(p, LARGE, 0)) && expect(!munmap(p, LARGE));
	close(fd);
	return ok;
}

/* Clearing by another open file's mapping, of a run that is half cleared. */
static bool foreign_half_way(void)
{
	int writer = open_pages();
	int fd = open_pages();
	long rest;
	unsigned char *p = map_half_cleared(writer, fd, SHARED_UNCLEARED, &rest);
	bool ok = expect(p) && expect(all_bytes(p, LARGE, 0)) && expect(!munmap(p, LARGE));

	close(fd);
	close(writer);
	return ok;
}

/*
 * Is killed while its mapping is being cleared. Where the kernel has no timers but the
 * tick, that is @before nanoseconds after the mapping begins, else half of it.
 */
static int child_huge(unsigned long long before)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec spec = { .it_value = { .tv_nsec = before / 2 + 1 } };
	unsigned long long start;
	struct timespec tick;
	timer_t timer;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	sleep_ms(20);
	start = last_tick_ns();
	while (now_ns() + before < start + tick.tv_nsec)
		;
	timer_settime(timer, 0, &spec, NULL);
	map(CHILD_DEVICE, SHARED, LARGE);
	return 2;
}

/*
 * Kills a task that maps memory in which there are no zeros. *@caught tells whether that
 * was half cleared: one can look at it, whoever has it.
 */
static bool killed_once(unsigned long long before, bool *caught)
{
	int fd = open_pages();
	unsigned long place;
	size_t zeros;
	bool ok;

	place = leave_dirty(fd, LARGE, STAMP);
	if (place == NOWHERE)
		return false;
	/* The next run of this length is most likely the same memory. */
	drop_cached();
	/* The device finds nothing to do, and goes to sleep. */
	sleep_ms(200);
	dup2(fd, CHILD_DEVICE);
	close(fd);
	ok = expect(wait_status(start_child("huge", before, 0)) == SIGKILL);
	close(CHILD_DEVICE);
	zeros = zeros_at(place, LARGE);
	*caught = zeros && zeros < LARGE;
	return ok && (!*caught || (expect(cached() == (long)LARGE) && is_idle() &&
				   expect(figure(CLEAN) == (long)LARGE) &&
				   expect(zeros_at(place, LARGE) == LARGE)));
}

/* Nobody unmaps a run whose mapping was never made. */
static bool killed_half_way(void)
{
	int fd = open_pages();
	unsigned long long whole;
	bool caught = false;
	bool ok = true;
	int i;

	drop_cached();
	time_to_map(fd, SHARED, LARGE);
	whole = time_to_map(fd, SHARED, LARGE);
	close(fd);
	for (i = 1; ok && !caught && i <= TRIES; i++)
		ok = killed_once(whole * i / 4, &caught);
	return ok && expect(caught);
}

static const struct test tests[] = {
	{ "when idle, everything that waits is cleared", all_is_cleared },
	{ "then zeroed mappings cost no clearing and are zero", zeroed_costs_no_clearing },
	{ "then a zeroed mapping is about as fast as an uncleared one",
	  zeroed_is_as_fast_as_uncleared, NO_OPT_OUT },
	{ "nothing is cleared while mappings are made", waits_until_idle },
	{ "clearing stops when a mapping is made", stops_half_way },
	{ "a zeroed mapping of a half cleared run is zero, nothing is cleared twice",
	  zeroed_half_way },
	{ "an uncleared mapping of a half cleared run shows what is left",
	  uncleared_half_way, NO_OPT_OUT },
	{ "another open file's mapping of a half cleared run is zero", foreign_half_way },
	{ "what a killed process leaves half cleared is cleared in the end",
	  killed_half_way },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child_huge(atol(argv[3]));
	worker_runs_when_asleep();
	run_tests(tests, ARRAY_SIZE(tests));
}

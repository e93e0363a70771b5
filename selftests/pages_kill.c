// SPDX-License-Identifier: GPL-2.0
/*
 * SIGKILL while a zeroed mapping is cleared: how much of it is cleared after that? The device
 * looks at the signals every 64 KiB.
 *
 * All on one hart. A task of higher priority wakes at a tick, in the middle of the clearing, sees
 * how far it has come, kills, and looks again at the end. Without an MMU it can read the run
 * whoever has it, with one by /proc/kcore.
 */
#include "place.h"
#include "run.h"
#include "stats.h"
#include "worker.h"

#define CANARY		0xc5
#define STEP		(64 * KIB)

#define look(var)	__atomic_load_n(&(var), __ATOMIC_ACQUIRE)
#define tell(var, val)	__atomic_store_n(&(var), (val), __ATOMIC_RELEASE)

static struct {
	int fd;
	size_t len;
	unsigned long long start;
	unsigned char *at;
	unsigned char *p;
} victim;

/* Maps at the moment it is told, and should not live to see the mapping. */
static int maps(void *unused)
{
	schedule(SCHED_OTHER, 0);
	while (now_ns() < look(victim.start))
		;
	tell(victim.p, mmap(victim.at, victim.len, PROT_RW, MAP_SHARED, victim.fd, 0));
	for (;;)
		sleep_ms(1000);
	return !!unused;
}

/*
 * Starts a task that maps @before nanoseconds before the tick at which this one goes on.
 * With an MMU the mapping is to be at @at.
 */
static pid_t maps_before_tick(unsigned char *at, size_t len, unsigned long long before)
{
	static struct stack stack;
	struct timespec tick;
	pid_t pid;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	/* A sleep ends behind a tick; the next but one is far enough away. */
	sleep_ms(1);
	victim.len = len;
	victim.at = at;
	victim.p = NULL;
	tell(victim.start, last_tick_ns() + 2 * tick.tv_nsec - before);
	pid = spawn(THREAD, &stack, maps, NULL);
	sleep_ms(tick.tv_nsec * 3 / 2 / 1000000);
	return pid;
}

struct outcome {
	size_t at_kill;
	size_t at_end;
};

static struct outcome kill_once(size_t len, unsigned long long before)
{
	struct outcome outcome = { 0 };
	int writer = open_pages();
	unsigned char *p = map(writer, SHARED_UNCLEARED, len);
	unsigned long place = place_of(p, SHARED_UNCLEARED);
	pid_t pid;

	victim.fd = open_pages();
	if (expect(place != NOWHERE)) {
		fill(p, CANARY, len);
		munmap(p, len);
		/* The next mapping of this size gets that run. */
		pid = maps_before_tick(p, len, before);
		outcome.at_kill = zeros_at(place, len);
		kill(pid, SIGKILL);
		wait_status(pid);
		outcome.at_end = zeros_at(place, len);
		/* The two share their memory, so the mapping is still there, if there was one. */
		munmap(p, len);
	}
	close(victim.fd);
	close(writer);
	return outcome;
}

/*
 * Kills at one moment after the other, so close to each other that ten or so are within the
 * clearing, wherever that is in the time that a mapping takes.
 */
static bool stops_within_a_step(size_t len)
{
	unsigned long long before, step, whole = -1ULL, uncleared = -1ULL;
	unsigned int within = 0, moments = 0;
	int fd = open_pages();
	bool ok = true;
	int i;

	for (i = 0; i < 5; i++) {
		shortest(&whole, time_to_map(fd, SHARED, len));
		shortest(&uncleared, time_to_map(fd, SHARED_UNCLEARED, len));
	}
	close(fd);
	/* With an MMU the page tables have their share in it, and nothing tells how much. */
	step = has_mmu() ? whole / 20 : (whole - uncleared) / 10;
	if (!expect(whole > uncleared + 10 || has_mmu()) || !expect(step))
		return false;
	drop_cached();
	for (before = step; before < whole + 4 * step; before += step) {
		struct outcome outcome = kill_once(len, before);
		size_t more = outcome.at_end - outcome.at_kill;

		moments++;
		drop_cached();
		if (outcome.at_kill == 0 || outcome.at_kill == len)
			continue;
		within++;
		if (more > STEP)
			ksft_print_msg("killed at %zu KiB of %zu, cleared to %zu KiB\n",
				       outcome.at_kill / KIB, len / KIB, outcome.at_end / KIB);
		ok &= more <= STEP;
	}
	if (within < 5)
		ksft_print_msg("only %u of %u came in time\n", within, moments);
	return expect(within >= 5) && ok;
}

/* Up to 1 MiB is cleared within the core's lock, more on the way back to the program. */
static bool short_mapping(void)
{
	return stops_within_a_step(MIB);
}

static bool long_mapping(void)
{
	return stops_within_a_step(16 * MIB);
}

/* Nobody will unmap what was left half cleared, so nobody else reminds the device of it. */
static bool rest_is_cleared(void)
{
	long failures = figure(FAILURES);
	int i;

	victim.fd = open_pages();
	for (i = 1; i <= 100 && figure(FAILURES) == failures; i++) {
		pid_t pid;

		drop_cached();
		/* The worker has nothing to do, and knows. */
		sleep_ms(200);
		pid = maps_before_tick(NULL, MIB, i * 4000);
		kill(pid, SIGKILL);
		wait_status(pid);
		if (look(victim.p))
			munmap(victim.p, MIB);
	}
	close(victim.fd);
	return expect(figure(FAILURES) > failures) && expect(cached() == MIB) && is_idle();
}

static const struct test tests[] = {
	{ "SIGKILL stops the clearing of 1 MiB within 64 KiB", short_mapping },
	{ "SIGKILL stops the clearing of 16 MiB within 64 KiB", long_mapping },
	{ "what a killed mapping has left half cleared is cleared in the background",
	  rest_is_cleared },
};

int main(void)
{
	worker_runs_when_asleep();
	run_tests(tests, ARRAY_SIZE(tests));
}

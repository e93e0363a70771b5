// SPDX-License-Identifier: GPL-2.0
/*
 * SIGKILL while a zeroed mapping is cleared: how much of it is cleared after that? The device
 * looks at the signals every 64 KiB.
 *
 * On one hart. A task of higher priority wakes at a tick, in the middle of the clearing, sees
 * how far it has come, kills, and looks again at the end. Without an MMU it can read the run
 * whoever has it.
 */
#include "run.h"
#include "stats.h"

#define CANARY		0xc5
#define STEP		(64 * KIB)
#define SCHED_OTHER	0
#define SCHED_FIFO	1

#define look(var)	__atomic_load_n(&(var), __ATOMIC_ACQUIRE)
#define tell(var, val)	__atomic_store_n(&(var), (val), __ATOMIC_RELEASE)

static struct {
	int fd;
	size_t len;
	unsigned long long start;
	unsigned char *p;
} victim;

static void schedule(int policy, int priority)
{
	if (syscall(__NR_sched_setscheduler, 0, policy, &priority))
		ksft_exit_fail_perror("sched_setscheduler");
}

/* Maps at the moment it is told, and should not live to see the mapping. */
static int maps(void *unused)
{
	schedule(SCHED_OTHER, 0);
	while (now_ns() < look(victim.start))
		;
	tell(victim.p, map(victim.fd, SHARED, victim.len));
	for (;;)
		sleep_ms(1000);
	return !!unused;
}

/* Starts a task that maps @before nanoseconds before the tick at which this one goes on. */
static pid_t maps_before_tick(size_t len, unsigned long long before)
{
	static struct stack stack;
	struct timespec tick;
	pid_t pid;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	/* A sleep ends at a tick; the next but one is far enough away. */
	sleep_ms(1);
	victim.len = len;
	victim.p = NULL;
	tell(victim.start, now_ns() + 2 * tick.tv_nsec - before);
	pid = spawn(THREAD, &stack, maps, NULL);
	sleep_ms(tick.tv_nsec * 3 / 2 / 1000000);
	return pid;
}

/* How far @p has been cleared. */
static size_t cleared(const unsigned char *p, size_t len)
{
	return first_other(p, len, 0, 0);
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
	pid_t pid;

	victim.fd = open_pages();
	if (expect(p)) {
		fill(p, CANARY, len);
		munmap(p, len);
		/* The next mapping of this size gets that run. */
		pid = maps_before_tick(len, before);
		outcome.at_kill = cleared(p, len);
		kill(pid, SIGKILL);
		wait_status(pid);
		outcome.at_end = cleared(p, len);
		/* The two share their memory, so the mapping is still there, if there was one. */
		munmap(p, len);
	}
	close(victim.fd);
	close(writer);
	return outcome;
}

/* Kills at one moment after the other; some must be within the clearing. */
static bool stops_within_a_step(size_t len, unsigned long long step_ns)
{
	unsigned int within = 0;
	bool ok = true;
	int i;

	schedule(SCHED_FIFO, 10);
	for (i = 1; i <= 20; i++) {
		struct outcome outcome = kill_once(len, i * step_ns);
		size_t more = outcome.at_end - outcome.at_kill;

		drop_cached();
		if (outcome.at_kill == 0 || outcome.at_kill == len)
			continue;
		within++;
		if (more > STEP)
			ksft_print_msg("killed at %zu KiB of %zu, cleared to %zu KiB\n",
				       outcome.at_kill / KIB, len / KIB, outcome.at_end / KIB);
		ok &= more <= STEP;
	}
	schedule(SCHED_OTHER, 0);
	if (within < 5)
		ksft_print_msg("only %u of 20 came in time\n", within);
	return expect(within >= 5) && ok;
}

/* Up to 1 MiB is cleared within the core's lock, more on the way back to the program. */
static bool short_mapping(void)
{
	return stops_within_a_step(MIB, 4000);
}

static bool long_mapping(void)
{
	return stops_within_a_step(16 * MIB, 40000);
}

/* Nobody will unmap what was left half cleared, so nobody else reminds the device of it. */
static bool rest_is_cleared(void)
{
	long failures = figure(FAILURES);
	int i;

	victim.fd = open_pages();
	for (i = 1; i <= 20 && figure(FAILURES) == failures; i++) {
		pid_t pid;

		drop_cached();
		/* The worker has nothing to do, and knows. */
		sleep_ms(200);
		schedule(SCHED_FIFO, 10);
		pid = maps_before_tick(MIB, i * 4000);
		kill(pid, SIGKILL);
		schedule(SCHED_OTHER, 0);
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
	run_tests(tests, ARRAY_SIZE(tests));
}

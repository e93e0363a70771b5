// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that end, in every way there is, while they have mappings.
 */
#include <linux/ptrace.h>

#include "klog.h"
#include "place.h"
#include "run.h"
#include "worker.h"

#define LEN	(33 * KIB)
#define STAMP	0x3c
#define HUGE	(32 * MIB)
#define KILL_TRIES	10

/* Descriptors that a child finds. */
#define CHILD_DEVICE	10
#define CHILD_SAYS	11

/* What a child does once it has a mapping of each kind. */
enum ending {
	RETURN,
	CLOSE_AND_RETURN,
	EXEC,
	SEGFAULT,
	WAIT_FOR_KILL,
};

static bool map_all_kinds(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p = map(CHILD_DEVICE, &kinds[i], LEN);

		if (!p)
			return false;
		fill(p, STAMP, PAGE_UP(LEN));
	}
	return true;
}

static int child_ends(enum ending ending)
{
	char *empty[6] = { program_invocation_name, "child", "nothing", "0", "0", NULL };

	if (!map_all_kinds())
		return 1;
	switch (ending) {
	case RETURN:
		return 0;
	case CLOSE_AND_RETURN:
		return close(CHILD_DEVICE) != 0;
	case EXEC:
		return exec_args(empty);
	case SEGFAULT:
		/* The last page of the address space: no machine has memory there. */
#if defined(__riscv)
		asm volatile("sb zero, (%0)" : : "r"(-PAGE));
#else
		asm volatile("movb $0, (%0)" : : "r"(-PAGE));
#endif
		return 1;
	case WAIT_FOR_KILL:
		signal_other(CHILD_SAYS);
		for (;;)
			sleep_ms(1000);
	}
	return 1;
}

static int run_child(const char *role, long arg, int *from)
{
	int fd = open_pages();
	int pipefd[2];
	pid_t pid;

	if (pipe(pipefd))
		return -1;
	dup2(fd, CHILD_DEVICE);
	dup2(pipefd[1], CHILD_SAYS);
	pid = start_child(role, arg, 0);
	close(CHILD_DEVICE);
	close(CHILD_SAYS);
	close(pipefd[1]);
	close(fd);
	if (from)
		*from = pipefd[0];
	else
		close(pipefd[0]);
	return pid;
}

static bool ends(enum ending ending, int status)
{
	return expect(wait_status(run_child("end", ending, NULL)) == status);
}

static bool plain_exit(void)
{
	return ends(RETURN, 0);
}

static bool exit_after_close(void)
{
	return ends(CLOSE_AND_RETURN, 0);
}

static bool exec_with_mappings(void)
{
	return ends(EXEC, 0);
}

static bool segmentation_fault(void)
{
	return ends(SEGFAULT, SIGSEGV);
}

static bool killed_while_idle(void)
{
	int from;
	pid_t pid = run_child("end", WAIT_FOR_KILL, &from);
	bool ok = expect(wait_other(from)) && expect(!kill(pid, SIGKILL)) &&
		  expect(wait_status(pid) == SIGKILL);

	close(from);
	return ok;
}

static bool hundred_exits(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < 100; i++)
		ok = ends(i & 1 ? RETURN : EXEC, 0);
	return ok;
}

/* Where the child's mapping lies in memory, and how long it took before. */
struct report {
	unsigned long place;
	unsigned long long whole;
};

/*
 * Where the kernel has no high-resolution timers they fire at ticks only: waits
 * until @before nanoseconds before one.
 */
static void wait_before_tick(unsigned long long before)
{
	struct timespec tick;
	unsigned long long now;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	/* A sleep ends behind a tick. */
	sleep_ms(20);
	now = last_tick_ns();
	while (now_ns() + before < now + tick.tv_nsec)
		;
}

/*
 * A huge zeroed mapping, undisturbed at first, to see how long it takes. Then with a timer
 * that kills the process after the first quarter. All of it is in the run that it has
 * unmapped before, and that holds no zeros.
 */
static int child_huge(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec spec = { 0 };
	struct report report;
	unsigned char *p;
	timer_t timer;

	if (!dirty(CHILD_DEVICE, SHARED_UNCLEARED, HUGE, STAMP) ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	report.whole = now_ns();
	p = map(CHILD_DEVICE, SHARED, HUGE);
	report.whole = now_ns() - report.whole;
	if (!p || !all_bytes(p, HUGE, 0))
		return 2;
	report.place = place_of(p, SHARED);
	fill(p, STAMP, HUGE);
	munmap(p, HUGE);
	write(CHILD_SAYS, &report, sizeof(report));

	wait_before_tick(report.whole / 4);
	spec.it_value.tv_nsec = report.whole / 8;
	timer_settime(timer, 0, &spec, NULL);
	map(CHILD_DEVICE, SHARED, HUGE);
	for (;;)
		sleep_ms(1000);
}

/* How much was cleared of a mapping that was to be killed after its first quarter. */
static size_t cleared_until_killed(void)
{
	struct report report = { 0 };
	size_t cleared = 0;
	int from;

	if (expect(wait_status(run_child("huge", 0, &from)) == SIGKILL) &&
	    expect(read(from, &report, sizeof(report)) == sizeof(report)))
		cleared = zeros_at(report.place, HUGE);
	close(from);
	return cleared;
}

/*
 * That, and no clock, tells when it ended; pages_kill looks more closely. The memory can be
 * read here, and this task runs before the device may clear in the background.
 * Where instructions are not counted the signal may come late: tried again. Who does not look
 * at signals clears all of it each time.
 */
static bool killed_while_clearing(void)
{
	int tries = counts_instructions() ? 1 : KILL_TRIES;
	size_t cleared;

	do {
		cleared = cleared_until_killed();
	} while ((!cleared || cleared > HUGE / 2) && --tries);
	if (!tries)
		ksft_print_msg("%zu KiB of %lu were cleared\n", cleared / KIB, HUGE / KIB);
	return expect(tries);
}

/*
 * A mapping that is cleared before the core is done with it takes 50 us where
 * instructions are counted. The timer comes at one moment after the other, so that some
 * are within.
 */
#define SMALL		MIB
#define MOMENTS		40
#define MOMENT_NS	4000

static int child_small(unsigned long moment_ns)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec spec = { .it_value.tv_nsec = moment_ns / 2 };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return 1;
	drop_caches();
	wait_before_tick(moment_ns);
	timer_settime(timer, 0, &spec, NULL);
	map(CHILD_DEVICE, SHARED, SMALL);
	for (;;)
		sleep_ms(1000);
}

static bool killed_at_each_moment(void)
{
	long failures = statistic("failures");
	bool ok = true;
	long i;

	for (i = 1; ok && i <= MOMENTS; i++)
		ok = expect(wait_status(run_child("small", i * MOMENT_NS, NULL)) == SIGKILL);
	/* A mapping that was given up counts as a failure. */
	return ok && expect(statistic("failures") > failures);
}

/* Shares its parent's memory: what it maps is there when it is gone. */
struct shared_map {
	unsigned char *p;
	bool ok;
};

static int vfork_maps(void *arg)
{
	struct shared_map *result = arg;
	int fd = open(DEVICE, O_RDWR);

	result->p = map(fd, SHARED, LEN);
	if (result->p)
		fill(result->p, STAMP, PAGE_UP(LEN));
	return 0;
}

static bool vfork_child_maps(void)
{
	static struct stack stack;
	struct shared_map result = { 0 };
	int fd = open_pages();
	bool ok = expect(ended_well(spawn(VFORK, &stack, vfork_maps, &result))) &&
		  expect(result.p) && expect(dirty(fd, SHARED, LEN, 0)) &&
		  expect(all_bytes(result.p, PAGE_UP(LEN), STAMP)) &&
		  expect(!munmap(result.p, LEN));

	close(fd);
	return ok;
}

static int vfork_unmaps(void *arg)
{
	return munmap(arg, LEN) != 0;
}

static bool vfork_child_unmaps(void)
{
	static struct stack stack;
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok = expect(p) && expect(ended_well(spawn(VFORK, &stack, vfork_unmaps, p))) &&
		  expect(fd_count(fd, "mappings:") == 0) &&
		  /* With an MMU that is no error where nothing is mapped. */
		  expect(has_mmu() || munmap(p, LEN) < 0);

	close(fd);
	return ok;
}

/*
 * A debugger must be able to write to what it debugs, so the core does not let a
 * traced process overlay the device, but asks for a copy.
 */
static int traced_maps(void *arg)
{
	struct shared_map *result = arg;
	int fd = open(DEVICE, O_RDWR);
	unsigned char *p[3];
	size_t i, j;

	result->ok = !ptrace(PTRACE_TRACEME, 0, NULL, NULL) &&
		     dirty(fd, SHARED, LEN, STAMP);
	for (i = 0; result->ok && i < ARRAY_SIZE(p); i++) {
		p[i] = map(fd, i == 1 ? SHARED : PRIVATE_READ_ONLY, LEN);
		result->ok = p[i] && all_bytes(p[i], PAGE_UP(LEN), 0);
		for (j = 0; result->ok && j < i; j++)
			result->ok = p[i] != p[j];
		if (result->ok)
			fill(p[i], STAMP, PAGE_UP(LEN));
	}
	for (i = 0; result->ok && i < ARRAY_SIZE(p); i++)
		result->ok = !munmap(p[i], LEN);
	return 0;
}

static bool traced_process(void)
{
	static struct stack stack;
	struct shared_map result = { 0 };
	int fd = open_pages();
	int klog = klog_open(true);
	unsigned char *p = map(fd, PRIVATE_READ_ONLY, LEN);
	bool ok = expect(p) && expect(all_bytes(p, PAGE_UP(LEN), 0)) &&
		  expect(ended_well(spawn(VFORK, &stack, traced_maps, &result))) &&
		  expect(result.ok) && expect(all_bytes(p, PAGE_UP(LEN), 0)) &&
		  expect(!munmap(p, LEN)) && expect(klog_silent(klog));

	close(klog);
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "exit with a mapping of each kind", plain_exit },
	{ "exit with mappings whose descriptor is closed", exit_after_close },
	{ "exec with a mapping of each kind", exec_with_mappings },
	{ "SIGSEGV with a mapping of each kind", segmentation_fault },
	{ "SIGKILL with a mapping of each kind", killed_while_idle },
	{ "100 processes exit or exec with mappings", hundred_exits },
	{ "SIGKILL ends a 32 MiB zeroed mapping in the middle", killed_while_clearing },
	{ "SIGKILL at 40 moments of a 1 MiB zeroed mapping", killed_at_each_moment },
	{ "a vfork child's mapping outlives it", vfork_child_maps },
	{ "a vfork child unmaps its parent's mapping", vfork_child_unmaps },
	{ "private read-only mapping of a traced process: zeroed memory of its own",
	  traced_process },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv)) {
		if (!strcmp(argv[2], "end"))
			return child_ends(atoi(argv[3]));
		if (!strcmp(argv[2], "small"))
			return child_small(atol(argv[3]));
		return strcmp(argv[2], "huge") ? 0 : child_huge();
	}
	worker_runs_when_asleep();
	run_tests(tests, ARRAY_SIZE(tests));
}

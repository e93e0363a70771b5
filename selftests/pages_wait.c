// SPDX-License-Identifier: GPL-2.0
/*
 * How long others wait. All mmap() in the system wait while one of them is within the core's
 * lock. One task maps long pieces, again and again. Another, of higher priority, maps a page
 * now and then.  With an MMU the locks are those of a process, so the two are processes,
 * and what the core does has to put its memory there at once, as the device does.
 *
 * On one hart it wakes at a tick, wherever the first task is. Instructions are counted, so the
 * longest wait is a matter of what is executed under the lock, and not of luck. On two harts
 * ("smp") the host has its share in what is longest, and what is in the middle is judged.
 */
#include "run.h"
#include "stats.h"
#include "worker.h"

#define ROUNDS		50
#define SMALL_RUNS	200
/* Nobody waits for a lock there; what is left is how far the core's own figures repeat. */
#define MMU_SLACK	2

#define look(var)	__atomic_load_n(&(var), __ATOMIC_ACQUIRE)
#define tell(var, val)	__atomic_store_n(&(var), (val), __ATOMIC_RELEASE)

/**
 * struct work - what the first task does
 * @name: how reports call it
 * @len: what it maps
 * @anonymous: from the core, else from the device, zeroed
 * @fresh: nothing waits for reuse
 * @beside: runs of odd sizes wait, and so much that they have to go for it
 */
struct work {
	const char *name;
	size_t len;
	bool anonymous;
	bool fresh;
	bool beside;
};

static const struct work core = { "4 MiB of anonymous memory", 4 * MIB, true, false, false };

static const struct work works[] = {
	{ "64 MiB of /dev/pages, recycled", 64 * MIB, false, false, false },
	{ "64 MiB of /dev/pages, new", 64 * MIB, false, true, false },
	{ "64 MiB of /dev/pages in place of 200 small runs", 64 * MIB, false, true, true },
	{ "5 MiB + 12 KiB of /dev/pages, new", 5 * MIB + 12 * KIB, false, true, false },
	{ "1 MiB of /dev/pages, recycled", MIB, false, false, false },
};

/* What the two tasks share. */
static struct other {
	const struct work *work;
	bool over;
	bool failed;
	unsigned long rounds;
	int fd;
} one_memory, *other = &one_memory;

static bool smp;

static void small_runs_wait(void)
{
	static unsigned char *p[SMALL_RUNS];
	int i;

	for (i = 0; i < SMALL_RUNS; i++)
		p[i] = map(other->fd, SHARED_UNCLEARED, 196 * KIB);
	for (i = 0; i < SMALL_RUNS; i++)
		if (p[i])
			munmap(p[i], 196 * KIB);
		else
			other->failed = true;
}

static int maps_long(void *unused)
{
	const struct work *work = other->work;

	schedule(SCHED_OTHER, 0);
	while (!look(other->over)) {
		void *p;

		if (work->fresh)
			drop_cached();
		if (work->beside)
			small_runs_wait();
		p = work->anonymous ?
			mmap(NULL, work->len, PROT_RW,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) :
			map(other->fd, SHARED, work->len);
		if (p && p != MAP_FAILED)
			munmap(p, work->len);
		else
			other->failed = true;
		other->rounds++;
	}
	return !!unused;
}

static void sort(unsigned long long *values, size_t count)
{
	size_t i, j;

	for (i = 1; i < count; i++)
		for (j = i; j && values[j] < values[j - 1]; j--) {
			unsigned long long value = values[j];

			values[j] = values[j - 1];
			values[j - 1] = value;
		}
}

/* How long it takes to map a page beside @work, in nanoseconds: what is judged of it. */
static unsigned long long wait_beside(const struct work *work)
{
	static unsigned long long took[ROUNDS];
	static struct stack stack;
	pid_t pid;
	size_t i;

	other->work = work;
	other->rounds = 0;
	tell(other->over, false);
	pid = has_mmu() ? fork() : spawn(THREAD, &stack, maps_long, NULL);
	if (pid == 0)
		_exit(maps_long(NULL));
	for (i = 0; i < ROUNDS; i++) {
		unsigned long long start;
		void *p;

		sleep_ms(1);
		start = now_ns();
		p = mmap(NULL, PAGE, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		took[i] = now_ns() - start;
		other->failed |= p == MAP_FAILED || munmap(p, PAGE);
	}
	tell(other->over, true);
	other->failed |= !ended_well(pid) || !other->rounds;
	sort(took, ROUNDS);
	ksft_print_msg("beside %s: %llu us, half of the time %llu us\n", work->name,
		       took[ROUNDS - 1] / 1000, took[ROUNDS / 2] / 1000);
	return took[smp ? ROUNDS / 2 : ROUNDS - 1];
}

static bool not_longer_than_core(void)
{
	unsigned long long limit;
	bool ok = true;
	size_t i;

	other->failed = false;
	other->fd = open_pages();
	schedule(SCHED_FIFO, 10);
	limit = wait_beside(&core);
	for (i = 0; i < ARRAY_SIZE(works); i++)
		/* Memory is in pieces then, where none of it can be moved. */
		if (!works[i].beside || !has_mmu())
			ok &= expect(wait_beside(&works[i]) <=
				     limit * (has_mmu() ? MMU_SLACK : 1));
	schedule(SCHED_OTHER, 0);
	close(other->fd);
	return expect(!other->failed) && ok;
}

static const struct test tests[] = {
	{ "nobody waits longer beside 64 MiB of /dev/pages than beside 4 MiB of the core's",
	  not_longer_than_core },
};

int main(int argc, char **argv)
{
	smp = !counts_instructions() || (argc > 1 && !strcmp(argv[1], "smp"));
	if (has_mmu())
		other = mmap(NULL, PAGE, PROT_RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	run_tests(tests, ARRAY_SIZE(tests));
}

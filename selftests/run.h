/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a table of tests.  Each of them must also give back all memory.
 */
#ifndef SELFTESTS_RUN_H
#define SELFTESTS_RUN_H

#include "memory.h"
#include "process.h"

/* More than any test takes; the linker has left 128 KiB. */
#define STACK_BYTES	(64 * KIB)

struct test {
	const char *name;
	bool (*run)(void);
	const char *skip_with_mmu;	/* why it makes no sense there */
};

/* For that. */
#define NO_OPT_OUT	"with an MMU nothing opts out of the clearing"

static inline int return_zero(void *unused)
{
	return !!unused;
}

/*
 * What happens the first time only (slab caches, a worker thread, the buffers
 * behind /proc) must not look like a leak of the first test.
 */
static inline void warm_up(void)
{
	static struct stack stack;
	int fd = open(DEVICE, O_RDWR);
	size_t i;

	/* With an MMU, too, all memory of the test is there from the start. */
	if (has_mmu()) {
		unsigned char deep[STACK_BYTES];

		fill(deep, 0, sizeof(deep));
		if (syscall(__NR_mlockall, MCL_CURRENT | MCL_FUTURE))
			ksft_exit_fail_perror("mlockall");
	}

	/* The tests of the module itself load it later. */
	for (i = 0; fd >= 0 && i < ARRAY_SIZE(kinds); i++)
		dirty(fd, &kinds[i], PAGE, 0);
	close(fd);
	/* From now on, dropping caches leaves no line in the log. */
	write_file(DROP_CACHES, DROP_SILENTLY);
	ended_well(spawn(VFORK, &stack, return_zero, NULL));
	settled_free_pages();
}

/* The guest's init has been told when to start: each boot goes the same way. */
static inline bool counts_instructions(void)
{
	return !access("/guest/settle", F_OK);
}

/* How long mmap() takes; of several times the shortest tells most. */
static inline unsigned long long time_to_map(int fd, const struct kind *kind, size_t len)
{
	unsigned long long start = now_ns();
	unsigned char *p = map(fd, kind, len);

	start = now_ns() - start;
	return expect(p) && expect(!munmap(p, len)) ? start : -1ULL;
}

static inline void shortest(unsigned long long *least, unsigned long long ns)
{
	if (ns < *least)
		*least = ns;
}

/* Runs one test that has no function of its own, and looks at the memory. */
static inline bool run_test(bool (*run)(void))
{
	long before = settled_free_pages();
	bool ok = run();

	return memory_is_back(before) && ok;
}

static inline void run_tests(const struct test *tests, unsigned int count)
{
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(count);
	warm_up();
	for (i = 0; i < count; i++) {
		if (tests[i].skip_with_mmu && has_mmu())
			ksft_test_result_skip("%s: %s\n", tests[i].name, tests[i].skip_with_mmu);
		else
			ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	}
	ksft_finished();
}

#endif /* SELFTESTS_RUN_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Two harts map and unmap against each other.  A run that is handed out again
 * before the core has forgotten the old mapping stops the machine (BUG at
 * add_nommu_region()); a run that is handed out twice shows a foreign stamp.
 *
 * An argument is the number of pairs of mmap() and munmap() for each hart.
 */
#include "run.h"

#define CHILD_DEVICE	10

static long pairs = 100000;

static const size_t sizes[] = { PAGE, 2 * PAGE, 3 * PAGE, 33 * KIB, 64 * KIB };

/* Stamps the first and the last word of each page. */
static bool stamp_holds(unsigned char *p, size_t len, unsigned long stamp, int pause)
{
	const size_t words = PAGE / sizeof(stamp);
	unsigned long *first = (unsigned long *)p;
	unsigned long *end = (unsigned long *)(p + PAGE_UP(len));
	unsigned long *page;

	for (page = first; page < end; page += words) {
		page[0] = stamp;
		page[words - 1] = ~stamp;
	}
	while (pause--)
		asm volatile("nop");
	for (page = first; page < end; page += words)
		if (page[0] != stamp || page[words - 1] != ~stamp)
			return false;
	return true;
}

/* Returns 0, or which promise broke. */
static int hammer(int fd, size_t kind_step, unsigned long who)
{
	long i;

	for (i = 0; i < pairs; i++) {
		/* The direct kinds at the front of the table, by turns if asked to. */
		const struct kind *kind = &kinds[i * kind_step % 3];
		size_t len = sizes[i % ARRAY_SIZE(sizes)];
		unsigned char *p = map(fd, kind, len);

		if (!p)
			return 1;
		if (!kind->uncleared && !all_bytes(p, 64, 0))
			return 2;
		if (!stamp_holds(p, len, who << 32 | i, i % 64))
			return 3;
		if (munmap(p, len))
			return 4;
	}
	return 0;
}

static const char * const broken[] = {
	"nothing", "mmap() failed", "a zeroed mapping is not zero", "a stamp changed",
	"munmap() failed",
};

static bool race(bool same_file, size_t kind_step)
{
	int fd = open_pages();
	int own = same_file ? fd : open_pages();
	int here, there;
	pid_t pid;

	dup2(fd, CHILD_DEVICE);
	pid = start_child("hammer", kind_step, pairs);
	here = hammer(own, kind_step, 1);
	there = wait_status(pid) >> 8;
	if (here || there)
		ksft_print_msg("here: %s; in the other process: %s\n", broken[here],
			       there < (int)ARRAY_SIZE(broken) ? broken[there] : "crashed");
	close(CHILD_DEVICE);
	close(fd);
	if (!same_file)
		close(own);
	return !here && !there;
}

static bool same_open_file(void)
{
	return race(true, 0);
}

static bool two_open_files(void)
{
	return race(false, 1);
}

static int hammer_thread(void *arg)
{
	return hammer(*(int *)arg, 1, 2);
}

static bool two_threads(void)
{
	static struct stack stack;
	int fd = open_pages();
	pid_t pid = spawn(THREAD, &stack, hammer_thread, &fd);
	bool ok = expect(hammer(fd, 1, 1) == 0);

	ok &= expect(ended_well(pid));
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "pairs, zeroed, two processes on one open file", same_open_file },
	{ "pairs, zeroed and uncleared, an open file each", two_open_files },
	{ "pairs, two threads of one process", two_threads },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv)) {
		pairs = atol(argv[4]);
		return hammer(CHILD_DEVICE, atol(argv[3]), 3);
	}
	if (argc > 1)
		pairs = atol(argv[1]);
	run_tests(tests, ARRAY_SIZE(tests));
}

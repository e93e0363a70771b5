// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings in which each allocation fails in turn, the core's own included: the last
 * of them comes when the device has given its memory away already.
 *
 * Needs a kernel with the options of config.debug, so it is not among the boots of
 * `make test`.
 */
#include "run.h"

#define STAMP		0xa5
#define MAX_FAULTS	100

static const size_t sizes[] = { PAGE, 33 * KIB, MIB, 4 * MIB, 5 * MIB };

/* Number of the allocation of this task that is to fail; 0 for none. */
static int fail_nth;

static void fail_allocation(int nth)
{
	char text[16];

	if (syscall(__NR_pwrite64, fail_nth, text, snprintf(text, sizeof(text), "%d", nth), 0L) < 0)
		ksft_exit_fail_perror("fail-nth");
}

/* Did the allocation fail that was to fail?  Else there were fewer. */
static bool has_failed(void)
{
	char text[16] = "";

	syscall(__NR_pread64, fail_nth, text, sizeof(text) - 1, 0L);
	return atoi(text) == 0;
}

/* Unmaps, though allocations fail: what could not be unmapped is still there. */
static bool unmap_with_faults(unsigned char *p, size_t len)
{
	int nth;
	bool done = false;

	for (nth = 1; !done && nth < MAX_FAULTS; nth++) {
		fail_allocation(nth);
		done = !munmap(p, len);
		fail_allocation(0);
		if (!done && !expect(errno == ENOMEM))
			break;
		if (!done)
			fill(p, STAMP, PAGE_UP(len));
	}
	return expect(done);
}

/*
 * Maps once with the @nth allocation failing. Returns false where a promise broke;
 * *@more tells whether there was such an allocation.
 */
static bool map_with_fault(int fd, const struct kind *kind, size_t len, int nth, bool *more)
{
	unsigned char *p;
	bool ok;

	fail_allocation(nth);
	p = map(fd, kind, len);
	*more = has_failed();
	fail_allocation(0);
	if (p)
		ok = expect(kind->uncleared || all_bytes(p, PAGE_UP(len), 0)) &&
		     unmap_with_faults(p, len);
	else
		ok = expect(errno == ENOMEM) && expect(*more);
	return expect(fd_count(fd, "mappings:") == 0) && ok;
}

/* With a run that waits for reuse, or with none, so that the device has to allocate. */
static bool each_allocation_fails(const struct kind *kind, size_t len, bool reuse)
{
	int fd = open_pages();
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++) {
		write_file(DROP_CACHES, DROP_SLAB);
		if (reuse)
			ok = expect(dirty(fd, kind, len, STAMP));
		ok = ok && map_with_fault(fd, kind, len, nth, &more);
	}
	if (!ok)
		ksft_print_msg("%zu bytes, allocation %d\n", len, nth - 1);
	close(fd);
	/* The first allocation is the core's, so there is always one that fails. */
	return ok && expect(!more) && expect(nth > 2);
}

static bool all_sizes(const struct kind *kind, bool reuse)
{
	bool ok = true;
	size_t i;

	/* The core makes copies of at most 4 MiB. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (kind->direct || sizes[i] <= 4 * MIB)
			ok &= each_allocation_fails(kind, sizes[i], reuse);
	return ok;
}

static void test_kind(const struct kind *kind)
{
	long before = settled_free_pages();
	bool ok = all_sizes(kind, false) && memory_is_back(before);

	ksft_test_result(ok, "%s: each allocation fails, new memory\n", kind->name);
	ok = all_sizes(kind, true) && memory_is_back(before);
	ksft_test_result(ok, "%s: each allocation fails, memory that was used before\n",
			 kind->name);
}

/* All allocations may fail, those that can wait included; without a trace each. */
static void set_up_faults(const char *dir)
{
	static const char * const settings[][2] = {
		{ "ignore-gfp-wait", "N" },
		{ "verbose", "0" },
	};
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", dir, settings[i][0]);
		write_file(path, settings[i][1]);
	}
}

int main(void)
{
	size_t i;

	ksft_print_header();
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		ksft_exit_skip("the kernel lacks the options of config.debug\n");
	ksft_set_plan(ARRAY_SIZE(kinds) * 2);
	warm_up();
	set_up_faults("failslab");
	set_up_faults("fail_page_alloc");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	/* The core says in the log what it could not get. */
	write_file("/proc/sys/kernel/printk", "1");

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i]);
	ksft_finished();
}

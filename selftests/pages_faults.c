// SPDX-License-Identifier: GPL-2.0
/*
 * Opening, mapping, unmapping and closing while each allocation fails in turn, the
 * core's own included: the last of them comes when the device has given its memory
 * away already.  Then everything must work as before.
 *
 * Needs a kernel with the options of config.debug.
 */
#include "faults.h"

#define STAMP		0xa5

static const size_t sizes[] = { PAGE, 33 * KIB, MIB, 4 * MIB, 5 * MIB };

/* Is the device as good as before?  A mapping is zero, holds what is written, and goes. */
static bool is_usable(int fd)
{
	unsigned char *p = map(fd, SHARED, 33 * KIB);
	bool ok = expect(p) && expect(all_bytes(p, 36 * KIB, 0));

	if (p) {
		fill(p, STAMP, 36 * KIB);
		ok &= expect(all_bytes(p, 36 * KIB, STAMP)) && expect(!munmap(p, 33 * KIB));
	}
	return ok && expect(fd_count(fd, "mappings:") == 0);
}

/* Unmaps, though allocations fail: what could not be unmapped is still there. */
static bool unmap_with_faults(unsigned char *p, size_t len)
{
	bool done = false;
	bool more = true;
	int nth;

	for (nth = 1; !done && more && nth < MAX_FAULTS; nth++) {
		fail_allocation(nth);
		done = !munmap(p, len);
		more = has_failed(AT_UNMAP);
		if (!done && !(expect(errno == ENOMEM) && expect(more)))
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
	*more = has_failed(AT_MAP);
	if (p)
		ok = expect(kind->uncleared || all_bytes(p, PAGE_UP(len), 0)) &&
		     unmap_with_faults(p, len);
	else
		ok = expect(errno == ENOMEM) && expect(*more);
	return expect(fd_count(fd, "mappings:") == 0) && is_usable(fd) && ok;
}

/* With a run that waits for reuse, or with none, so that the device has to allocate. */
static bool each_allocation_fails(const struct kind *kind, size_t len, bool reuse)
{
	int fd = open_pages();
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++) {
		drop_caches();
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

/* Nothing that close() needs can fail to be had: it always succeeds. */
static bool close_with_faults(void)
{
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++) {
		int fd = open_pages();

		ok = expect(dirty(fd, SHARED, 33 * KIB, STAMP));
		fail_allocation(nth);
		ok &= expect(!close(fd));
		more = has_failed(AT_CLOSE);
	}
	return ok && expect(!more);
}

static bool open_with_faults(void)
{
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++) {
		int fd;

		fail_allocation(nth);
		fd = open(DEVICE, O_RDWR);
		more = has_failed(AT_OPEN);
		if (fd < 0) {
			ok = expect(errno == ENOMEM) && expect(more);
			fd = open_pages();
		}
		ok = ok && is_usable(fd);
		close(fd);
	}
	return ok && expect(!more) && expect(nth > 2);
}

static const struct test tests[] = {
	{ "open(): each allocation fails", open_with_faults },
	{ "close(): each allocation fails", close_with_faults },
};

int main(void)
{
	size_t i;

	ksft_print_header();
	set_up_faults();
	ksft_set_plan(ARRAY_SIZE(kinds) * 2 + ARRAY_SIZE(tests) + 1);
	warm_up();

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i]);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	report_faults();
	ksft_finished();
}

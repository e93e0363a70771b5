// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/PID/fdinfo/FD counts the live mappings of one open file, and their bytes.
 */
#include "run.h"

static bool counts(int fd, long mappings, long bytes)
{
	long have_mappings = fd_count(fd, "mappings:");
	long have_bytes = fd_count(fd, "mapped_bytes:");
	bool ok = have_mappings == mappings && have_bytes == bytes;

	if (!ok)
		ksft_print_msg("%ld mappings, %ld bytes; expected %ld, %ld\n",
			       have_mappings, have_bytes, mappings, bytes);
	return ok;
}

static bool starts_at_zero(void)
{
	int fd = open_pages();
	bool ok = expect(counts(fd, 0, 0));

	close(fd);
	return ok;
}

static bool one_of_each_kind(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p = map(fd, &kinds[i], 5000);
		bool direct = kinds[i].direct;

		ok &= expect(p) && expect(counts(fd, direct, direct ? 2 * PAGE : 0)) &&
		      expect(!munmap(p, 5000)) && expect(counts(fd, 0, 0));
	}
	close(fd);
	return ok;
}

static bool sums(void)
{
	static const size_t sizes[] = { 1, PAGE, 33 * KIB, 64 * KIB, MIB, 4 * MIB, 5 * MIB };
	unsigned char *p[ARRAY_SIZE(sizes)];
	int fd = open_pages();
	bool ok = true;
	long bytes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = map(fd, &kinds[i % 3], sizes[i]);
		bytes += PAGE_UP(sizes[i]);
		ok &= expect(p[i]) && expect(counts(fd, i + 1, bytes));
	}
	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++) {
		bytes -= PAGE_UP(sizes[i]);
		ok &= expect(!munmap(p[i], sizes[i])) &&
		      expect(counts(fd, ARRAY_SIZE(sizes) - 1 - i, bytes));
	}
	close(fd);
	return ok;
}

static bool failures(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, PAGE);
	bool ok = expect(p) &&
		  expect(!map(fd, SHARED, 1UL << 32)) && expect(counts(fd, 1, PAGE)) &&
		  expect(!map(fd, SHARED, 0)) && expect(counts(fd, 1, PAGE)) &&
		  expect(mmap(NULL, PAGE, PROT_RW, MAP_SHARED, fd, PAGE) == MAP_FAILED) &&
		  expect(counts(fd, 1, PAGE)) && expect(!munmap(p, PAGE)) &&
		  expect(counts(fd, 0, 0));

	close(fd);
	return ok;
}

static bool one_file_each(void)
{
	int fd1 = open_pages();
	int fd2 = open_pages();
	int copy = dup(fd1);
	unsigned char *p = map(fd1, SHARED, 3 * PAGE);
	bool ok = expect(p) && expect(counts(fd1, 1, 3 * PAGE)) &&
		  expect(counts(copy, 1, 3 * PAGE)) && expect(counts(fd2, 0, 0)) &&
		  expect(!munmap(p, 3 * PAGE)) && expect(counts(copy, 0, 0));

	close(copy);
	close(fd2);
	close(fd1);
	return ok;
}

/* The child maps on the parent's open file, and its end takes the mapping away. */
#define CHILD_DEVICE	10
#define CHILD_SAYS	11
#define CHILD_HEARS	12

static int child(size_t len)
{
	return !(map(CHILD_DEVICE, SHARED, len) && signal_other(CHILD_SAYS) &&
		 wait_other(CHILD_HEARS));
}

static bool other_process(void)
{
	int fd = open_pages();
	int from[2], to[2];
	pid_t pid;
	bool ok;

	if (!expect(!pipe(from) && !pipe(to)))
		return false;
	dup2(fd, CHILD_DEVICE);
	dup2(from[1], CHILD_SAYS);
	dup2(to[0], CHILD_HEARS);
	pid = start_child("map", 3 * PAGE, 0);
	close(CHILD_DEVICE);
	close(CHILD_SAYS);
	close(CHILD_HEARS);
	ok = expect(wait_other(from[0])) && expect(counts(fd, 1, 3 * PAGE)) &&
	     expect(signal_other(to[1])) && expect(ended_well(pid)) &&
	     expect(counts(fd, 0, 0));
	close(from[0]);
	close(from[1]);
	close(to[0]);
	close(to[1]);
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "a fresh open file has no mapping", starts_at_zero },
	{ "each kind: whole pages count, copies do not", one_of_each_kind },
	{ "mappings of many sizes add up and go again", sums },
	{ "failing mappings do not count", failures },
	{ "each open file has its own count, duplicates share one", one_file_each },
	{ "another process's mapping counts until it ends", other_process },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child(atol(argv[3]));
	run_tests(tests, ARRAY_SIZE(tests));
}

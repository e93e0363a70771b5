// SPDX-License-Identifier: GPL-2.0
/*
 * The largest mappings there can be. The limit max_bytes= must be far above the
 * memory. With an argument, a size in bytes, only one mapping of that size is tested.
 */
#include <linux/sysinfo.h>

#include "klog.h"
#include "run.h"
#include "stats.h"

#define WORDS	(PAGE / sizeof(unsigned long))

/* Fills @p by copies of a page whose first word is the page's number. */
static void fill_by_pages(unsigned char *p, size_t len)
{
	static unsigned long source[WORDS];
	size_t page, i;

	for (i = 0; i < WORDS; i++)
		source[i] = i * 0x9e3779b97f4a7c15UL;
	for (page = 0; page < len / PAGE; page++) {
		unsigned long *to = (unsigned long *)(p + page * PAGE);

		source[0] = page;
		for (i = 0; i < WORDS; i += 4) {
			to[i] = source[i];
			to[i + 1] = source[i + 1];
			to[i + 2] = source[i + 2];
			to[i + 3] = source[i + 3];
			/* Or the compiler makes a call of memcpy() of it. */
			asm volatile("" : : : "memory");
		}
	}
}

/* Looks at each page's first and last word, and at all of every 16th page. */
static bool is_filled(const unsigned char *p, size_t len)
{
	size_t page, i;

	for (page = 0; page < len / PAGE; page++) {
		const unsigned long *from = (const unsigned long *)(p + page * PAGE);

		if (from[0] != page)
			return false;
		for (i = page % 16 ? WORDS - 1 : 1; i < WORDS; i++)
			if (from[i] != i * 0x9e3779b97f4a7c15UL)
				return false;
	}
	return true;
}

static bool one_piece(size_t len)
{
	int fd = open_pages();
	int klog = klog_open(true);
	unsigned char *p = map(fd, SHARED_UNCLEARED, len);
	bool ok = expect(p);

	if (ok) {
		fill_by_pages(p, len);
		ok = expect(is_filled(p, len)) && expect(!munmap(p, len));
	}
	ok = ok && klog_silent(klog);
	close(klog);
	close(fd);
	return ok;
}

static size_t memory_free(void)
{
	struct sysinfo info;

	drop_cached();
	syscall(__NR_sysinfo, &info);
	return info.freeram;
}

/* Comes first: what others leave in memory splits it. */
static bool most_of_memory(void)
{
	size_t before = memory_free();
	int fd = open_pages();
	/* As in one_piece(), which is to find as many pages free: this one takes a few. */
	int klog = klog_open(true);
	size_t len = before & ~(MIB - 1);
	unsigned char *p;

	do {
		len -= MIB;
		p = map(fd, SHARED_UNCLEARED, len);
	} while (!p && len > MIB);
	if (p)
		munmap(p, len);
	close(klog);
	close(fd);
	ksft_print_msg("%zu MiB in one piece of %zu KiB free: %zu %%\n", len / MIB, before / KIB,
		       len * 100 / before);
	return expect(len * 100 >= before * 80) && one_piece(len);
}

/* Twice, also when what waits has to make room. */
static bool most_of_memory_again(void)
{
	size_t before = memory_free();
	size_t len = before / 100 * 70 & ~(MIB - 1);
	int fd = open_pages();
	bool ok = expect(dirty(fd, SHARED, 33 * MIB, 1)) && expect(dirty(fd, SHARED, PAGE, 1)) &&
		  one_piece(len);

	close(fd);
	return ok;
}

static const struct {
	size_t len;
	long pages;
} costs[] = {
	{ 5 * MIB + 12 * KIB, 1283 },
	{ 4 * MIB + 1, 1025 },
	{ 8 * MIB - PAGE, 2047 },
	{ 8 * MIB, 2048 },
	{ 33 * MIB + 4 * PAGE, 8452 },
};

/* The unused tail of the last block goes back at once. */
static bool tail_is_returned(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		long before = settled_free_pages();
		unsigned char *p = map(fd, SHARED, costs[i].len);
		long cost = before - settled_free_pages();

		if (cost != costs[i].pages)
			ksft_print_msg("%zu bytes cost %ld pages\n", costs[i].len, cost);
		ok &= expect(p) && expect(cost == costs[i].pages) &&
		      expect(!munmap(p, costs[i].len));
	}
	close(fd);
	return ok;
}

/* More than there is, in all kinds that are the device's, without a word in the log. */
static bool impossible_sizes(void)
{
	struct sysinfo info;
	int fd = open_pages();
	int klog = klog_open(true);
	long failures = figure(FAILURES);
	long tried = 0;
	bool ok = true;
	size_t i, j;

	syscall(__NR_sysinfo, &info);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t sizes[] = {
			info.freeram + MIB, info.totalram, info.totalram + 1,
			info.totalram * 2, 1UL << 40, 1UL << 46, 1UL << 62,
		};

		for (j = 0; kinds[i].direct && j < ARRAY_SIZE(sizes); j++) {
			ok &= expect(!map(fd, &kinds[i], sizes[j])) && expect(errno == ENOMEM);
			/* With an MMU an address space has no room for the last of them. */
			tried += !has_mmu() || sizes[j] < 1UL << 62;
		}
	}
	ok &= expect(figure(FAILURES) - failures == tried) && klog_silent(klog) &&
	      expect(dirty(fd, SHARED, 33 * MIB, 1));
	close(klog);
	close(fd);
	return ok;
}

static bool maps_a_little(void)
{
	unsigned char *p[16];
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = mmap(NULL, 64 * KIB, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ok &= expect(p[i] != MAP_FAILED);
	}
	for (i = 0; i < ARRAY_SIZE(p); i++)
		if (p[i] != MAP_FAILED)
			munmap(p[i], 64 * KIB);
	return ok;
}

/* Whatever the limit says, the kernel must not have to kill somebody for a page of its own. */
static bool some_is_left(void)
{
	static const size_t lens[] = { 4 * MIB, 256 * KIB, 16 * KIB, PAGE };
	static unsigned char *p[2000];
	static size_t len[ARRAY_SIZE(p)];
	static struct stack stack;
	int fd = open_pages();
	int klog = klog_open(true);
	size_t i, count = 0;
	bool ok;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		while (count < ARRAY_SIZE(p) && (p[count] = map(fd, SHARED_UNCLEARED, lens[i])))
			len[count++] = lens[i];
	ok = expect(count < ARRAY_SIZE(p)) && expect(errno == ENOMEM);
	for (i = 0; i < 100; i++)
		ok &= expect(ended_well(spawn(VFORK, &stack, return_zero, NULL)));
	ok &= maps_a_little();
	for (i = 0; i < count; i++)
		ok &= expect(!munmap(p[i], len[i]));
	ok &= klog_silent(klog);
	close(klog);
	close(fd);
	return ok;
}

static size_t wanted;

static bool wanted_size(void)
{
	return one_piece(wanted);
}

static const struct test tests[] = {
	{ "80 % of free memory in one piece, filled page by page", most_of_memory },
	{ "70 % of free memory in one piece when runs wait", most_of_memory_again },
	{ "beyond 4 MiB a mapping costs its own pages and no more", tail_is_returned },
	{ "impossible sizes are a silent ENOMEM, counted as failures", impossible_sizes },
	{ "when there is no more to be had, enough is left for others", some_is_left },
};

static const struct test size_tests[] = {
	{ "a mapping of that size in one piece, filled page by page", wanted_size },
};

int main(int argc, char **argv)
{
	if (argc > 1) {
		wanted = atol(argv[1]);
		run_tests(size_tests, ARRAY_SIZE(size_tests));
	}
	run_tests(tests, ARRAY_SIZE(tests));
}

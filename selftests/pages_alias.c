// SPDX-License-Identifier: GPL-2.0
/*
 * No two mappings share memory: not in one process, not in two, whatever their
 * kinds and lengths.  The core would share by inode and offset.
 */
#include "run.h"

#define FIRST	0x11
#define SECOND	0x22

/* Pages of the first and of the second mapping: equal, subset, superset, one page more. */
static const struct {
	const char *name;
	size_t first;
	size_t second;
} lengths[] = {
	{ "equal lengths", 4 * PAGE, 4 * PAGE },
	{ "second is shorter", 8 * PAGE, 3 * PAGE },
	{ "second is longer", 3 * PAGE, 8 * PAGE },
	{ "lengths differ within a page", 4 * PAGE, 4 * PAGE - 100 },
};

static bool apart(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
	return a + PAGE_UP(a_len) <= b || b + PAGE_UP(b_len) <= a;
}

/* Two mappings of one process; @swap: which of them goes first. */
static bool pair_in_one_process(int fd1, const struct kind *kind1, size_t len1,
				int fd2, const struct kind *kind2, size_t len2, bool swap)
{
	unsigned char *p1 = map(fd1, kind1, len1);
	unsigned char *p2 = map(fd2, kind2, len2);
	bool ok;

	if (!expect(p1 && p2) || !expect(apart(p1, len1, p2, len2)))
		return false;
	fill(p1, FIRST, PAGE_UP(len1));
	fill(p2, SECOND, PAGE_UP(len2));
	ok = expect(all_bytes(p1, PAGE_UP(len1), FIRST));
	if (swap) {
		ok &= expect(!munmap(p2, len2)) &&
		      expect(all_bytes(p1, PAGE_UP(len1), FIRST)) &&
		      expect(!munmap(p1, len1));
	} else {
		ok &= expect(!munmap(p1, len1)) &&
		      expect(all_bytes(p2, PAGE_UP(len2), SECOND)) &&
		      expect(!munmap(p2, len2));
	}
	return ok;
}

/* All pairs of kinds; a wrong one is named. */
static bool all_pairs(int fd1, int fd2, size_t len1, size_t len2)
{
	size_t i, j;
	int swap;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (j = 0; j < ARRAY_SIZE(kinds); j++)
			for (swap = 0; swap < 2; swap++) {
				if (pair_in_one_process(fd1, &kinds[i], len1,
							fd2, &kinds[j], len2, swap))
					continue;
				ksft_print_msg("'%s' with '%s'\n", kinds[i].name, kinds[j].name);
				return false;
			}
	return true;
}

static bool one_process(size_t len1, size_t len2, bool two_files)
{
	int fd1 = open_pages();
	int fd2 = two_files ? open_pages() : fd1;
	bool ok = all_pairs(fd1, fd2, len1, len2);

	close(fd1);
	if (two_files)
		close(fd2);
	return ok;
}

/*
 * The other process: maps, fills, says where, and looks again when all is done.
 * Its descriptors: 10 for the device, 11 to say, 12 to hear.
 */
#define CHILD_DEVICE	10
#define CHILD_SAYS	11
#define CHILD_HEARS	12

static int child(const struct kind *kind, size_t len)
{
	unsigned char *p = map(CHILD_DEVICE, kind, len);
	bool ok;

	if (!p)
		return 1;
	fill(p, SECOND, PAGE_UP(len));
	ok = write(CHILD_SAYS, &p, sizeof(p)) == sizeof(p) && wait_other(CHILD_HEARS) &&
	     all_bytes(p, PAGE_UP(len), SECOND);
	return !(ok && !munmap(p, len));
}

/* One mapping here, one in @pid; which of them is made first is @child_first. */
static bool pair_with_child(int fd, size_t kind1, size_t len1, size_t kind2, size_t len2,
			    bool child_first)
{
	unsigned char *p1 = NULL, *p2 = NULL;
	int from[2], to[2];
	bool ok;
	pid_t pid;

	if (!expect(!pipe(from) && !pipe(to)))
		return false;
	dup2(fd, CHILD_DEVICE);
	dup2(from[1], CHILD_SAYS);
	dup2(to[0], CHILD_HEARS);

	if (!child_first) {
		p1 = map(fd, &kinds[kind1], len1);
		if (!expect(p1))
			return false;
		fill(p1, FIRST, PAGE_UP(len1));
	}
	pid = start_child("map", kind2, len2);
	ok = expect(read(from[0], &p2, sizeof(p2)) == sizeof(p2));
	if (child_first) {
		p1 = map(fd, &kinds[kind1], len1);
		if (!expect(p1))
			return false;
		fill(p1, FIRST, PAGE_UP(len1));
	}
	ok = ok && expect(apart(p1, len1, p2, len2)) &&
	     expect(all_bytes(p1, PAGE_UP(len1), FIRST));
	ok &= signal_other(to[1]) && expect(ended_well(pid));
	/* The other one's end, mapping and all, must not have touched this one. */
	ok &= expect(all_bytes(p1, PAGE_UP(len1), FIRST)) && expect(!munmap(p1, len1));

	close(from[0]);
	close(from[1]);
	close(to[0]);
	close(to[1]);
	close(CHILD_DEVICE);
	close(CHILD_SAYS);
	close(CHILD_HEARS);
	return ok;
}

static bool two_processes(size_t len1, size_t len2)
{
	int fd = open_pages();
	bool ok = true;
	size_t i, j;

	for (i = 0; ok && i < ARRAY_SIZE(kinds); i++)
		for (j = 0; ok && j < ARRAY_SIZE(kinds); j++) {
			ok = pair_with_child(fd, i, len1, j, len2, (i + j) & 1);
			if (!ok)
				ksft_print_msg("'%s' with '%s'\n", kinds[i].name, kinds[j].name);
		}
	close(fd);
	return ok;
}

/* Many live mappings at once: each page carries the number of its mapping. */
#define LIVE	64

static bool many_alive(void)
{
	unsigned char *p[LIVE];
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < LIVE; i++) {
		p[i] = map(fd, &kinds[i % ARRAY_SIZE(kinds)], (i % 5 + 1) * PAGE);
		if (!expect(p[i]))
			return false;
		fill(p[i], i + 1, (i % 5 + 1) * PAGE);
	}
	for (i = 0; i < LIVE; i++)
		ok &= all_bytes(p[i], (i % 5 + 1) * PAGE, i + 1) &&
		      !munmap(p[i], (i % 5 + 1) * PAGE);
	close(fd);
	return expect(ok);
}

static void test_lengths(size_t i)
{
	size_t first = lengths[i].first, second = lengths[i].second;
	long before = settled_free_pages();
	bool ok = one_process(first, second, false) && memory_is_back(before);

	ksft_test_result(ok, "all pairs of kinds, one process, one open file, %s\n",
			 lengths[i].name);
	ok = one_process(first, second, true) && memory_is_back(before);
	ksft_test_result(ok, "all pairs of kinds, one process, two open files, %s\n",
			 lengths[i].name);
	ok = two_processes(first, second) && memory_is_back(before);
	ksft_test_result(ok, "all pairs of kinds, two processes, %s\n", lengths[i].name);
}

int main(int argc, char **argv)
{
	size_t i;

	if (is_child(argc, argv))
		return child(&kinds[atoi(argv[3])], atol(argv[4]));

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(lengths) * 3 + 1);
	warm_up();
	for (i = 0; i < ARRAY_SIZE(lengths); i++)
		test_lengths(i);
	ksft_test_result(run_test(many_alive), "%u live mappings of all kinds keep their bytes\n",
			 LIVE);
	ksft_finished();
}

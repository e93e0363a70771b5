// SPDX-License-Identifier: GPL-2.0
/*
 * How long a mapping lives: until it is unmapped as a whole, whatever happens to
 * its descriptor, and not a byte of it changes before.
 */
#include "run.h"

#define LEN	(8 * PAGE)
#define STAMP	0x3c
#define THREADS	4
#define ROUNDS	2000

/* A stamped mapping of each kind in turn, at most one alive. */
static bool with_each_kind(bool (*check)(int fd, const struct kind *kind, unsigned char *p))
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		int fd = open_pages();
		unsigned char *p = map(fd, &kinds[i], LEN);

		if (!expect(p))
			return false;
		fill(p, STAMP, LEN);
		if (!check(fd, &kinds[i], p)) {
			ksft_print_msg("kind '%s'\n", kinds[i].name);
			ok = false;
		}
	}
	return ok;
}

static bool intact(int fd, const struct kind *kind, const unsigned char *p)
{
	return expect(all_bytes(p, LEN, STAMP)) &&
	       expect(fd_count(fd, "mappings:") == kind->direct) &&
	       expect(fd_count(fd, "mapped_bytes:") == (kind->direct ? (long)LEN : 0));
}

static bool check_partial_munmap(int fd, const struct kind *kind, unsigned char *p)
{
	static const struct {
		size_t start;
		size_t len;
	} parts[] = {
		{ 0, PAGE }, { 0, LEN - PAGE }, { PAGE, LEN - PAGE }, { LEN - PAGE, PAGE },
		{ 2 * PAGE, PAGE }, { 0, 1 }, { 0, LEN - PAGE - 1 }, { 1, LEN },
	};
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		ok &= expect(munmap(p + parts[i].start, parts[i].len) < 0 &&
			     errno == EINVAL) && intact(fd, kind, p);
	ok &= expect(munmap(p, 0) < 0 && errno == EINVAL) && intact(fd, kind, p);
	return expect(!munmap(p, LEN)) && expect(!close(fd)) && ok;
}

static bool partial_munmap(void)
{
	return with_each_kind(check_partial_munmap);
}

/* The core resizes copies in place; that is not the device's business. */
static bool check_mremap(int fd, const struct kind *kind, unsigned char *p)
{
	static const size_t sizes[] = { PAGE, LEN - PAGE, LEN, LEN + PAGE, 2 * LEN, 5 * MIB };
	bool ok = true;
	size_t i;

	for (i = 0; kind->direct && i < ARRAY_SIZE(sizes); i++)
		ok &= expect(mremap(p, LEN, sizes[i], 0, NULL) == MAP_FAILED &&
			     errno == EPERM) &&
		      expect(mremap(p, LEN, sizes[i], MREMAP_MAYMOVE, NULL) == MAP_FAILED &&
			     errno == EPERM) &&
		      intact(fd, kind, p);
	ok &= expect(mremap(p, PAGE, 2 * PAGE, 0, NULL) == MAP_FAILED && errno == EINVAL) &&
	      intact(fd, kind, p);
	return expect(!munmap(p, LEN)) && expect(!close(fd)) && ok;
}

static bool mremap_refused(void)
{
	return with_each_kind(check_mremap);
}

static bool check_munmap_after_close(int fd, const struct kind *kind, unsigned char *p)
{
	int other;
	bool ok = expect(!close(fd)) && expect(all_bytes(p, LEN, STAMP));

	/* Neither opening anew nor more mappings may touch what is still mapped. */
	other = open_pages();
	ok &= expect(dirty(other, kind, LEN, 0)) && expect(dirty(other, SHARED, 4 * LEN, 0)) &&
	      expect(!close(other)) && expect(all_bytes(p, LEN, STAMP));
	return expect(!munmap(p, LEN)) && ok;
}

static bool munmap_after_close(void)
{
	return with_each_kind(check_munmap_after_close);
}

static bool check_close_after_munmap(int fd, const struct kind *kind, unsigned char *p)
{
	return expect(!munmap(p, LEN)) && expect(fd_count(fd, "mappings:") == 0) &&
	       expect(dirty(fd, kind, LEN, 0)) && expect(!close(fd));
}

static bool close_after_munmap(void)
{
	return with_each_kind(check_close_after_munmap);
}

static bool check_memory_comes_back(int fd, const struct kind *kind, unsigned char *p)
{
	long mapped = unused_pages();
	bool ok = expect(!munmap(p, LEN));
	long after = unused_pages();

	long pages = LEN / PAGE;

	/* The run, and the copies that writing to it has made. */
	if (has_mmu() && !(kind->prot & PROT_WRITE))
		pages *= 2;
	if (after - mapped != pages)
		ksft_print_msg("'%s' gave back %ld pages\n", kind->name, after - mapped);
	return expect(after - mapped == pages) && expect(!close(fd)) && ok;
}

static bool memory_comes_back(void)
{
	return with_each_kind(check_memory_comes_back);
}

static bool duplicate(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	int copy = dup(fd);
	unsigned char *q;
	bool ok;

	if (!expect(p && copy >= 0))
		return false;
	fill(p, STAMP, LEN);
	close(fd);
	q = map(copy, SHARED, LEN);
	ok = expect(q) && expect(q != p) && expect(fd_count(copy, "mappings:") == 2) &&
	     expect(!munmap(p, LEN)) && expect(fd_count(copy, "mappings:") == 1) &&
	     expect(!close(copy)) && expect(all_bytes(q, LEN, 0)) && expect(!munmap(q, LEN));
	return ok;
}

/* The child opens the device, tells the number and waits. */
#define CHILD_SAYS	11
#define CHILD_HEARS	12

static int child_opens(void)
{
	int fd = open(DEVICE, O_RDWR);

	return !(fd >= 0 && write(CHILD_SAYS, &fd, sizeof(fd)) == sizeof(fd) &&
		 wait_other(CHILD_HEARS));
}

static bool passed_on(void)
{
	int from[2], to[2];
	int there = -1, here, pidfd;
	unsigned char *p;
	pid_t pid;
	bool ok;

	if (!expect(!pipe(from) && !pipe(to)))
		return false;
	dup2(from[1], CHILD_SAYS);
	dup2(to[0], CHILD_HEARS);
	pid = start_child("open", 0, 0);
	ok = expect(read(from[0], &there, sizeof(there)) == sizeof(there));
	pidfd = syscall(__NR_pidfd_open, pid, 0);
	here = syscall(__NR_pidfd_getfd, pidfd, there, 0);
	ok &= signal_other(to[1]) && expect(ended_well(pid)) && expect(here >= 0);

	/* Its opener is gone; the open file is ours now. */
	p = map(here, SHARED, LEN);
	ok = ok && expect(p) && expect(all_bytes(p, LEN, 0)) &&
	     expect(fd_count(here, "mappings:") == 1) && expect(!munmap(p, LEN));
	close(here);
	close(pidfd);
	close(from[0]);
	close(from[1]);
	close(to[0]);
	close(to[1]);
	close(CHILD_SAYS);
	close(CHILD_HEARS);
	return ok;
}

/* Maps, stamps, verifies and unmaps, again and again; errno is not used in threads. */
static int thread(void *arg)
{
	int fd = *(int *)arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		size_t len = (i % 5 + 1) * PAGE;
		unsigned char *p = map(fd, &kinds[i % 3], len);
		unsigned char stamp = (unsigned long)&i >> 12;

		if (!p)
			return 1;
		fill(p, stamp, len);
		if (i % 16 == 0)
			sched_yield();
		if (!all_bytes(p, len, stamp) || munmap(p, len))
			return 2;
	}
	return 0;
}

static bool threads(void)
{
	static struct stack stacks[THREADS];
	pid_t pids[THREADS];
	int fd = open_pages();
	bool ok = true;
	int i;

	for (i = 0; i < THREADS; i++)
		pids[i] = spawn(THREAD, &stacks[i], thread, &fd);
	for (i = 0; i < THREADS; i++)
		ok &= expect(ended_well(pids[i]));
	ok &= expect(fd_count(fd, "mappings:") == 0) && expect(fd_count(fd, "mapped_bytes:") == 0);
	close(fd);
	return ok;
}

static int close_in_thread(void *arg)
{
	return close(*(int *)arg);
}

static bool closed_by_other_thread(void)
{
	static struct stack stack;
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok;

	if (!expect(p))
		return false;
	fill(p, STAMP, LEN);
	ok = expect(ended_well(spawn(THREAD, &stack, close_in_thread, &fd))) &&
	     expect(close(fd) < 0 && errno == EBADF) && expect(all_bytes(p, LEN, STAMP));
	return expect(!munmap(p, LEN)) && ok;
}

static const struct test tests[] = {
	{ "partial munmap is EINVAL, the mapping stays whole and counted once", partial_munmap,
	  "with an MMU it works, see pages_mmu" },
	{ "mremap is EPERM, the mapping stays whole", mremap_refused,
	  "with an MMU it works, see pages_mmu" },
	{ "munmap after close, with the device in use in between", munmap_after_close },
	{ "close after munmap", close_after_munmap },
	{ "all memory is back when munmap returns", memory_comes_back },
	{ "a duplicated descriptor is the same open file", duplicate },
	{ "a descriptor taken over from a process that ended", passed_on },
	{ "4 threads map and unmap on one descriptor", threads },
	{ "a descriptor closed by another thread", closed_by_other_thread },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child_opens();
	run_tests(tests, ARRAY_SIZE(tests));
}

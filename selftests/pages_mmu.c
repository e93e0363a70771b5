// SPDX-License-Identifier: GPL-2.0
/*
 * What an MMU makes possible: fork, mappings that are cut, moved and protected in
 * parts, and copy-on-write.  The run behind them stays until its last page is gone.
 */
#include <linux/mman.h>

#include "kcore.h"
#include "run.h"

#define LEN	(8 * PAGE)
#define STAMP	0x3c
#define MARK	0xa5

static const size_t sizes[] = {
	1, PAGE, 3 * PAGE, 33 * KIB, MIB, 4 * MIB, 5 * MIB + 12 * KIB, 16 * MIB,
};

/* Runs @child in a process of its own, a real copy of this one. */
static bool in_child(bool (*child)(unsigned char *p), unsigned char *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(!child(p));
	return ended_well(pid);
}

static bool sees_stamp(unsigned char *p)
{
	return all_bytes(p, LEN, STAMP);
}

static bool sees_stamp_and_marks(unsigned char *p)
{
	if (!all_bytes(p, LEN, STAMP))
		return false;
	fill(p, MARK, LEN);
	return all_bytes(p, LEN, MARK);
}

static bool contiguous(void)
{
	static const struct kind *const direct[] = { &kinds[0], &kinds[1], &kinds[2] };
	int fd = open_pages();
	bool ok = true;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(direct); i++)
		for (j = 0; ok && j < ARRAY_SIZE(sizes); j++) {
			unsigned char *p = map(fd, direct[i], sizes[j]);

			ok = expect(p) && expect(all_bytes(p, PAGE_UP(sizes[j]), 0));
			stamp_pages(p, sizes[j]);
			ok = ok && expect(is_contiguous(sizes[j])) && expect(!munmap(p, sizes[j]));
			/* No stamp is to be found twice. */
			ok = ok && expect(dirty(fd, SHARED, sizes[j], STAMP));
		}
	close(fd);
	return ok;
}

/* Each page that is written to costs one more page; the others stay as they are. */
static bool copy_on_write(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, PRIVATE_READ_ONLY, MIB);
	long before = settled_free_pages();
	size_t at;
	bool ok;

	for (at = 0; at < MIB; at += 4 * PAGE)
		p[at + 7] = STAMP;
	ok = expect(before - settled_free_pages() == MIB / PAGE / 4);
	for (at = 0; at < MIB; at += 4 * PAGE)
		ok &= p[at + 7] == STAMP && all_bytes(p + at, 7, 0) &&
		      all_bytes(p + at + 8, 4 * PAGE - 8, 0);
	ok = expect(ok) && expect(!munmap(p, MIB));
	close(fd);
	return ok;
}

static bool fork_shares(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok;

	fill(p, STAMP, LEN);
	ok = expect(in_child(sees_stamp_and_marks, p)) && expect(all_bytes(p, LEN, MARK)) &&
	     expect(fd_count(fd, "mappings:") == 1) && expect(!munmap(p, LEN)) &&
	     expect(fd_count(fd, "mappings:") == 0);
	close(fd);
	return ok;
}

static bool fork_copies_private(void)
{
	static const struct kind *const copied[] = { &kinds[3], &kinds[5], &kinds[6] };
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(copied); i++) {
		unsigned char *p = map(fd, copied[i], LEN);

		fill(p, STAMP, LEN);
		ok &= expect(in_child(sees_stamp_and_marks, p)) &&
		      expect(all_bytes(p, LEN, STAMP)) && expect(!munmap(p, LEN));
	}
	close(fd);
	return ok;
}

/* The child waits until the parent has unmapped, and still has it. */
static int hears;

static bool outlives(unsigned char *p)
{
	return wait_other(hears) && all_bytes(p, LEN, STAMP) && !munmap(p, PAGE) &&
	       all_bytes(p + PAGE, LEN - PAGE, STAMP);
}

static bool child_keeps_run(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	unsigned char *q;
	int to[2];
	pid_t pid;
	bool ok;

	fill(p, STAMP, LEN);
	if (!expect(!pipe(to)))
		return false;
	hears = to[0];
	pid = fork();
	if (pid == 0)
		_exit(!outlives(p));
	ok = expect(!munmap(p, LEN)) && expect(fd_count(fd, "mappings:") == 1) &&
	     expect(fd_count(fd, "mapped_bytes:") == (long)LEN);
	/* A run of the same length must be another one. */
	q = map(fd, SHARED, LEN);
	ok &= expect(q) && expect(all_bytes(q, LEN, 0));
	fill(q, MARK, LEN);
	ok &= expect(signal_other(to[1])) && expect(ended_well(pid)) &&
	      expect(fd_count(fd, "mappings:") == 1) && expect(all_bytes(q, LEN, MARK)) &&
	      expect(!munmap(q, LEN)) && expect(fd_count(fd, "mappings:") == 0);
	close(to[0]);
	close(to[1]);
	close(fd);
	return ok;
}

/* All ways to take a mapping of 8 pages away in three parts. */
static bool unmapped_in_parts(void)
{
	static const int parts[][3][2] = {
		{ { 0, 1 }, { 7, 1 }, { 1, 6 } },
		{ { 3, 2 }, { 0, 3 }, { 5, 3 } },
		{ { 4, 4 }, { 0, 2 }, { 2, 2 } },
		{ { 0, 7 }, { 7, 1 }, { 0, 8 } },
	};
	int fd = open_pages();
	bool ok = true;
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		for (j = 0; j < ARRAY_SIZE(parts); j++) {
			unsigned char *p = map(fd, &kinds[i], LEN);
			bool gone[8] = { false };
			unsigned char *q;
			size_t left = 8;

			fill(p, STAMP, LEN);
			for (k = 0; left; k++) {
				int page = parts[j][k][0], end = page + parts[j][k][1];

				ok &= expect(!munmap(p + page * PAGE, (end - page) * PAGE));
				for (; page < end; page++) {
					left -= !gone[page];
					gone[page] = true;
				}
				ok &= expect(fd_count(fd, "mappings:") ==
					     (left && kinds[i].direct));
				/* Somebody else maps meanwhile. */
				q = map(fd, SHARED, LEN);
				ok &= expect(q) && expect(all_bytes(q, LEN, 0));
				fill(q, MARK, LEN);
				for (page = 0; page < 8; page++)
					ok &= gone[page] ||
					      all_bytes(p + page * PAGE, PAGE, STAMP);
				ok &= expect(!munmap(q, LEN));
			}
			if (!expect(ok))
				ksft_print_msg("kind '%s', parts %zu\n", kinds[i].name, j);
		}
	close(fd);
	return ok;
}

static bool end_is_stamped(unsigned char *p)
{
	return all_bytes(p, LEN - 4 * PAGE, STAMP);
}

/* A process that cuts what it has inherited, passes on what is left, and ends. */
static bool cut_and_leave(unsigned char *p)
{
	return !munmap(p + 3 * PAGE, PAGE) && !syscall(__NR_mprotect, p, PAGE, PROT_READ) &&
	       all_bytes(p, 3 * PAGE, STAMP) && in_child(end_is_stamped, p + 4 * PAGE);
}

static bool forked_and_cut(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok = true;
	int i;

	fill(p, STAMP, LEN);
	for (i = 0; ok && i < 20; i++)
		ok = expect(in_child(cut_and_leave, p)) &&
		     expect(fd_count(fd, "mappings:") == 1) && expect(all_bytes(p, LEN, STAMP));
	ok &= expect(!munmap(p, LEN)) && expect(fd_count(fd, "mappings:") == 0);
	close(fd);
	return ok;
}

static bool writes(unsigned char *p)
{
	fill(p, MARK, 1);
	return true;
}

static bool reads(unsigned char *p)
{
	return all_bytes(p, 1, STAMP);
}

static bool is_killed(bool (*child)(unsigned char *p), unsigned char *p)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(!child(p));
	return wait_status(pid) == SIGSEGV;
}

static bool protections_hold(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	unsigned char *q = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	bool ok;

	fill(p, STAMP, LEN);
	ok = expect(!syscall(__NR_mprotect, p + PAGE, PAGE, PROT_READ)) &&
	     expect(!syscall(__NR_mprotect, p + 2 * PAGE, PAGE, PROT_NONE)) &&
	     expect(is_killed(writes, p + PAGE)) && expect(is_killed(reads, p + 2 * PAGE)) &&
	     expect(in_child(reads, p + PAGE)) && expect(in_child(writes, p + 3 * PAGE)) &&
	     expect(p[3 * PAGE] == MARK) && expect(is_killed(writes, q));
	p[3 * PAGE] = STAMP;
	ok &= expect(!syscall(__NR_mprotect, p, LEN, PROT_RW)) && expect(sees_stamp(p)) &&
	      expect(!munmap(p, LEN)) && expect(!munmap(q, PAGE)) &&
	      expect(fd_count(fd, "mappings:") == 0);
	close(fd);
	return ok;
}

static bool moved(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p = map(fd, &kinds[i], LEN);
		unsigned char *to = mmap(NULL, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		fill(p, STAMP, LEN);
		ok &= expect(mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to) &&
		      expect(sees_stamp(to)) &&
		      expect(fd_count(fd, "mappings:") == kinds[i].direct) &&
		      expect(mremap(to, LEN, 3 * PAGE, 0, NULL) == to) &&
		      expect(all_bytes(to, 3 * PAGE, STAMP)) &&
		      expect(!munmap(to, 3 * PAGE)) && expect(fd_count(fd, "mappings:") == 0);
	}
	close(fd);
	return ok;
}

static bool never_longer(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok;

	fill(p, STAMP, LEN);
	ok = expect(mremap(p, LEN, 2 * LEN, 0, NULL) == MAP_FAILED && errno == EFAULT) &&
	     expect(mremap(p, LEN, 2 * LEN, MREMAP_MAYMOVE, NULL) == MAP_FAILED &&
		    errno == EFAULT) &&
	     expect(mremap(p, 0, LEN, MREMAP_MAYMOVE, NULL) == MAP_FAILED &&
		    errno == EFAULT) &&
	     expect(mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL) ==
		    MAP_FAILED && errno == EINVAL) &&
	     expect(sees_stamp(p)) && expect(!munmap(p, LEN));
	close(fd);
	return ok;
}

static bool fixed_address(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	unsigned char *q;
	bool ok;

	fill(p, STAMP, LEN);
	q = mmap(p + PAGE, 2 * PAGE, PROT_RW, MAP_SHARED | MAP_FIXED, fd, 0);
	ok = expect(q == p + PAGE) && expect(all_bytes(q, 2 * PAGE, 0)) &&
	     expect(all_bytes(p, PAGE, STAMP)) &&
	     expect(all_bytes(p + 3 * PAGE, LEN - 3 * PAGE, STAMP)) &&
	     expect(fd_count(fd, "mappings:") == 2) &&
	     expect(mmap(p, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p) &&
	     expect(fd_count(fd, "mappings:") == 0) && expect(!munmap(p, LEN));
	close(fd);
	return ok;
}

/* Nothing takes a page out of a direct mapping that cannot come back. */
static bool advice(void)
{
	static const struct {
		int advice;
		int err;
	} advices[] = {
		{ MADV_NORMAL, 0 }, { MADV_WILLNEED, 0 }, { MADV_DONTNEED, EINVAL },
		{ MADV_FREE, EINVAL }, { MADV_REMOVE, ENODEV }, { MADV_PAGEOUT, EINVAL },
		{ MADV_COLD, EINVAL }, { MADV_DONTFORK, 0 }, { MADV_DOFORK, EINVAL },
		{ MADV_DODUMP, EINVAL }, { MADV_HUGEPAGE, 0 }, { MADV_WIPEONFORK, EINVAL },
	};
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, LEN);
	bool ok = true;
	size_t i;

	fill(p, STAMP, LEN);
	for (i = 0; i < ARRAY_SIZE(advices); i++) {
		int err = syscall(__NR_madvise, p, LEN, advices[i].advice) ? errno : 0;

		if (err != advices[i].err)
			ksft_print_msg("MADV %d: errno %d\n", advices[i].advice, err);
		ok &= expect(err == advices[i].err) && expect(sees_stamp(p));
	}
	ok &= expect(!syscall(__NR_mlock, p, LEN)) && expect(!syscall(__NR_munlock, p, LEN)) &&
	      expect(sees_stamp(p)) &&
	      expect(!munmap(p, LEN));
	close(fd);
	return ok;
}

static bool go;

static int writer(void *arg)
{
	unsigned char *p = arg;

	for (;;) {
		fill(p, MARK, 1);
		fill(p + LEN - 1, MARK, 1);
		__atomic_store_n(&go, true, __ATOMIC_RELEASE);
	}
	return 0;
}

/*
 * Another task writes while the mapping is taken away. What it writes must not be
 * seen by the next owner of the run, which is used again at once.
 */
static bool no_stale_writes(void)
{
	static struct stack stack;
	int fd = open_pages();
	bool ok = true;
	int i, j;

	for (i = 0; ok && i < 200; i++) {
		unsigned char *p = map(fd, SHARED, LEN);
		unsigned char *q;
		pid_t pid;

		__atomic_store_n(&go, false, __ATOMIC_RELEASE);
		pid = spawn(THREAD, &stack, writer, p);
		while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
			sched_yield();
		ok = expect(mmap(p, LEN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				 -1, 0) == p);
		q = map(fd, SHARED, LEN);
		ok &= expect(q != p);
		for (j = 0; ok && j < 200; j++) {
			sched_yield();
			ok = expect(all_bytes(q, 1, 0)) && expect(all_bytes(q + LEN - 1, 1, 0));
		}
		ok &= expect(wait_status(pid) == SIGSEGV) && expect(all_bytes(q, LEN, 0)) &&
		      expect(!munmap(q, LEN)) && expect(!munmap(p, LEN));
	}
	close(fd);
	return ok;
}

static struct test tests[] = {
	{ "each page lies behind the one before, in memory, and is zero", contiguous },
	{ "a write to a private mapping copies that page alone", copy_on_write },
	{ "fork: a shared mapping is shared", fork_shares },
	{ "fork: a private mapping is copied", fork_copies_private },
	{ "fork: a child keeps the run that its parent has unmapped", child_keeps_run },
	{ "a mapping unmapped in parts is one mapping up to its last page", unmapped_in_parts },
	{ "20 processes cut an inherited mapping and end", forked_and_cut },
	{ "mprotect() of parts holds, and the mapping stays one", protections_hold },
	{ "mremap() moves and shortens", moved },
	{ "mremap() never makes a mapping longer", never_longer },
	{ "MAP_FIXED replaces a part", fixed_address },
	{ "no advice takes a page away", advice },
	{ "a task that writes while the mapping goes away leaves nothing in the next one",
	  no_stale_writes },
};

int main(void)
{
	if (!has_mmu()) {
		ksft_print_header();
		ksft_exit_skip("this kernel has no MMU\n");
	}
	if (access("/proc/kcore", R_OK))
		tests[0].skip_with_mmu = "the kernel lacks CONFIG_PROC_KCORE";
	run_tests(tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Nobody may pin the pages of a direct mapping: the pin would outlive it, and its
 * end would free pages that have no reference count of their own.
 */
#include <linux/futex.h>
#include <linux/uio.h>

#include "run.h"

#define STAMP	0x3c
#define MARK	0xa5

static const size_t sizes[] = { PAGE, 3 * PAGE, 33 * KIB, MIB, 4 * MIB, 5 * MIB + 12 * KIB };

/* Hands a page at @p to a pipe without copying it; returns 0 or the errno. */
static int splice_page(const int *pipefd, unsigned char *p)
{
	struct iovec iov = { .iov_base = p, .iov_len = PAGE };

	return syscall(__NR_vmsplice, pipefd[1], &iov, 1, 0) < 0 ? errno : 0;
}

/* Tries the first page, the last one and one in between. */
static bool refuses(const int *pipefd, unsigned char *p, size_t len)
{
	size_t pages = PAGE_UP(len) / PAGE;
	size_t at[] = { 0, pages / 2, pages - 1 };
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		ok &= expect(splice_page(pipefd, p + at[i] * PAGE) == EFAULT);
	return ok;
}

static bool vmsplice_is_refused(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i, j;

	for (i = 0; ok && i < ARRAY_SIZE(kinds); i++) {
		/* What was written to is a copy there, and the core's. */
		if (has_mmu() && !(kinds[i].prot & PROT_WRITE))
			continue;
		for (j = 0; ok && kinds[i].direct && j < ARRAY_SIZE(sizes); j++) {
			unsigned char *p = map(fd, &kinds[i], sizes[j]);
			int pipefd[2];

			if (!expect(p) || !expect(!pipe(pipefd)))
				return false;
			/* Without an MMU "read-only" keeps nobody from writing. */
			fill(p, STAMP, PAGE_UP(sizes[j]));
			ok = refuses(pipefd, p, sizes[j]);
			close(pipefd[0]);
			close(pipefd[1]);
			ok &= expect(all_bytes(p, PAGE_UP(sizes[j]), STAMP)) &&
			      expect(!munmap(p, sizes[j]));
		}
	}
	close(fd);
	return ok;
}

/* The pipe is read after the mapping is gone and its run belongs to somebody else. */
static bool pipe_outlives_mapping(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++) {
		unsigned char *p = map(fd, SHARED, sizes[i]);
		unsigned char *q;
		char byte;
		int pipefd[2];

		if (!expect(p) || !expect(!pipe2(pipefd, O_NONBLOCK)))
			return false;
		fill(p, STAMP, PAGE_UP(sizes[i]));
		splice_page(pipefd, p + PAGE_UP(sizes[i]) / PAGE / 2 * PAGE);
		ok = expect(!munmap(p, sizes[i]));
		q = map(fd, SHARED, sizes[i]);
		ok &= expect(q == p);
		if (!q)
			return false;
		fill(q, MARK, PAGE_UP(sizes[i]));
		ok &= expect(read(pipefd[0], &byte, 1) < 0 && errno == EAGAIN);
		close(pipefd[0]);
		close(pipefd[1]);
		/* Whoever was given the pages meanwhile would have written to them. */
		ok &= expect(dirty(fd, SHARED, PAGE, 0)) &&
		      expect(all_bytes(q, PAGE_UP(sizes[i]), MARK)) &&
		      expect(!munmap(q, sizes[i]));
	}
	close(fd);
	return ok;
}

/* The pages of a copy are the core's, each with a count of its own. */
static bool copy_can_be_spliced(void)
{
	static const struct kind *const copies[] = { &kinds[3], &kinds[5] };
	static unsigned char got[PAGE];
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(copies); i++) {
		unsigned char *p = map(fd, copies[i], 33 * KIB);
		int pipefd[2];

		if (!expect(p) || !expect(!pipe(pipefd)))
			return false;
		fill(p, STAMP, PAGE_UP(33 * KIB));
		fill(p + 8 * PAGE, MARK, PAGE);
		ok = expect(splice_page(pipefd, p + 8 * PAGE) == 0) &&
		     expect(!munmap(p, 33 * KIB)) &&
		     expect(read(pipefd[0], got, PAGE) == (ssize_t)PAGE) &&
		     expect(all_bytes(got, PAGE, MARK));
		close(pipefd[0]);
		close(pipefd[1]);
	}
	close(fd);
	return ok;
}

/* What needs no pin goes on: a debugger copies. */
static bool proc_mem(void)
{
	int fd = open_pages();
	int mem = open("/proc/self/mem", O_RDWR);
	unsigned char *p = map(fd, SHARED, 33 * KIB);
	unsigned char byte = 0;
	bool ok = expect(p) && expect(mem >= 0);

	if (!ok)
		return false;
	fill(p, STAMP, PAGE_UP(33 * KIB));
	ok = expect(lseek(mem, (off_t)p + 5 * PAGE, SEEK_SET) == (off_t)p + 5 * (off_t)PAGE) &&
	     expect(read(mem, &byte, 1) == 1) && expect(byte == STAMP);
	byte = MARK;
	ok = ok && expect(write(mem, &byte, 1) == 1) && expect(p[5 * PAGE + 1] == MARK) &&
	     expect(p[5 * PAGE] == STAMP) && expect(!munmap(p, 33 * KIB));
	close(mem);
	close(fd);
	return ok;
}

/*
 * A private mapping that is read-only: with an MMU a copy would have to be made before a
 * debugger writes, without one the program itself may write to it.
 */
static bool proc_mem_makes_no_copy(void)
{
	int fd = open_pages();
	int mem = open("/proc/self/mem", O_RDWR);
	unsigned char *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	unsigned char byte = MARK;
	bool ok = expect(p != MAP_FAILED) && expect(mem >= 0);

	if (!ok)
		return false;
	ok = expect(lseek(mem, (off_t)p, SEEK_SET) == (off_t)p);
	if (has_mmu())
		ok &= expect(write(mem, &byte, 1) < 0) && expect(all_bytes(p, PAGE, 0));
	else
		ok &= expect(write(mem, &byte, 1) == 1) && expect(p[0] == MARK);
	ok &= expect(lseek(mem, (off_t)p, SEEK_SET) == (off_t)p) &&
	      expect(read(mem, &byte, 1) == 1) && expect(byte == p[0]) && expect(!munmap(p, PAGE));
	close(mem);
	close(fd);
	return ok;
}

static bool private_futex(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, 3 * PAGE);
	bool ok = expect(p) &&
		  expect(syscall(__NR_futex, p + PAGE, FUTEX_WAKE_PRIVATE, 1, NULL) == 0) &&
		  expect(syscall(__NR_futex, p + PAGE, FUTEX_WAIT_PRIVATE, 1, NULL) < 0) &&
		  expect(errno == EAGAIN) && expect(!munmap(p, 3 * PAGE));

	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "vmsplice() from a direct mapping is EFAULT, and the mapping stays as it is",
	  vmsplice_is_refused },
	{ "a pipe holds nothing of a mapping that is gone", pipe_outlives_mapping },
	{ "a private copy can be spliced, and outlives its mapping", copy_can_be_spliced },
	{ "/proc/PID/mem reads and writes a direct mapping", proc_mem },
	{ "/proc/PID/mem makes no copy of what is read-only", proc_mem_makes_no_copy },
	{ "a private futex works in a direct mapping", private_futex },
};

int main(void)
{
	run_tests(tests, ARRAY_SIZE(tests));
}

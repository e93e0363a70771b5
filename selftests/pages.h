/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every test of /dev/pages needs: opening the device, the rows of its
 * mapping table, and looking at memory byte by byte.
 */
#ifndef SELFTESTS_PAGES_H
#define SELFTESTS_PAGES_H

#include <linux/pages.h>

#include "kselftest.h"

#define DEVICE		"/dev/pages"
#define PAGE		4096UL
#define KIB		1024UL
#define MIB		(1024 * KIB)
#define PROT_RW		(PROT_READ | PROT_WRITE)
#define PAGE_UP(len)	(((len) + PAGE - 1) & ~(PAGE - 1))

/**
 * struct kind - one row of the mapping table
 * @name: how reports call it
 * @prot: protection to ask for
 * @flags: flags of mmap()
 * @offset: offset of mmap()
 * @uncleared: the caller opts out of the clearing
 * @direct: the device's own memory, not a copy made by the core
 */
struct kind {
	const char *name;
	int prot;
	int flags;
	off_t offset;
	bool uncleared;
	bool direct;
};

static const struct kind kinds[] = {
	{ "shared", PROT_RW, MAP_SHARED, 0, false, true },
	{ "shared, flag", PROT_RW, MAP_SHARED | MAP_UNINITIALIZED, 0, true, true },
	{ "shared, offset", PROT_RW, MAP_SHARED, PAGES_OFFSET_UNCLEARED, true, true },
	{ "private", PROT_RW, MAP_PRIVATE, 0, false, false },
	{ "private, flag", PROT_RW, MAP_PRIVATE | MAP_UNINITIALIZED, 0, false, false },
	{ "private, offset", PROT_RW, MAP_PRIVATE, PAGES_OFFSET_UNCLEARED, true, false },
	{ "private read-only", PROT_READ, MAP_PRIVATE, 0, false, true },
	{ "private read-only, flag", PROT_READ, MAP_PRIVATE | MAP_UNINITIALIZED, 0, true, true },
	{ "private read-only, offset", PROT_READ, MAP_PRIVATE, PAGES_OFFSET_UNCLEARED, true, true },
};

#define SHARED			(&kinds[0])
#define SHARED_UNCLEARED	(&kinds[2])
#define PRIVATE_READ_ONLY	(&kinds[6])

/* A failed expectation says where and what, and the test goes on to return false. */
#define expect(cond)	expect_at((cond), __LINE__, #cond)

static inline bool expect_at(bool ok, int line, const char *what)
{
	if (!ok)
		ksft_print_msg("line %d: expected %s (errno %d)\n", line, what, errno);
	return ok;
}

static inline int open_pages(void)
{
	int fd = open(DEVICE, O_RDWR);

	if (fd < 0)
		ksft_exit_fail_perror("cannot open " DEVICE);
	return fd;
}

/* Does this kernel have an MMU?  Without one there is no mprotect(). */
static inline bool has_mmu(void)
{
	static int answer = -1;

	if (answer < 0)
		answer = syscall(__NR_mprotect, NULL, 0, PROT_NONE) == 0;
	return answer;
}

/*
 * Maps @len bytes; NULL and errno when that fails.  Where there is no MMU a mapping
 * that was made for reading can be written to all the same, and tests do it.  Where
 * there is one they may, too: that makes a copy of each page.
 */
static inline unsigned char *map(int fd, const struct kind *kind, size_t len)
{
	void *p = mmap(NULL, len, kind->prot, kind->flags, fd, kind->offset);

	if (p == MAP_FAILED)
		return NULL;
	if (!(kind->prot & PROT_WRITE) && has_mmu() &&
	    syscall(__NR_mprotect, p, len, kind->prot | PROT_WRITE))
		return NULL;
	return p;
}

/* memset() by words; nolibc's goes byte by byte. */
static inline void fill(unsigned char *p, unsigned char value, size_t len)
{
	const unsigned long word = ~0UL / 0xff * value;

	for (; len && (unsigned long)p % sizeof(word); len--)
		*p++ = value;
	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		*(unsigned long *)p = word;
		/* Or the compiler makes a call of memset() of it. */
		asm volatile("" : : : "memory");
	}
	for (; len; len--)
		*p++ = value;
}

/* The first byte in [p, p + len) that is neither @a nor @b; @len if there is none. */
static inline size_t first_other(const unsigned char *p, size_t len,
				 unsigned char a, unsigned char b)
{
	const unsigned long word_a = ~0UL / 0xff * a;
	const unsigned long word_b = ~0UL / 0xff * b;
	size_t i = 0;

	while (i < len) {
		unsigned long word;

		/* Whole words are skipped as such, all else is looked at as bytes. */
		if ((unsigned long)(p + i) % sizeof(word) == 0 && len - i >= sizeof(word)) {
			word = *(const unsigned long *)(p + i);
			if (word == word_a || word == word_b) {
				i += sizeof(word);
				continue;
			}
		}
		if (p[i] != a && p[i] != b)
			break;
		i++;
	}
	return i;
}

static inline bool all_bytes(const unsigned char *p, size_t len, unsigned char value)
{
	return first_other(p, len, value, value) == len;
}

/* Writes every byte of a fresh mapping, as much as the kernel rounds it up to. */
static inline bool dirty(int fd, const struct kind *kind, size_t len, unsigned char value)
{
	unsigned char *p = map(fd, kind, len);

	if (!p)
		return false;
	fill(p, value, PAGE_UP(len));
	return !munmap(p, len);
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static inline unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The coarse clock stands still between two ticks. */
static inline unsigned long long last_tick_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#endif /* SELFTESTS_PAGES_H */

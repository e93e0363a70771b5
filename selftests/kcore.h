/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the pages of a mapping lie in memory: with an MMU their addresses do not say
 * it, and /proc/PID/pagemap leaves out memory that nobody may pin.  So each page is
 * stamped with its number and looked for in all RAM, which /proc/kcore shows.
 */
#ifndef SELFTESTS_KCORE_H
#define SELFTESTS_KCORE_H

#include <linux/elf.h>

#include "memory.h"

#define KCORE_SEGMENTS	64
#define NOWHERE		(~0UL)

/* All RAM, to be looked at page by page. */
struct kcore {
	int fd;
	unsigned int count;
	struct elf64_phdr segments[KCORE_SEGMENTS];
};

static inline bool has_kcore(void)
{
	return !access("/proc/kcore", R_OK);
}

/* How far the addresses of a segment are from its places in memory; 0 if it has none. */
static inline unsigned long kcore_shift(const struct elf64_phdr *segment)
{
	bool has_place = segment->p_type == PT_LOAD && segment->p_paddr != -1UL;

	return has_place ? segment->p_vaddr - segment->p_paddr : 0;
}

/*
 * Keeps the segments that show all RAM: they are as far away as the longest one.  The
 * kernel's own text is shown at another address once more, with holes in it.
 */
static inline void kcore_open(struct kcore *core)
{
	unsigned long longest = 0;
	unsigned long shift = 0;
	struct elf64_hdr header;
	unsigned int i;

	core->fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (core->fd < 0 || read(core->fd, &header, sizeof(header)) != sizeof(header) ||
	    header.e_phnum > KCORE_SEGMENTS ||
	    lseek(core->fd, header.e_phoff, SEEK_SET) != (off_t)header.e_phoff ||
	    read(core->fd, core->segments, header.e_phnum * sizeof(*core->segments)) < 0)
		ksft_exit_fail_perror("/proc/kcore");
	for (i = 0; i < header.e_phnum; i++)
		if (kcore_shift(&core->segments[i]) && core->segments[i].p_filesz > longest) {
			longest = core->segments[i].p_filesz;
			shift = kcore_shift(&core->segments[i]);
		}
	core->count = 0;
	for (i = 0; i < header.e_phnum; i++)
		if (shift && kcore_shift(&core->segments[i]) == shift)
			core->segments[core->count++] = core->segments[i];
}

/* The first word of the page at @offset of a segment; 0 where there is none to be read. */
static inline unsigned long kcore_word(const struct kcore *core, unsigned int segment,
				       unsigned long offset)
{
	unsigned long word;
	ssize_t got = syscall(__NR_pread64, core->fd, &word, sizeof(word),
			      core->segments[segment].p_offset + offset);

	return got == sizeof(word) ? word : 0;
}

/* The first word of the page at @place in memory. */
static inline unsigned long kcore_word_at(const struct kcore *core, unsigned long place)
{
	unsigned int i;

	for (i = 0; i < core->count; i++) {
		unsigned long offset = place - core->segments[i].p_paddr;

		if (offset < core->segments[i].p_filesz)
			return kcore_word(core, i, offset);
	}
	return 0;
}

/* The first word of page @number: not a constant, which the program itself would hold. */
static inline unsigned long kcore_stamp(unsigned long number)
{
	unsigned long half = 0x5eed5eed;

	/* The compiler must not put the two together. */
	asm volatile("" : "+r"(half));
	return half << 32 | number;
}

static inline void stamp_pages(unsigned char *p, size_t len)
{
	size_t i;

	for (i = 0; i < PAGE_UP(len) / PAGE; i++)
		*(unsigned long *)(p + i * PAGE) = kcore_stamp(i);
}

/*
 * Looks for the stamps of a mapping of @len bytes.  True if each is there once, and all
 * lie one behind the other.
 */
static inline bool is_contiguous(size_t len)
{
	static struct kcore core;
	unsigned long pages = PAGE_UP(len) / PAGE;
	unsigned long seen = 0;
	unsigned long first = 0;
	unsigned long offset;
	bool in_order = true;
	unsigned int i;

	kcore_open(&core);
	for (i = 0; i < core.count; i++)
		for (offset = 0; offset < core.segments[i].p_filesz; offset += PAGE) {
			unsigned long place = core.segments[i].p_paddr + offset;
			unsigned long number = kcore_word(&core, i, offset) ^ kcore_stamp(0);

			if (number >= pages)
				continue;
			if (!seen++)
				first = place - number * PAGE;
			in_order &= place == first + number * PAGE;
		}
	close(core.fd);
	if (seen != pages || !in_order)
		ksft_print_msg("%lu of %lu pages were found%s\n", seen, pages,
			       in_order ? "" : ", not in order");
	return seen == pages && in_order;
}

#endif /* SELFTESTS_KCORE_H */

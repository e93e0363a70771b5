/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the machine's memory is: is it all back after a test?
 *
 * MemFree alone jitters: it leaves out the pages in the per-CPU lists, and slab
 * grows and shrinks by pages of its own.  The sum counted here does not: free
 * pages, pages in per-CPU lists (both from /proc/zoneinfo, after
 * /proc/sys/vm/stat_refresh has folded the per-CPU counters), slab, stacks of
 * kernel threads, which come and go with the load, and page tables; on a debug kernel
 * the depot of stacks, too.  Runs that the device keeps for reuse are asked back first,
 * as memory pressure would, by drop_caches.  So a test may ask for the exact page, with
 * an MMU and without.
 */
#ifndef SELFTESTS_MEMORY_H
#define SELFTESTS_MEMORY_H

#include "depot.h"
#include "pages.h"

#define SETTLE_STEP_MS	5
#define SETTLE_STEPS	400

#define DROP_CACHES	"/proc/sys/vm/drop_caches"
#define DROP_SLAB	"2"
/* With an MMU also what the CPUs are about to put on the lists of reclaim. */
#define DROP_ALL	"3"
#define DROP_SILENTLY	"4"

/* Reads what is left of an open file; returns the length. */
static inline size_t read_rest(int fd, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += n;
	} while (n > 0);
	buf[len] = '\0';
	return len;
}

/* Reads a whole file; returns its length, 0 if it cannot be read. */
static inline size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t len = read_rest(fd, buf, size);

	if (fd >= 0)
		close(fd);
	return len;
}

static inline void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		ksft_exit_fail_perror(path);
	close(fd);
}

/* The sum of the numbers that follow @label anywhere in @text. */
static inline long sum_of(const char *text, const char *label)
{
	long sum = 0;

	while ((text = strstr(text, label))) {
		text += strlen(label);
		while (*text == ' ')
			text++;
		sum += strtol(text, NULL, 10);
	}
	return sum;
}

/* A line of /proc/self/fdinfo/FD: "mappings:" or "mapped_bytes:"; -1 if it is not there. */
static inline long fd_count(int fd, const char *label)
{
	char path[32], text[512], *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	read_file(path, text, sizeof(text));
	line = strstr(text, label);
	return line && line[strlen(label)] == '\t' ? atol(line + strlen(label) + 1) : -1;
}

/* A figure of the device in debugfs; 0 if it is not loaded. */
static inline long statistic(const char *name)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "/sys/kernel/debug/pages/%s", name);
	return read_file(path, text, sizeof(text)) ? atol(text) : 0;
}

/* Asks for all that is kept for reuse, the device's runs included. */
static inline void drop_caches(void)
{
	write_file(DROP_CACHES, has_mmu() ? DROP_ALL : DROP_SLAB);
}

/*
 * As unused_pages(), but what waits for reuse stays.  The file stays open: opening it may
 * take a page of slab, which is missing in the free pages at once, but is counted as slab
 * only when the counters are folded the next time.
 */
static inline long free_pages(void)
{
	static char zoneinfo[16 * KIB];
	static int fd = -1;
	long stacks, vmalloc;

	if (fd < 0) {
		fd = open("/proc/zoneinfo", O_RDONLY | O_CLOEXEC);
		/* This makes the kernel's buffer as large as it will be. */
		read_rest(fd, zoneinfo, sizeof(zoneinfo));
	}
	write_file("/proc/sys/vm/stat_refresh", "1");
	if (lseek(fd, 0, SEEK_SET) || !read_rest(fd, zoneinfo, sizeof(zoneinfo)))
		ksft_exit_fail_perror("cannot read /proc/zoneinfo");
	stacks = sum_of(zoneinfo, "nr_kernel_stack ") * (long)KIB / (long)PAGE;
	/* All of them are in there with CONFIG_VMAP_STACK, and those that wait for a task. */
	vmalloc = sum_of(zoneinfo, "nr_vmalloc ");
	return sum_of(zoneinfo, "pages free ") +
	       sum_of(zoneinfo, " count:") +
	       sum_of(zoneinfo, "nr_slab_reclaimable ") +
	       sum_of(zoneinfo, "nr_slab_unreclaimable ") +
	       sum_of(zoneinfo, "nr_page_table_pages ") +
	       (vmalloc > stacks ? vmalloc : stacks) +
	       depot_pages();
}

/* Pages that belong to nobody at this moment. */
static inline long unused_pages(void)
{
	drop_caches();
	return free_pages();
}

/*
 * The kernel gives stacks of dead tasks and the like back a little later: waits
 * until four readings agree, two seconds at most.
 */
static inline long settled_free_pages(void)
{
	long last = unused_pages();
	int same = 0;
	int i;

	for (i = 0; i < SETTLE_STEPS && same < 3; i++) {
		long pages;

		sleep_ms(SETTLE_STEP_MS);
		pages = unused_pages();
		same = pages == last ? same + 1 : 0;
		last = pages;
	}
	return last;
}

/* Is everything back that was unused at @before?  Waits at most two seconds. */
static inline bool memory_is_back(long before)
{
	long pages = unused_pages();
	int i;

	for (i = 0; i < SETTLE_STEPS && pages < before; i++) {
		sleep_ms(SETTLE_STEP_MS);
		pages = unused_pages();
	}
	if (pages < before)
		ksft_print_msg("%ld pages are lost\n", before - pages);
	return pages >= before;
}

#endif /* SELFTESTS_MEMORY_H */

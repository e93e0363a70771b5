/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages of the depot in which a debug kernel saves stacks: it takes a pool of four
 * pages when somebody comes along whose stack is not in it yet, and gives none back.
 *
 * Its figures in debugfs count a pool from its first use on. The one that it has ready
 * for later is in a variable of lib/stackdepot.c alone. Without an MMU a program can read
 * that where it lies, and so ask for the exact page.
 */
#ifndef SELFTESTS_DEPOT_H
#define SELFTESTS_DEPOT_H

#include "pages.h"

#define DEPOT_FIGURES	"/sys/kernel/debug/stackdepot/stats"
#define DEPOT_READY	" new_pool\n"
#define SYMBOLS		"/proc/kallsyms"
#define POOL_PAGES	4

/* Where the variable is: its line in the kernel's table of symbols begins with that. */
static inline void *const *depot_ready(void)
{
	static char buf[8 * KIB];
	int fd = open(SYMBOLS, O_RDONLY);
	char *found = NULL;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		ksft_exit_fail_perror(SYMBOLS);
	while (!found && (n = read(fd, buf + len, sizeof(buf) - 1 - len)) > 0) {
		char *last;

		buf[len + n] = '\0';
		found = strstr(buf, DEPOT_READY);
		/* A line that is not yet complete is looked at with the next piece. */
		last = strrchr(buf, '\n');
		len = last ? strlen(last + 1) : 0;
		if (!found && last)
			memmove(buf, last + 1, len + 1);
	}
	close(fd);
	if (!found)
		ksft_exit_fail_msg("the stack depot's new_pool is not in " SYMBOLS "\n");
	while (found > buf && found[-1] != '\n')
		found--;
	return (void *const *)strtoul(found, NULL, 16);
}

/* All pages of the depot at this moment; none on a kernel that has no depot. */
static inline long depot_pages(void)
{
	static void *const *ready;
	static const char label[] = "pools: ";
	char text[512] = "";
	long pools;
	int fd = open(DEPOT_FIGURES, O_RDONLY);

	if (fd < 0)
		return 0;
	if (!ready)
		ready = depot_ready();
	if (read(fd, text, sizeof(text) - 1) < 0 || strncmp(text, label, strlen(label)))
		ksft_exit_fail_msg("no pools in " DEPOT_FIGURES "\n");
	close(fd);
	pools = atol(text + strlen(label)) + !!__atomic_load_n(ready, __ATOMIC_RELAXED);
	return pools * POOL_PAGES;
}

#endif /* SELFTESTS_DEPOT_H */

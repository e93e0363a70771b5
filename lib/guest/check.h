/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Checks that say where they failed, and a table of tests for kselftest.h.
 */
#ifndef LIB_GUEST_CHECK_H
#define LIB_GUEST_CHECK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"

#define KIB	1024UL
#define MIB	(1024 * KIB)

/* True if @condition holds; else says which one does not. */
#define expect(condition) \
	((condition) || (ksft_print_msg("%s:%d: not so: %s\n", __func__, __LINE__, #condition), \
			 false))

struct test {
	const char *name;
	bool (*run)(void);
};

static inline int run_tests(const struct test *tests, unsigned int count)
{
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(count);
	for (i = 0; i < count; i++)
		ksft_test_result(tests[i].run(), "%s\n", tests[i].name);
	ksft_finished();
}

static inline bool all_are(const void *start, int value, size_t len)
{
	const unsigned char *p = start;
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (unsigned char)value)
			return false;
	return true;
}

/* A number that a file of one line holds; -1 if there is no such file. */
static inline long number_in(const char *path, const char *before)
{
	char line[256];
	FILE *file = fopen(path, "re");
	long number = -1;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, before, strlen(before)))
			number = strtol(line + strlen(before), NULL, 10);
	if (file)
		fclose(file);
	return number;
}

#define DEBUGFS "/sys/kernel/debug/pages/"

/* Without an MMU the kernel refuses every fixed address, before it looks at it. */
static inline bool has_mmu(void)
{
	void *nowhere = (void *)-4096UL;

	return mmap(nowhere, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		       MAP_FAILED || errno != EINVAL;
}

/* Is the device there, and of use? Else all comes from anonymous memory. */
static inline bool has_device(void)
{
	return !has_mmu() && !access("/dev/pages", R_OK | W_OK);
}

#endif /* LIB_GUEST_CHECK_H */

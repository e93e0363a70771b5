/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's log: what must be silent, and what must be said.
 */
#ifndef SELFTESTS_KLOG_H
#define SELFTESTS_KLOG_H

#include "pages.h"

/* Opens the log; what was said so far is behind the reader, or all of it ahead. */
static inline int klog_open(bool skip_old)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (fd < 0)
		ksft_exit_fail_perror("cannot open /dev/kmsg");
	/* nolibc takes the 0 that both calls return for what it is: no error. */
	lseek(fd, 0, skip_old ? SEEK_END : SEEK_SET);
	return fd;
}

/* Counts the new lines that contain @text; NULL counts all. */
static inline unsigned int klog_count(int fd, const char *text)
{
	unsigned int count = 0;
	char line[1024];
	ssize_t n;

	for (;;) {
		n = read(fd, line, sizeof(line) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return count;
		line[n] = '\0';
		count += !text || strstr(line, text);
	}
}

/*
 * Counts the new lines in which the kernel complains. For those who silence the console,
 * where the boot runner looks for the same.
 */
static inline unsigned int klog_complaints(int fd)
{
	static const char * const words[] = { "WARNING:", "BUG:", "INFO: ", "Badness", "ODEBUG" };
	unsigned int count = 0;
	char line[1024];
	ssize_t n;
	size_t i;

	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = '\0';
		for (i = 0; i < ARRAY_SIZE(words) && !strstr(line, words[i]); i++)
			;
		if (i < ARRAY_SIZE(words)) {
			ksft_print_msg("the kernel says %s", line);
			count++;
		}
	}
	return count;
}

/* Has the kernel said nothing since the last look? */
static inline bool klog_silent(int fd)
{
	unsigned int lines = klog_count(fd, NULL);

	if (lines)
		ksft_print_msg("%u new lines in the kernel's log\n", lines);
	return lines == 0;
}

#endif /* SELFTESTS_KLOG_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail on demand: the n-th of this task, by /proc/thread-self/fail-nth,
 * or all of the machine.  Needs a kernel with the options of config.debug.
 */
#ifndef SELFTESTS_FAULTS_H
#define SELFTESTS_FAULTS_H

#include "klog.h"
#include "run.h"

/* No entry point allocates that often. */
#define MAX_FAULTS	2000

/* What is called while an allocation fails, and how often one did. */
enum entry {
	AT_MAP, AT_UNMAP, AT_OPEN, AT_CLOSE, AT_LOAD, AT_UNLOAD, AT_BACKGROUND, ENTRIES
};

static const char * const entry_names[ENTRIES] = {
	[AT_MAP] = "mmap()",
	[AT_UNMAP] = "munmap()",
	[AT_OPEN] = "open()",
	[AT_CLOSE] = "close()",
	[AT_LOAD] = "loading",
	[AT_UNLOAD] = "unloading",
	[AT_BACKGROUND] = "clearing in the background",
};

static unsigned long injected[ENTRIES];

static int fail_nth = -1;

/* The console is silent, so the log is looked at. */
static int klog = -1;
static unsigned int complaints;

/* The @nth allocation of this task from now on fails; 0: none does. */
static inline void fail_allocation(int nth)
{
	char text[16];

	if (syscall(__NR_pwrite64, fail_nth, text, snprintf(text, sizeof(text), "%d", nth), 0L) < 0)
		ksft_exit_fail_perror("fail-nth");
}

/*
 * Allocations succeed again.  Did the one fail that was to fail in @entry?  Else there
 * were fewer.  Leaves errno as it is, for who wants to know why @entry failed.
 */
static inline bool has_failed(enum entry entry)
{
	char text[16] = "";
	int err = errno;
	bool failed;

	syscall(__NR_pread64, fail_nth, text, sizeof(text) - 1, 0L);
	fail_allocation(0);
	complaints += klog_complaints(klog);
	failed = atoi(text) == 0;
	injected[entry] += failed;
	errno = err;
	return failed;
}

static const char * const sorts[] = { "failslab", "fail_page_alloc" };

#define SORTS	ARRAY_SIZE(sorts)

static inline const char *fault_file(size_t sort, const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", sorts[sort], name);
	return path;
}

static inline void fault_setting(const char *name, const char *value)
{
	size_t i;

	for (i = 0; i < SORTS; i++)
		write_file(fault_file(i, name), value);
}

/* All allocations may fail, those that can wait included; without a trace each. */
static inline void set_up_faults(void)
{
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (fail_nth < 0)
		ksft_exit_skip("the kernel lacks the options of config.debug\n");
	fault_setting("ignore-gfp-wait", "N");
	fault_setting("verbose", "0");
	write_file(fault_file(1, "min-order"), "0");
	/* The core says in the log what it could not get. */
	klog = klog_open(true);
	write_file("/proc/sys/kernel/printk", "1");
}

/* All allocations of the machine fail for as long as this task sleeps. */
static inline void all_fail_for(unsigned int ms, enum entry entry)
{
	int probability[SORTS];
	char left[16];
	size_t i;

	fault_setting("interval", "1");
	fault_setting("times", "1000000");
	/* Opening takes memory, writing does not. */
	for (i = 0; i < SORTS; i++)
		probability[i] = open(fault_file(i, "probability"), O_WRONLY);
	for (i = 0; i < SORTS; i++)
		write(probability[i], "100", 3);
	sleep_ms(ms);
	for (i = 0; i < SORTS; i++)
		if (write(probability[i], "0", 1) != 1)
			ksft_exit_fail_perror("cannot end the faults");
	for (i = 0; i < SORTS; i++) {
		close(probability[i]);
		read_file(fault_file(i, "times"), left, sizeof(left));
		injected[entry] += 1000000 - atol(left);
	}
	fault_setting("times", "1");
}

/* The end of a report: did the kernel complain, and how often did an allocation fail? */
static inline void report_faults(void)
{
	int i;

	complaints += klog_complaints(klog);
	close(klog);
	write_file("/proc/sys/kernel/printk", "7");
	ksft_test_result(!complaints, "the kernel has no complaint in its log\n");
	for (i = 0; i < ENTRIES; i++)
		if (injected[i])
			ksft_print_msg("tried: %lu allocations failed in %s\n", injected[i],
				       entry_names[i]);
}

#endif /* SELFTESTS_FAULTS_H */

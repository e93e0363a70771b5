/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps the device from clearing in the background while a test looks, whatever the clock
 * says. It does that in a kernel thread of ordinary priority. So the test gets a priority
 * before it, and both get the same hart: the thread runs when the test sleeps, and not
 * before. Those that free memory for RCU must not have to wait, or all would be gone.
 */
#ifndef SELFTESTS_WORKER_H
#define SELFTESTS_WORKER_H

#include "memory.h"
#include "process.h"

#define WORKER_HARTS	"/sys/devices/virtual/workqueue/cpumask"
/* What the scheduler sets aside for ordinary tasks beside one like this. */
#define SET_ASIDE	"/sys/kernel/debug/sched/fair_server/cpu0/runtime"
#define SCHED_OTHER	0
#define SCHED_FIFO	1

static inline void schedule_other(pid_t pid, int policy, int priority)
{
	if (syscall(__NR_sched_setscheduler, pid, policy, &priority))
		ksft_exit_fail_perror("sched_setscheduler");
}

static inline void schedule(int policy, int priority)
{
	schedule_other(0, policy, priority);
}

/* Has those who free memory for RCU run before this task. */
static inline void rcu_first(void)
{
	/* Of the first two the kernel has the one or the other. */
	static const char * const names[] = { "rcu_sched\n", "rcu_preempt\n", "ksoftirqd/0\n" };
	unsigned int found = 0;
	char path[40], comm[32];
	pid_t pid;
	size_t i;

	for (pid = 2; pid < getpid(); pid++) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (!read_file(path, comm, sizeof(comm)))
			continue;
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(comm, names[i])) {
				schedule_other(pid, SCHED_FIFO, 20);
				found++;
			}
	}
	if (found != 2)
		ksft_exit_fail_msg("%u of 2 kernel threads that RCU needs\n", found);
}

/* From now on the device clears in the background only while this task sleeps. */
static inline void worker_runs_when_asleep(void)
{
	unsigned long hart = 1;

	if (syscall(__NR_sched_setaffinity, 0, sizeof(hart), &hart))
		ksft_exit_fail_perror("sched_setaffinity");
	rcu_first();
	write_file(WORKER_HARTS, "1");
	write_file(SET_ASIDE, "0");
	schedule(SCHED_FIFO, 10);
}

#endif /* SELFTESTS_WORKER_H */

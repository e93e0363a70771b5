// SPDX-License-Identifier: GPL-2.0
/*
 * Four processes map and unmap, stamp and verify, while others take anonymous memory,
 * write files, load and unload a module and, by turns, take all memory there is.
 * Then everything is as it was before.  The argument is the number of pairs.
 *
 * Needs the module holder/mm_holder.c, to be loaded and unloaded.
 */
#include "buddy.h"
#include "stats.h"
#include "stress.h"

/* Must be there in one piece, afterwards as before. */
#define LONG	(32 * MIB)

/* The children write to the memory of their parent. */
static struct shared shared;

static unsigned long pairs = 100000;

struct process {
	const char *name;
	int (*run)(struct shared *to, long number);
	long number;
	pid_t pid;
};

static struct process processes[] = {
	{ "work", work, 0, 0 },
	{ "work", work, 1, 0 },
	{ "work", work, 2, 0 },
	{ "work", work, 3, 0 },
	/* These rest so many ms each time, or they would have most of the processors. */
	{ "anonymous", take_anonymous, 2, 0 },
	{ "files", write_files, 50, 0 },
	{ "modules", load_modules, 50, 0 },
	{ "pressure", take_all, 3000, 0 },
	{ "watch", watch_log, 1, 0 },
};

static int child(char **argv)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(processes); i++)
		if (!strcmp(argv[2], processes[i].name))
			return processes[i].run((struct shared *)atol(argv[3]), atol(argv[4]));
	return 127;
}

static void start(struct process *process)
{
	process->pid = start_child(process->name, (long)&shared, process->number);
	if (process->pid < 0)
		ksft_exit_fail_perror("start_child()");
}

/* A process has ended; returns whether it should have, and like that. */
static bool account_for(pid_t pid, int status)
{
	struct process *process = processes;

	while (process < processes + ARRAY_SIZE(processes) && process->pid != pid)
		process++;
	if (!expect(process < processes + ARRAY_SIZE(processes)))
		return false;
	process->pid = 0;
	if (process->run == take_all && status == SIGKILL) {
		shared.victims++;
		if (!get(&shared.over))
			start(process);
	} else if (status) {
		ksft_print_msg("%s %ld ended with status 0x%x\n", process->name,
			       process->number, status);
		return false;
	}
	return true;
}

/* Waits for all processes; when the workers are through, the others are to end. */
static bool wait_for_all(void)
{
	bool ok = true;
	size_t i, workers;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0) {
		ok &= account_for(pid, status);
		for (workers = 0, i = 0; i < ARRAY_SIZE(processes); i++)
			workers += processes[i].run == work && processes[i].pid;
		if (!workers || !ok)
			set(&shared.over, true);
	}
	return ok;
}

/* Everybody does his part until that many pairs have been made. */
static bool make_pairs(unsigned long pairs)
{
	int fd = open_pages();
	bool ok;
	size_t i;

	memset(&shared, 0, sizeof(shared));
	shared.target = pairs;

	dup2(fd, CHILD_DEVICE);
	close(fd);
	write_file("/proc/sys/kernel/printk", "1");
	for (i = 0; i < ARRAY_SIZE(processes); i++)
		start(&processes[i]);
	ok = wait_for_all();
	close(CHILD_DEVICE);
	write_file("/proc/sys/kernel/printk", "7");
	return ok;
}

static bool long_run(void)
{
	int fd = open_pages();
	bool ok = expect(dirty(fd, SHARED, LONG, 1));

	close(fd);
	drop_cached();
	return ok;
}

static bool stress(void)
{
	long blocks = largest_free_blocks();
	bool ok = long_run() && make_pairs(pairs);

	ksft_print_msg("tried: %lu pairs, %lu of them refused for want of memory\n", shared.target,
		       shared.refused);
	ksft_print_msg("tried: %lu anonymous mappings, %lu files, %lu modules loaded\n",
		       shared.anonymous, shared.files, shared.loads);
	ksft_print_msg("tried: memory exhausted %lu times, %lu times with a victim\n",
		       shared.exhausted, shared.victims);
	ok &= expect(shared.complaints == 0) && expect(shared.anonymous) &&
	      expect(shared.files) && expect(shared.loads) && expect(shared.exhausted) &&
	      expect(shared.refused < shared.target / 10);

	/* At rest: nothing is mapped, what waits can be had, and so can large blocks. */
	ok &= expect(figure(MAPPINGS) == 0) && expect(figure(MAPPED) == 0);
	ok &= expect(is_idle());
	/* Each hart has lists of its own, with pages of files that are gone. */
	write_file(DROP_CACHES, "1");
	drop_cached();
	ok &= expect(cached() == 0);
	settled_free_pages();
	ksft_print_msg("%ld free blocks of 4 MiB before, %ld after\n", blocks,
		       largest_free_blocks());
	/* Some are split: the kernel's own records went where there was room at the time. */
	return expect(blocks && largest_free_blocks()) && long_run() && ok;
}

int main(int argc, char **argv)
{
	bool ok;

	if (is_child(argc, argv))
		return child(argv);
	if (argc > 1)
		pairs = atol(argv[1]);
	load_file("/lib/" HOLDER ".ko", "");
	if (unload_module(HOLDER))
		ksft_exit_fail_msg("no /lib/" HOLDER ".ko; run tools/holder\n");
	write_file("/proc/self/oom_score_adj", "-1000");
	ksft_print_header();
	ksft_set_plan(1);
	warm_up();
	/* What the kernel keeps of the first time must not look like a leak. */
	ok = make_pairs(BATCH) && run_test(stress);
	ksft_test_result(ok, "mapping and unmapping beside everything else, all is back\n");
	ksft_finished();
}

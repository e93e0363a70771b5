// SPDX-License-Identifier: GPL-2.0
/*
 * What a debugger sees of a mapping when it stops the process at the end of mmap(),
 * before a single instruction more: zeros where there will be zeros.
 */
#include <linux/ptrace.h>

#include "run.h"

#define CHILD_DEVICE	10
#define FOREIGN		0x5a

static const size_t sizes[] = { PAGE, 33 * KIB, MIB, MIB + PAGE, 5 * MIB, 16 * MIB };

static int child(const struct kind *kind, size_t len)
{
	unsigned char *p;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || kill(getpid(), SIGSTOP))
		return 1;
	p = map(CHILD_DEVICE, kind, len);
	return !p || !all_bytes(p, PAGE_UP(len), 0);
}

/* nolibc lacks WIFSTOPPED(). */
static bool has_stopped(int status)
{
	return (status & 0xff) == 0x7f;
}

/* Lets @pid run to its next stop. Returns false when there is none, because it ended. */
static bool run_to_stop(pid_t pid, int *status)
{
	return !ptrace(PTRACE_SYSCALL, pid, NULL, NULL) &&
	       waitpid(pid, status, 0) == pid && has_stopped(*status);
}

/* Where mmap() has put its mapping: stopped between its end and what follows. */
static unsigned long stop_behind_mmap(pid_t pid)
{
	struct ptrace_syscall_info info;
	bool in_mmap = false;
	int status;

	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD))
		return 0;
	while (run_to_stop(pid, &status)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info) < 0)
			break;
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
			in_mmap = info.entry.nr == __NR_mmap;
		else if (info.op == PTRACE_SYSCALL_INFO_EXIT && in_mmap)
			return info.exit.is_error ? 0 : info.exit.rval;
	}
	return 0;
}

static bool is_zero(pid_t pid, unsigned long at)
{
	unsigned long word = 0;
	bool ok = expect(!ptrace(PTRACE_PEEKDATA, pid, (void *)at, &word));

	if (word)
		ksft_print_msg("0x%lx at 0x%lx\n", word, at);
	return ok && !word;
}

/* The first word of each page, and the last one of all, as a debugger reads them. */
static bool debugger_sees_zeros(pid_t pid, unsigned long start, size_t len)
{
	unsigned long end = start + PAGE_UP(len);
	unsigned long at;

	for (at = start; at < end; at += PAGE)
		if (!is_zero(pid, at))
			return false;
	return is_zero(pid, end - sizeof(long));
}

static bool zeros_from_the_start(const struct kind *kind, size_t len)
{
	int own = open_pages();
	int foreign = open_pages();
	unsigned long start;
	int status;
	pid_t pid;
	bool ok;

	ok = expect(dirty(foreign, SHARED_UNCLEARED, len, FOREIGN));
	dup2(own, CHILD_DEVICE);
	pid = start_child("map", kind - kinds, len);
	close(CHILD_DEVICE);
	ok &= expect(waitpid(pid, &status, 0) == pid) && expect(has_stopped(status));
	start = stop_behind_mmap(pid);
	ok &= expect(start) && debugger_sees_zeros(pid, start, len) &&
	      expect(!ptrace(PTRACE_CONT, pid, NULL, NULL)) && expect(ended_well(pid));
	if (!ok)
		kill(pid, SIGKILL);
	close(foreign);
	close(own);
	return ok;
}

static void test_kind(const struct kind *kind)
{
	long before = settled_free_pages();
	bool ok = true;
	size_t i;

	/* The core makes copies of at most 4 MiB, also of what it lets nobody trace. */
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] <= 4 * MIB || kind->flags & MAP_SHARED)
			ok &= zeros_from_the_start(kind, sizes[i]);
	ok &= memory_is_back(before);
	ksft_test_result(ok, "%s: a debugger sees nothing of another open file\n", kind->name);
}

int main(int argc, char **argv)
{
	size_t i;

	if (is_child(argc, argv))
		return child(&kinds[atoi(argv[3])], atol(argv[4]));

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(kinds));
	warm_up();
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i]);
	ksft_finished();
}

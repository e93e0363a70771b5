// SPDX-License-Identifier: GPL-2.0
/*
 * Runs programs one after the other, and says what they took.
 *
 * measure STEP [-- STEP]...
 *	STEP is one of
 *	  PROGRAM [ARG]...	run it
 *	  to FILE PROGRAM [ARG]...	run it with its standard output in FILE
 *	  same FILE FILE	compare, takes no part in the figures
 *
 * The last line is "measured TIME MEMORY DEVICE": the nanoseconds of the
 * monotonic clock while programs ran, which under instruction counting are
 * instructions; by how many bytes free memory was lower than before the
 * program at the worst, looked at each millisecond, or each tick when the kernel
 * has no finer timers; and the most bytes that were mapped from /dev/pages.
 * Exit status 1 after the first step that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS	1000000L
#define DEVICE_PEAK	"/sys/kernel/debug/pages/peak_bytes"

extern char **environ;

static unsigned long long time_used;
static unsigned long memory_used;

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static unsigned long free_memory(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.freeram * info.mem_unit;
}

static int failed(const char *what, const char *why)
{
	fflush(stdout);
	fprintf(stderr, "measure: %s: %s\n", what, why);
	return -1;
}

/* Wait for the program; memory is looked at in between. */
static int watch(pid_t pid, unsigned long before)
{
	const struct timespec period = { .tv_nsec = PERIOD_NS };
	int status;

	while (!waitpid(pid, &status, WNOHANG)) {
		unsigned long left = free_memory();

		if (left < before && before - left > memory_used)
			memory_used = before - left;
		nanosleep(&period, NULL);
	}
	return status;
}

static int run(char **argv, const char *to)
{
	unsigned long before = free_memory();
	posix_spawn_file_actions_t actions;
	unsigned long long began;
	char why[64];
	int err, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (to)
		posix_spawn_file_actions_addopen(&actions, 1, to, O_WRONLY | O_CREAT | O_TRUNC,
						 0644);
	began = now();
	err = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (err)
		return failed(argv[0], strerror(err));
	status = watch(pid, before);
	time_used += now() - began;
	posix_spawn_file_actions_destroy(&actions);
	if (!status)
		return 0;
	snprintf(why, sizeof(why), "%s %d", WIFSIGNALED(status) ? "signal" : "exit status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return failed(argv[0], why);
}

static int same(const char *a, const char *b)
{
	FILE *x = fopen(a, "r"), *y = fopen(b, "r");
	char why[64];
	long at;
	int c, d;

	if (!x || !y)
		return failed(x ? b : a, strerror(errno));
	for (at = 0; (c = getc(x)) == (d = getc(y)); at++) {
		if (c != EOF)
			continue;
		fclose(x);
		fclose(y);
		return at ? 0 : failed(a, "empty");
	}
	snprintf(why, sizeof(why), "differs at byte %ld: %d, not %d", at, c, d);
	return failed(a, why);
}

static int step(char **argv, int argc)
{
	if (argc == 3 && !strcmp(argv[0], "same"))
		return same(argv[1], argv[2]);
	if (argc > 2 && !strcmp(argv[0], "to"))
		return run(argv + 2, argv[1]);
	return argc ? run(argv, NULL) : failed("nothing", "between two --");
}

static void print_figures(void)
{
	unsigned long long device = 0;
	FILE *file = fopen(DEVICE_PEAK, "r");

	if (file) {
		if (fscanf(file, "%llu", &device) != 1)
			device = 0;
		fclose(file);
	}
	printf("measured %llu %lu %llu\n", time_used, memory_used, device);
}

int main(int argc, char **argv)
{
	int from = 1, i;

	for (i = 1; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], "--"))
			continue;
		argv[i] = NULL;
		if (step(argv + from, i - from))
			return 1;
		from = i + 1;
	}
	print_figures();
	return 0;
}

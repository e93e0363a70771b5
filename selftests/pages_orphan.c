// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings whose process is gone while a kernel thread holds its memory: they are
 * closed when that thread drops it, where no task work can bring the run back.
 *
 * Needs the module holder/mm_holder.c.
 */
#include "module.h"
#include "run.h"
#include "stats.h"

#define HOLDER		"mm_holder"
#define HOLDER_FILE	"/lib/" HOLDER ".ko"
#define LEN		(33 * KIB)
#define HUGE		(32 * MIB)
#define STAMP		0x3c
#define ROUNDS		50
/* How far a child gets before the signal arrives is a matter of luck. */
#define ATTEMPTS	50
#define LIMIT_NS	5000000000ULL

/* Descriptors that a child finds. */
#define CHILD_DEVICE	10
#define CHILD_SAYS	11
#define CHILD_GO	12

/* What a child does. */
enum role {
	OWN_FILE,	/* maps through an open file of its own, closes it, waits */
	GIVEN_FILE,	/* maps through the open file of its parent, waits */
	EXECUTES,	/* the same, then becomes another program, which waits */
	CLEARS,		/* maps so much that it is killed while that is cleared */
};

static void wait_for_kill(void)
{
	signal_other(CHILD_SAYS);
	for (;;)
		sleep_ms(1000);
}

static int child(const char *what, enum role role)
{
	char *again[6] = { program_invocation_name, "child", "wait", "0", "0", NULL };
	int fd = role == OWN_FILE ? open_pages() : CHILD_DEVICE;
	size_t i;

	if (!strcmp(what, "wait"))
		wait_for_kill();
	if (role == CLEARS) {
		signal_other(CHILD_SAYS);
		wait_other(CHILD_GO);
		map(fd, SHARED, HUGE);
		wait_for_kill();
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p = map(fd, &kinds[i], LEN);

		if (!p)
			return 1;
		fill(p, STAMP, PAGE_UP(LEN));
	}
	if (role == OWN_FILE)
		close(fd);
	if (role == EXECUTES) {
		signal_other(CHILD_SAYS);
		wait_other(CHILD_GO);
		return exec_args(again);
	}
	wait_for_kill();
	return 1;
}

static long direct_kinds(void)
{
	long count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		count += kinds[i].direct;
	return count;
}

static int says, go;

/* Starts a child on @fd, which is then heard by @says and hears @go. */
static pid_t start(enum role role, int fd)
{
	int from[2], to[2];
	pid_t pid;

	if (pipe(from) || pipe(to))
		ksft_exit_fail_perror("pipe");
	dup2(fd, CHILD_DEVICE);
	dup2(from[1], CHILD_SAYS);
	dup2(to[0], CHILD_GO);
	pid = start_child("map", role, 0);
	close(CHILD_DEVICE);
	close(CHILD_SAYS);
	close(CHILD_GO);
	close(from[1]);
	close(to[0]);
	says = from[0];
	go = to[1];
	return pid;
}

static bool hold(pid_t pid)
{
	char params[24];

	snprintf(params, sizeof(params), "pid=%d", pid);
	return expect(load_file(HOLDER_FILE, params) == 0);
}

/* Returns when a kernel thread has dropped the memory. */
static bool drop(void)
{
	return expect(unload_module(HOLDER) == 0);
}

static bool kill_and_wait(pid_t pid)
{
	close(says);
	close(go);
	return !kill(pid, SIGKILL) && wait_status(pid) == SIGKILL;
}

/* A kernel thread's last fput() is done by another one, a moment later. */
static bool becomes(enum figure which, long value)
{
	int i;

	for (i = 0; i < IDLE_STEPS && figure(which) != value; i++)
		sleep_ms(IDLE_STEP_MS);
	return figure(which) == value;
}

/* The region holds the last reference to the open file. */
static bool file_goes_as_well(void)
{
	int fd = open_pages();
	pid_t pid = start(OWN_FILE, fd);
	bool ok = expect(wait_other(says)) && hold(pid);

	close(fd);
	ok &= expect(kill_and_wait(pid)) && expect(figure(MAPPINGS) == direct_kinds()) &&
	      expect(unload() == EWOULDBLOCK);
	return drop() && expect(becomes(MAPPINGS, 0)) && expect(figure(MAPPED) == 0) && ok;
}

/*
 * As long as the open file stays, so do the runs: nobody else gets them, and they
 * are charged. This is what tells that they came back the other way.
 */
static bool file_stays(void)
{
	int fd = open_pages();
	pid_t pid = start(GIVEN_FILE, fd);
	bool ok = expect(wait_other(says)) && hold(pid);
	int i;

	ok &= expect(kill_and_wait(pid)) && drop();
	for (i = 0; i < ROUNDS; i++) {
		unsigned char *p = map(fd, i & 1 ? SHARED : SHARED_UNCLEARED, LEN);

		ok &= expect(p) && expect(all_bytes(p, PAGE_UP(LEN), 0)) &&
		      expect(!munmap(p, LEN));
	}
	ok &= expect(fd_count(fd, "mappings:") == direct_kinds()) &&
	      expect(figure(MAPPINGS) == direct_kinds());
	close(fd);
	return expect(figure(MAPPINGS) == 0) && expect(figure(MAPPED) == 0) && ok;
}

/* The new program has the open file, but not the memory any more. */
static bool exec_in_between(void)
{
	int fd = open_pages();
	pid_t pid = start(EXECUTES, fd);
	bool ok = expect(wait_other(says)) && hold(pid) && signal_other(go) &&
		  expect(wait_other(says));

	close(fd);
	ok &= expect(figure(MAPPINGS) == direct_kinds());
	ok &= drop() && expect(figure(MAPPINGS) == direct_kinds()) &&
	      expect(unload() == EWOULDBLOCK) && expect(kill_and_wait(pid));
	return expect(becomes(MAPPINGS, 0)) && ok;
}

/*
 * Dirty with what another open file wrote, taken, half cleared, dropped.  *@caught
 * tells whether it was half cleared: it is the run that was used last.
 */
static bool killed_once(int other, bool *caught)
{
	int fd = open_pages();
	pid_t pid = start(CLEARS, fd);
	bool ok = hold(pid) && expect(wait_other(says));
	unsigned char *old = map(other, SHARED, HUGE);
	unsigned long long limit = now_ns() + LIMIT_NS;
	unsigned char *p;

	if (!expect(old))
		return false;
	fill(old, STAMP, HUGE);
	munmap(old, HUGE);
	/* At once, before it is cleared in the background. */
	signal_other(go);
	while (__atomic_load_n(old, __ATOMIC_ACQUIRE) == STAMP && now_ns() < limit)
		;
	ok &= expect(kill_and_wait(pid));
	*caught = old[0] == 0 && old[HUGE - 1] == STAMP;
	ok &= drop();
	close(fd);
	ok &= expect(becomes(MAPPINGS, 0));
	fd = open_pages();
	p = map(fd, SHARED_UNCLEARED, HUGE);
	ok &= expect(p) && expect(all_bytes(p, HUGE, 0)) && expect(!munmap(p, HUGE));
	close(fd);
	return ok;
}

/* No one sees anything of what was in it before. */
static bool killed_while_clearing(void)
{
	int other = open_pages();
	bool caught = false;
	bool ok = true;
	int i;

	for (i = 0; ok && !caught && i < ATTEMPTS; i++)
		ok = killed_once(other, &caught);
	close(other);
	return expect(caught) && ok;
}

static bool many_times(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < ROUNDS; i++)
		ok = i & 1 ? file_goes_as_well() : file_stays();
	return ok;
}

static const struct test tests[] = {
	{ "a kernel thread drops the last reference, and with it the open file",
	  file_goes_as_well },
	{ "a kernel thread drops it while the open file stays: charged until that is closed",
	  file_stays },
	{ "a kernel thread drops what a program had mapped before exec", exec_in_between },
	{ "a kernel thread drops what a kill left half cleared: no one sees old bytes",
	  killed_while_clearing },
	{ "50 times in turn", many_times },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child(argv[2], atol(argv[3]));
	if (access(HOLDER_FILE, F_OK))
		ksft_exit_fail_msg("no " HOLDER_FILE "; run tools/holder\n");
	load_file(HOLDER_FILE, "");
	unload_module(HOLDER);
	run_tests(tests, ARRAY_SIZE(tests));
}

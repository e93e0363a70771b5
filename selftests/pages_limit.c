// SPDX-License-Identifier: GPL-2.0
/*
 * The limit that max_bytes sets is one for the whole device, and mappings that
 * run into it hurt nobody else.  The argument is the limit in bytes; without one
 * it is the device's own: three quarters of the memory.
 */
#include <linux/sysinfo.h>

#include "klog.h"
#include "run.h"

#define PIECE		(256 * KIB)
#define MAX_PIECES	1024

static size_t limit;

/* As many pieces as the device gives, alternately from two open files. */
static size_t take_all(const int *fds, unsigned char **pieces)
{
	size_t n;

	for (n = 0; n < MAX_PIECES; n++) {
		pieces[n] = map(fds[n & 1], n % 3 ? SHARED : SHARED_UNCLEARED, PIECE);
		if (!pieces[n])
			break;
		fill(pieces[n], 0xa5, PIECE);
	}
	return n;
}

/* What a shell does: starts a program, which needs memory, and waits for it. */
static bool others_survive(void)
{
	unsigned char *p = mmap(NULL, 256 * KIB, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return expect(p != MAP_FAILED) && expect(!munmap(p, 256 * KIB)) &&
	       expect(ended_well(start_child("nothing", 0, 0)));
}

static bool limit_is_reached(void)
{
	static unsigned char *pieces[MAX_PIECES];
	int fds[] = { open_pages(), open_pages() };
	int klog = klog_open(true);
	bool ok = true;
	size_t n, i;
	int round;

	for (round = 0; ok && round < 3; round++) {
		n = take_all(fds, pieces);
		ok = expect(errno == ENOMEM) && expect(n == limit / PIECE) &&
		     others_survive();
		if (n != limit / PIECE)
			ksft_print_msg("%zu pieces of %zu bytes, limit %zu\n", n, PIECE, limit);
		for (i = 0; i < n; i++)
			ok &= !munmap(pieces[i], PIECE);
	}
	ok = expect(ok) && expect(klog_silent(klog));
	close(klog);
	close(fds[0]);
	close(fds[1]);
	return ok;
}

static bool to_the_page(void)
{
	static unsigned char *pieces[MAX_PIECES];
	int fds[] = { open_pages(), open_pages() };
	size_t n = take_all(fds, pieces);
	size_t rest = limit - n * PIECE;
	unsigned char *last = rest ? map(fds[0], SHARED, rest) : NULL;
	unsigned char *p;
	bool ok = expect(n) && expect(last || !rest) &&
		  expect(!map(fds[0], SHARED, 1) && errno == ENOMEM);
	size_t i;

	/* One page less, and there is room for one page. */
	ok &= expect(!munmap(pieces[0], PIECE));
	pieces[0] = map(fds[0], SHARED, PIECE - PAGE);
	p = map(fds[1], SHARED, 1);
	ok &= expect(pieces[0] && p) && expect(!map(fds[0], SHARED, 1)) &&
	      expect(!munmap(p, 1)) && expect(!munmap(pieces[0], PIECE - PAGE));

	for (i = 1; i < n; i++)
		ok &= !munmap(pieces[i], PIECE);
	if (rest)
		ok &= !munmap(last, rest);
	close(fds[0]);
	close(fds[1]);
	return expect(ok);
}

static bool too_large_at_once(void)
{
	int fd = open_pages();
	int klog = klog_open(true);
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].direct)
			continue;
		ok = expect(!map(fd, &kinds[i], limit + 1) && errno == ENOMEM) &&
		     expect(!map(fd, &kinds[i], limit + PAGE) && errno == ENOMEM) &&
		     expect(dirty(fd, &kinds[i], PIECE, 0));
	}
	ok = ok && expect(klog_silent(klog));
	close(klog);
	close(fd);
	return ok;
}

static bool failures_do_not_count(void)
{
	int fd = open_pages();
	unsigned char *p;
	bool ok = true;
	int i;

	for (i = 0; i < 1000; i++)
		ok &= !map(fd, SHARED, limit + PAGE);
	p = map(fd, SHARED, PIECE);
	ok = expect(ok) && expect(p) && expect(!munmap(p, PIECE));
	close(fd);
	return ok;
}

/* A process that dies at the limit gives the room back. */
static int child_takes_all(void)
{
	static unsigned char *pieces[MAX_PIECES];
	int fds[] = { open_pages(), open_pages() };

	return take_all(fds, pieces) != limit / PIECE;
}

static bool room_after_death(void)
{
	int i;

	for (i = 0; i < 3; i++)
		if (!expect(ended_well(start_child("all", limit, 0))))
			return false;
	return true;
}

static const struct test tests[] = {
	{ "more than the limit at once is ENOMEM, in every kind, silently", too_large_at_once },
	{ "two open files share the limit, others live on at it, three times", limit_is_reached },
	{ "mappings that failed take no room", failures_do_not_count },
	{ "a process that dies at the limit gives the room back", room_after_death },
	{ "the limit holds to the page", to_the_page },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv)) {
		limit = atol(argv[3]);
		return strcmp(argv[2], "all") ? 0 : child_takes_all();
	}

	if (argc > 1) {
		limit = atol(argv[1]);
	} else {
		struct sysinfo info;

		syscall(__NR_sysinfo, &info);
		limit = info.totalram / PAGE / 4 * 3 * PAGE;
	}
	run_tests(tests, ARRAY_SIZE(tests));
}

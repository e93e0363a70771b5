// SPDX-License-Identifier: GPL-2.0
/*
 * What waits for reuse belongs to everybody: a process that takes anonymous memory
 * until there is no more gets as much as it would have got without the device.
 */
#include "run.h"
#include "stats.h"

#define MAX_RUNS	256
#define CHILD_GO	10

/* What a child tells its parent, whose memory it can write to. */
struct report {
	unsigned long chunks;
	bool started;
};

static struct report report;

/*
 * The core says on the console what it could not get, with a call trace. That is
 * meant to happen here, and only there.
 */
static void console_shows(const char *level)
{
	write_file("/proc/sys/kernel/printk", level);
}

/*
 * Takes all there is in chunks of @len. Chunks from 64 KiB on end in ENOMEM. For single
 * pages the kernel looks for a victim: this process offers itself.
 */
static int child_takes_all(struct report *to, size_t len)
{
	write_file("/proc/self/oom_score_adj", "1000");
	to->started = wait_other(CHILD_GO);
	while (mmap(NULL, len, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		to->chunks++;
	return errno != ENOMEM;
}

/* What waits: how many runs of which length. */
static const struct runs {
	size_t len;
	size_t count;
} some_runs[] = {
	{ 36 * KIB, 256 },
	{ 256 * KIB, 240 },
	{ 5 * MIB + 12 * KIB, 8 },
	{ 16 * MIB, 3 },
};

static const struct runs full = { MIB, 64 };

static bool fill_cache(const struct runs *runs)
{
	static unsigned char *p[MAX_RUNS];
	int fd = open_pages();
	bool ok = true;
	size_t i;

	drop_cached();
	for (i = 0; i < runs->count; i++) {
		p[i] = map(fd, SHARED_UNCLEARED, runs->len);
		ok &= !!p[i];
	}
	for (i = 0; i < runs->count; i++)
		if (p[i])
			ok &= !munmap(p[i], runs->len);
	close(fd);
	return expect(ok) && expect(cached() == (long)(runs->count * runs->len));
}

/*
 * How many chunks of @len a process gets, after @runs were mapped and unmapped, which
 * then wait for reuse or not. The process is there before they are made: where
 * it lies itself must not depend on them.
 */
static unsigned long chunks_to_be_had(size_t len, const struct runs *runs, bool waits)
{
	int pipefd[2];
	int status;
	pid_t pid;
	bool ok;

	report.chunks = 0;
	report.started = false;
	if (!expect(!pipe(pipefd)))
		return 0;
	dup2(pipefd[0], CHILD_GO);
	pid = start_child("all", (long)&report, len);
	close(CHILD_GO);
	ok = fill_cache(runs) && is_idle();
	if (!waits)
		drop_cached();
	sleep_ms(100);
	console_shows("1");
	ok &= expect(signal_other(pipefd[1]));
	status = wait_status(pid);
	console_shows("7");
	close(pipefd[0]);
	close(pipefd[1]);
	ok &= expect(report.started) && expect(status == (len > PAGE ? 0 : SIGKILL));
	return ok ? report.chunks : 0;
}

/*
 * Whatever waits is as good as free. What the mappings have left in pieces is
 * not the cache's fault: so they are made both times.
 */
static bool as_much_as_without(size_t chunk, const struct runs *runs)
{
	unsigned long without = chunks_to_be_had(chunk, runs, false);
	unsigned long with = chunks_to_be_had(chunk, runs, true);

	if (with < without)
		ksft_print_msg("%lu chunks of %zu KiB, not %lu; %zu runs of %zu KiB waited\n",
			       with, chunk / KIB, without, runs->count, runs->len / KIB);
	/* The kernel's own records of 25000 mappings differ by a few pages. */
	return expect(without * chunk > 64 * MIB) && with >= without - without / 1000;
}

static bool small_chunks(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= as_much_as_without(64 * KIB, &some_runs[i]);
	return ok;
}

static bool large_chunks(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= as_much_as_without(4 * MIB, &some_runs[i]);
	return ok;
}

static bool single_pages(void)
{
	return as_much_as_without(PAGE, &full);
}

/* How ever little waits, it comes back: a page in the way splits a block. */
static bool little_waits(void)
{
	struct runs runs = { PAGE, 1 };
	bool ok = true;
	int i;

	for (i = 0; i < 64; i++) {
		runs.len = (i / 8 + 1) * PAGE;
		ok &= fill_cache(&runs);
		drop_cached();
		ok &= expect(cached() == 0);
	}
	return ok;
}

/* The device asks itself first. */
static bool own_mappings(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= fill_cache(&some_runs[i]) && expect(dirty(fd, SHARED, 80 * MIB, 0));
	close(fd);
	return ok;
}

/* The page cache is memory that others want, too. */
static bool files(void)
{
	static unsigned char buf[64 * KIB];
	bool ok = fill_cache(&full);
	int fd = open("/tmp/large", O_RDWR | O_CREAT, 0600);
	size_t i;

	for (i = 0; ok && i < 80 * MIB / sizeof(buf); i++)
		ok = expect(write(fd, buf, sizeof(buf)) == sizeof(buf));
	close(fd);
	return expect(!unlink("/tmp/large")) && ok;
}

static const struct test tests[] = {
	{ "anonymous memory in chunks of 64 KiB: as much with a full cache as with none",
	  small_chunks },
	{ "anonymous memory in chunks of 4 MiB: as much with a full cache as with none",
	  large_chunks },
	{ "anonymous memory in single pages: as much with a full cache as with none",
	  single_pages },
	{ "a file of 80 MiB finds room beside a full cache of 64 MiB", files },
	{ "a mapping of 80 MiB finds room beside a full cache of 64 MiB", own_mappings },
	{ "a few pages that wait come back as well", little_waits },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child_takes_all((struct report *)atol(argv[3]), atol(argv[4]));
	run_tests(tests, ARRAY_SIZE(tests));
}

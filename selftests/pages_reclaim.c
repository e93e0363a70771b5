// SPDX-License-Identifier: GPL-2.0
/*
 * What waits for reuse belongs to everybody: a process that takes anonymous memory
 * until there is no more gets as much as it would have got without the cache. The
 * boot must not have loaded the module.
 */
#include <linux/sysinfo.h>

#include "module.h"
#include "run.h"
#include "stats.h"

#define MAX_RUNS	256
#define CHILD_GO	10
#define ENOUGH		(64 * MIB)

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
 * After a small request has broken into a page block the core holds 4 MiB more back than
 * before, for a while. It does so with the module and without, and at no certain time, which
 * would drown what is to be measured.
 */
static void hold_nothing_back(void)
{
	write_file("/proc/sys/vm/watermark_boost_factor", "0");
}

/*
 * Takes all there is in chunks of @len, until that is ENOMEM. Or else the kernel needs a
 * page for its own records, and looks for a victim: this process offers itself.
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
	{ 132 * KIB, 256 },
	{ 5 * MIB + 12 * KIB, 8 },
	{ 256 * KIB, 240 },
	{ 16 * MIB, 3 },
};

static const struct runs full = { MIB, 64 };

/* With what the process is compared. */
enum device {
	WITHOUT_CACHE,
	WITH_CACHE,
	UNLOADED,
};

static bool map_and_unmap(const struct runs *runs)
{
	static unsigned char *p[MAX_RUNS];
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < runs->count; i++) {
		p[i] = map(fd, SHARED_UNCLEARED, runs->len);
		ok &= !!p[i];
	}
	for (i = 0; i < runs->count; i++)
		if (p[i])
			ok &= !munmap(p[i], runs->len);
	close(fd);
	return expect(ok) && is_idle();
}

static bool fill_cache(const struct runs *runs)
{
	drop_cached();
	return map_and_unmap(runs) && expect(cached() == (long)(runs->count * runs->len));
}

/*
 * How many chunks of @len a process gets after @runs were mapped and unmapped. The
 * process is there before they are made: where it lies itself must not depend on them.
 */
static unsigned long chunks_to_be_had(size_t len, const struct runs *runs, enum device device)
{
	int pipefd[2];
	int status;
	pid_t pid;
	bool ok;

	report.chunks = 0;
	report.started = false;
	settled_free_pages();
	if (!expect(!pipe(pipefd)))
		return 0;
	dup2(pipefd[0], CHILD_GO);
	pid = start_child("all", (long)&report, len);
	close(CHILD_GO);

	ok = expect(!load(device == WITHOUT_CACHE ? "cache_bytes=0" : ""));
	if (device == WITHOUT_CACHE)
		ok &= map_and_unmap(runs) && expect(cached() == 0);
	else
		ok &= fill_cache(runs);
	if (device == UNLOADED)
		ok &= expect(!unload());

	console_shows("1");
	ok &= expect(signal_other(pipefd[1]));
	status = wait_status(pid);
	console_shows("7");
	close(pipefd[0]);
	close(pipefd[1]);
	ok &= expect(report.started) && expect(status == 0 || status == SIGKILL);
	ok &= device == UNLOADED || expect(!unload());
	return ok && expect(report.chunks * len > ENOUGH) ? report.chunks : 0;
}

static long memory_free(void)
{
	struct sysinfo info;

	settled_free_pages();
	syscall(__NR_sysinfo, &info);
	return info.freeram / PAGE;
}

/* Pages that the module takes for itself, with nothing mapped and nothing waiting. */
static long own_pages(void)
{
	long before = memory_free();
	bool ok = expect(!load("")) && map_and_unmap(&full);
	long cost = before - memory_free();

	return expect(!unload()) && ok ? cost : 0;
}

/*
 * Two runs of the same differ by a few pages: where a record of the kernel's happens to lie
 * decides whether one chunk more fits. So a thousandth is allowed, and one chunk of the large
 * ones. Compared with an unloaded module, what that takes for itself is missing.
 */
static bool as_much_as(size_t chunk, const struct runs *runs, enum device device)
{
	unsigned long other = chunks_to_be_had(chunk, runs, device);
	unsigned long with = chunks_to_be_had(chunk, runs, WITH_CACHE);
	unsigned long slack = other / 1000;

	if (device == UNLOADED)
		slack += own_pages() * PAGE / chunk + 1;
	if (with + slack < other)
		ksft_print_msg("%lu chunks of %zu KiB, not %lu; %zu runs of %zu KiB waited\n",
			       with, chunk / KIB, other, runs->count, runs->len / KIB);
	return other && with && with + slack >= other;
}

static bool small_chunks(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= as_much_as(64 * KIB, &some_runs[i], WITHOUT_CACHE);
	return ok && as_much_as(20 * KIB, &some_runs[0], WITHOUT_CACHE);
}

static bool large_chunks(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= as_much_as(4 * MIB, &some_runs[i], WITHOUT_CACHE);
	return ok;
}

static bool single_pages(void)
{
	return as_much_as(PAGE, &full, WITHOUT_CACHE);
}

static bool unloaded(void)
{
	return as_much_as(PAGE, &full, UNLOADED) &&
	       as_much_as(64 * KIB, &some_runs[0], UNLOADED) &&
	       as_much_as(4 * MIB, &some_runs[2], UNLOADED);
}

/* However little waits, it comes back: a page in the way splits a block. */
static bool little_waits(void)
{
	struct runs runs = { PAGE, 1 };
	bool ok = expect(!load(""));
	int i;

	for (i = 0; i < 64; i++) {
		runs.len = (i / 8 + 1) * PAGE;
		ok &= fill_cache(&runs);
		drop_cached();
		ok &= expect(cached() == 0);
	}
	return expect(!unload()) && ok;
}

/* The device asks itself first. */
static bool own_mappings(void)
{
	bool ok = expect(!load(""));
	int fd = open_pages();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(some_runs); i++)
		ok &= fill_cache(&some_runs[i]) && expect(dirty(fd, SHARED, 80 * MIB, 0));
	close(fd);
	return expect(!unload()) && ok;
}

/* The page cache is memory that others want, too. */
static bool files(void)
{
	static unsigned char buf[64 * KIB];
	bool ok = expect(!load("")) && fill_cache(&full);
	int fd = open("/tmp/large", O_RDWR | O_CREAT, 0600);
	size_t i;

	for (i = 0; ok && i < 80 * MIB / sizeof(buf); i++)
		ok = expect(write(fd, buf, sizeof(buf)) == sizeof(buf));
	close(fd);
	ok &= expect(!unlink("/tmp/large"));
	return expect(!unload()) && ok;
}

static const struct test tests[] = {
	{ "anonymous memory in small chunks: as much with a full cache as with none",
	  small_chunks },
	{ "anonymous memory in chunks of 4 MiB: as much with a full cache as with none",
	  large_chunks },
	{ "anonymous memory in single pages: as much with a full cache as with none",
	  single_pages },
	{ "as much with a full cache as with the module unloaded, but for the module itself",
	  unloaded },
	{ "a file of 80 MiB finds room beside a full cache of 64 MiB", files },
	{ "a mapping of 80 MiB finds room beside a full cache", own_mappings },
	{ "a few pages that wait come back as well", little_waits },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child_takes_all((struct report *)atol(argv[3]), atol(argv[4]));
	hold_nothing_back();
	/* The first load says that the module taints the kernel, once and for all. */
	load("");
	unload();
	run_tests(tests, ARRAY_SIZE(tests));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Module parameters that pages_module leaves out: reserve_bytes, and what the others do
 * at 0, tiny and huge. The boot must not have loaded the module.
 */
#include "klog.h"
#include "module.h"
#include "run.h"
#include "stats.h"

/* What cannot be had, and what cannot be meant. */
static const struct {
	const char *params;
	int err;
} refused[] = {
	{ "reserve_bytes=-1", EINVAL },
	{ "reserve_bytes=-9223372036854775808", EINVAL },
	{ "reserve_bytes=9223372036854775807", EINVAL },
	{ "reserve_bytes=134217728", EINVAL },
	{ "reserve_bytes=1", EINVAL },
	{ "reserve_bytes=4095", EINVAL },
	{ "cache_bytes=1", EINVAL },
	{ "cache_bytes=4095", EINVAL },
	{ "reserve_bytes=120000000", ENOMEM },
	{ "max_bytes=-9223372036854775808", EINVAL },
	{ "max_bytes=1", EINVAL },
	{ "cache_bytes=-9223372036854775808", EINVAL },
	{ "policy=3 reserve_bytes=16777216", EINVAL },
};

static bool refused_values(void)
{
	int klog = klog_open(true);
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		long before = settled_free_pages();
		int err = load(refused[i].params);
		unsigned int lines = klog_count(klog, MODULE);

		if (!err)
			unload();
		if (err != refused[i].err || lines != 1 || !is_gone()) {
			ksft_print_msg("%s: errno %d, %u lines in the log\n",
				       refused[i].params, err, lines);
			ok = false;
		}
		ok &= memory_is_back(before);
	}
	close(klog);
	return ok;
}

/* What is accepted, and what it comes to: the reserve, and the largest mapping there is. */
static const struct {
	const char *params;
	long reserve;
	size_t works;
	size_t fails;
	long waits;
} accepted[] = {
	{ "reserve_bytes=0", 0, MIB, 0, MIB },
	{ "reserve_bytes=4096", PAGE, MIB, 0, MIB },
	{ "reserve_bytes=65537", 64 * KIB, MIB, 0, MIB },
	{ "reserve_bytes=67108864", 64 * MIB, 64 * MIB, 0, 64 * MIB },
	{ "max_bytes=4096", 0, PAGE, PAGE + 1, PAGE },
	{ "max_bytes=8191", 0, PAGE, PAGE + 1, PAGE },
	{ "max_bytes=65536", 0, 64 * KIB, 64 * KIB + 1, 64 * KIB },
	{ "max_bytes=9223372036854775807", 0, MIB, 1UL << 40, MIB },
	{ "cache_bytes=0", 0, MIB, 0, 0 },
	{ "cache_bytes=4096", 0, PAGE, 0, PAGE },
	{ "cache_bytes=8191", 0, PAGE, 0, PAGE },
	{ "cache_bytes=4096", 0, 2 * PAGE, 0, 0 },
	{ "cache_bytes=9223372036854775807", 0, MIB, 0, MIB },
};

static bool accepted_values(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(accepted); i++) {
		long before = settled_free_pages();
		bool good = expect(load(accepted[i].params) == 0);
		int fd;

		if (!good)
			return false;
		fd = open_pages();
		good = expect(figure(RESERVE) == accepted[i].reserve) &&
		       expect(dirty(fd, SHARED, accepted[i].works, 1)) &&
		       expect(cached() == accepted[i].waits);
		if (accepted[i].fails)
			good &= expect(!map(fd, SHARED, accepted[i].fails)) &&
				expect(errno == ENOMEM) && expect(figure(FAILURES) == 1);
		close(fd);
		good &= expect(unload() == 0) && expect(is_gone()) && memory_is_back(before);
		if (!good)
			ksft_print_msg("%s\n", accepted[i].params);
		ok &= good;
	}
	return ok;
}

static const struct test tests[] = {
	{ "what is refused leaves one line in the log and nothing else", refused_values },
	{ "what is accepted does what it says", accepted_values },
};

int main(void)
{
	first_loads();
	run_tests(tests, ARRAY_SIZE(tests));
}

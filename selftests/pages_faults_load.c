// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading while each allocation fails in turn, those of the kernel's
 * module loader included, and clearing in the background while all of them do.
 *
 * Needs a kernel with the options of config.debug.  The boot must not have loaded
 * the module.
 */
#include "faults.h"
#include "module.h"
#include "stats.h"

#define STAMP	0x69
#define LEN	(33 * KIB)

/* Loads, maps, unmaps, unloads, as if nothing had been. */
static bool works(const char *params)
{
	bool ok = expect(load(params) == 0) && expect(is_there());
	int fd = open(DEVICE, O_RDWR);
	unsigned char *p = map(fd, SHARED, LEN);

	ok = ok && expect(p) && expect(all_bytes(p, PAGE_UP(LEN), 0));
	if (p) {
		fill(p, STAMP, PAGE_UP(LEN));
		ok &= expect(all_bytes(p, PAGE_UP(LEN), STAMP)) && expect(!munmap(p, LEN));
	}
	close(fd);
	return expect(unload() == 0) && expect(is_gone()) && ok;
}

/* A load that fails leaves nothing; one that succeeds nevertheless can be unloaded. */
static bool load_with_fault(const char *params, int nth, bool *more)
{
	int fd = open(MODULE_FILE, O_RDONLY);
	int err;

	fail_allocation(nth);
	err = syscall(__NR_finit_module, fd, params, 0) ? errno : 0;
	*more = has_failed(AT_LOAD);
	close(fd);
	if (err)
		return expect(err == ENOMEM) && expect(*more) && expect(is_gone()) &&
		       works(params);
	return expect(unload() == 0) && expect(is_gone()) && works(params);
}

static bool loads_with_faults(const char *params)
{
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++)
		ok = load_with_fault(params, nth, &more);
	if (!ok)
		ksft_print_msg("allocation %d\n", nth - 1);
	return ok && expect(!more) && expect(nth > 2);
}

static bool plain_load(void)
{
	return loads_with_faults("");
}

static bool load_with_reserve(void)
{
	return loads_with_faults("reserve_bytes=5246976");
}

/* What waits has to go, and that needs no memory. */
static bool unload_with_faults(void)
{
	bool more = true;
	bool ok = true;
	int nth;

	for (nth = 1; ok && more && nth < MAX_FAULTS; nth++) {
		int fd, err;

		ok = expect(load("") == 0);
		fd = open_pages();
		ok &= expect(dirty(fd, SHARED, LEN, STAMP)) &&
		      expect(dirty(fd, SHARED, 5 * MIB, STAMP));
		close(fd);
		fail_allocation(nth);
		err = unload();
		more = has_failed(AT_UNLOAD);
		if (err)
			ok &= expect(err == ENOMEM) && expect(more) && expect(is_there()) &&
			      expect(unload() == 0);
		ok = ok && expect(is_gone()) && works("");
	}
	return ok && expect(!more);
}

/* Everything that anybody asks for fails, while the device clears what waits. */
static bool background_with_faults(void)
{
	static const size_t sizes[] = { PAGE, LEN, MIB, 4 * MIB, 5 * MIB };
	bool ok = expect(load("") == 0);
	int fd = open_pages();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		ok &= expect(dirty(fd, SHARED, sizes[i], STAMP));
	ok &= expect(figure(DIRTY) > 0);
	all_fail_for(2000, AT_BACKGROUND);
	ok &= expect(figure(DIRTY) == 0) && expect(figure(CLEAN) > 0);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned char *p = map(fd, SHARED, sizes[i]);

		ok &= expect(p) && expect(all_bytes(p, PAGE_UP(sizes[i]), 0));
		munmap(p, sizes[i]);
	}
	close(fd);
	return expect(unload() == 0) && ok;
}

static const struct test tests[] = {
	{ "loading: each allocation fails", plain_load },
	{ "loading with a reserve: each allocation fails", load_with_reserve },
	{ "unloading: each allocation fails", unload_with_faults },
	{ "clearing in the background while all allocations fail", background_with_faults },
};

int main(void)
{
	size_t i;

	ksft_print_header();
	set_up_faults();
	ksft_set_plan(ARRAY_SIZE(tests) + 1);
	works("");
	warm_up();
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	report_faults();
	ksft_finished();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Which mappings are zero and which show old bytes, looked at byte by byte over
 * memory that was dirtied before.
 *
 * Without an argument the device must follow policy "own": an uncleared mapping
 * shows what this same open file wrote, or zeros.  With the argument "any" it may
 * show anything, with "cleared" the opt-out must be without effect.
 */
#include "run.h"

/* What this open file writes, what another one writes, what anonymous memory held. */
#define OWN		0xa5
#define FOREIGN		0x5a
#define ANONYMOUS	0xc3

#define ROUNDS		4

static enum { POLICY_OWN, POLICY_ANY, POLICY_CLEARED } policy;

static const size_t sizes[] = {
	1, PAGE - 1, PAGE, PAGE + 1, 5000, 3 * PAGE, 33 * KIB, 64 * KIB, 100000,
	MIB - 1, MIB, 4 * MIB, 4 * MIB + 1, 5 * MIB,
};

/* The core makes copies of at most 4 MiB, and says so in the log. */
static size_t largest(const struct kind *kind)
{
	return kind->direct ? 5 * MIB : 4 * MIB;
}

static bool dirty_anonymous(size_t len)
{
	unsigned char *p = mmap(NULL, len, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	fill(p, ANONYMOUS, PAGE_UP(len));
	return !munmap(p, len);
}

/* Dirties memory of this size from all sides; whose bytes come last alternates. */
static bool dirty_all(int own, int foreign, size_t len, bool own_last)
{
	if (len <= 4 * MIB && !dirty_anonymous(len))
		return false;
	if (own_last)
		return dirty(foreign, SHARED, len, FOREIGN) && dirty(own, SHARED, len, OWN);
	return dirty(own, SHARED, len, OWN) && dirty(foreign, SHARED, len, FOREIGN);
}

static bool may_show_own(const struct kind *kind)
{
	return kind->uncleared && policy != POLICY_CLEARED;
}

/*
 * Maps and checks one size; *@shown is set when an old byte was seen.  The tail of
 * the last page belongs to the mapping, too.
 */
static bool check_content(int fd, const struct kind *kind, size_t len, bool *shown)
{
	unsigned char *p = map(fd, kind, len);
	size_t whole = PAGE_UP(len);
	size_t bad = whole;

	if (!expect(p))
		return false;
	if (!may_show_own(kind))
		bad = first_other(p, whole, 0, 0);
	else if (policy == POLICY_OWN)
		bad = first_other(p, whole, 0, OWN);
	if (bad < whole)
		ksft_print_msg("%zu bytes: byte %zu is 0x%x\n", len, bad, p[bad]);
	*shown |= !all_bytes(p, whole, 0);
	return expect(!munmap(p, len)) && bad == whole;
}

static bool over_dirtied_memory(const struct kind *kind, bool *shown)
{
	int own = open_pages();
	int foreign = open_pages();
	bool ok = true;
	size_t i;
	int round;

	for (i = 0; i < ARRAY_SIZE(sizes) && sizes[i] <= largest(kind); i++)
		for (round = 0; ok && round < ROUNDS; round++)
			ok = expect(dirty_all(own, foreign, sizes[i], round & 1)) &&
			     check_content(own, kind, sizes[i], shown);
	close(foreign);
	close(own);
	return ok;
}

static void test_kind(const struct kind *kind)
{
	static const char * const promises[] = {
		[POLICY_OWN] = "old bytes of this open file or zeros",
		[POLICY_ANY] = "anything",
		[POLICY_CLEARED] = "zero",
	};
	long before = settled_free_pages();
	bool shown = false;
	bool ok = over_dirtied_memory(kind, &shown) && memory_is_back(before);

	ksft_test_result(ok, "%s: %s over dirtied memory, 1 byte to %zu MiB\n", kind->name,
			 kind->uncleared ? promises[policy] : "zero", largest(kind) / MIB);

	/*
	 * A copy is made in the core's memory, which has no owner: only policy
	 * "any" leaves old bytes in it.
	 */
	if (!kind->uncleared)
		return;
	if (policy == POLICY_CLEARED)
		ksft_test_result(!shown, "%s: the opt-out is without effect\n", kind->name);
	else if (kind->direct || policy == POLICY_ANY)
		ksft_test_result(shown, "%s: the opt-out leaves old bytes\n", kind->name);
	else
		ksft_test_result(!shown, "%s: a copy never shows old bytes\n", kind->name);
}

/* An uncleared mapping of a new open file after @fd wrote and, maybe, was closed. */
static bool new_file_shows_nothing(bool close_first)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++) {
		bool shown = false;
		int old = open_pages();
		int new;

		ok = expect(dirty(old, SHARED_UNCLEARED, sizes[i], FOREIGN));
		if (close_first)
			close(old);
		new = open_pages();
		ok = ok && check_content(new, SHARED_UNCLEARED, sizes[i], &shown);
		close(new);
		if (!close_first)
			close(old);
	}
	return ok;
}

static bool reopened(void)
{
	return new_file_shows_nothing(true);
}

static bool opened_beside(void)
{
	return new_file_shows_nothing(false);
}

/* Bit 26 is also part of the size of a huge page; only alone does it mean the opt-out. */
static bool huge_page_sizes(void)
{
	const struct kind *bases[] = { SHARED, PRIVATE_READ_ONLY };
	int fd = open_pages();
	bool shown = false;
	bool ok = true;
	unsigned int size, base, huge;

	for (size = 0; size < 64; size++)
		for (base = 0; base < ARRAY_SIZE(bases); base++)
			for (huge = 0; huge < 2; huge++) {
				struct kind kind = *bases[base];

				if (size == 1 && !huge)
					continue;
				kind.flags |= size << MAP_HUGE_SHIFT;
				kind.flags |= huge ? MAP_HUGETLB : 0;
				/* With an MMU the flag is for files of hugetlbfs. */
				if (huge && has_mmu()) {
					ok &= expect(!map(fd, &kind, 3 * PAGE) && errno == EINVAL);
					continue;
				}
				ok &= expect(dirty(fd, SHARED, 3 * PAGE, OWN)) &&
				      check_content(fd, &kind, 3 * PAGE, &shown);
			}
	close(fd);
	return ok;
}

/* Both ways to opt out must not depend on one another. */
static bool flag_and_offset(void)
{
	struct kind kind = *SHARED_UNCLEARED;
	bool shown = false;

	kind.flags |= MAP_UNINITIALIZED;
	return over_dirtied_memory(&kind, &shown) &&
	       expect(shown == (policy != POLICY_CLEARED));
}

static bool zeroed_after_uncleared(void)
{
	int fd = open_pages();
	bool shown = false;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(sizes); i++)
		ok = expect(dirty(fd, SHARED_UNCLEARED, sizes[i], OWN)) &&
		     check_content(fd, SHARED, sizes[i], &shown);
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "shared, flag and offset together: as either", flag_and_offset },
	{ "a zeroed mapping is zero after an uncleared one", zeroed_after_uncleared },
	{ "MAP_HUGE_* of any size is zero, with and without MAP_HUGETLB", huge_page_sizes },
};

static const struct test own_tests[] = {
	{ "a new open file shows nothing of one that was closed", reopened },
	{ "a new open file shows nothing of one that is still open", opened_beside },
};

int main(int argc, char **argv)
{
	unsigned int plan = ARRAY_SIZE(kinds) + ARRAY_SIZE(tests);
	size_t i;

	/* With an MMU there is no opt-out. */
	if (has_mmu())
		policy = POLICY_CLEARED;
	else if (argc > 1)
		policy = strcmp(argv[1], "any") ? POLICY_CLEARED : POLICY_ANY;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		plan += kinds[i].uncleared;
	if (policy != POLICY_ANY)
		plan += ARRAY_SIZE(own_tests);
	ksft_print_header();
	ksft_set_plan(plan);
	warm_up();

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		test_kind(&kinds[i]);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	for (i = 0; policy != POLICY_ANY && i < ARRAY_SIZE(own_tests); i++)
		ksft_test_result(run_test(own_tests[i].run), "%s\n", own_tests[i].name);
	ksft_finished();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Exact accounting: what a mapping of each size costs, and what is left after many
 * mappings of all kinds and sizes.
 */
#include "buddy.h"
#include "random.h"
#include "run.h"
#include "stats.h"

#define MAX_PAGES	2000
#define SLOTS		48
#define ROUNDS		100000
#define DIRECT_KINDS	3

/* Does what is there now cost @pages pages?  The kernel's own memory moves for a moment. */
static bool costs(long before, long pages)
{
	long cost = before - unused_pages();

	if (cost == pages)
		return true;
	cost = before - settled_free_pages();
	if (cost != pages)
		ksft_print_msg("%ld pages cost %ld\n", pages, cost);
	return cost == pages;
}

/* Each direct kind by turns. */
static bool every_size(void)
{
	int fd = open_pages();
	long before = settled_free_pages();
	bool ok = true;
	long pages;

	for (pages = 1; ok && pages <= MAX_PAGES; pages++) {
		size_t len = pages * PAGE - pages % 7;
		unsigned char *p = map(fd, &kinds[pages % DIRECT_KINDS], len);

		ok = expect(p) && expect(costs(before, pages)) &&
		     expect(fd_count(fd, "mapped_bytes:") == pages * (long)PAGE) &&
		     expect(!munmap(p, len));
	}
	/* What is lost at one size is missed at the next. */
	ok = ok && expect(costs(before, 0));
	close(fd);
	return ok;
}

static bool many_sizes_at_once(void)
{
	static unsigned char *p[121];
	int fd = open_pages();
	long before = settled_free_pages();
	long sum = 0;
	bool ok = true;
	long i;

	for (i = 1; i < (long)ARRAY_SIZE(p); i++) {
		p[i] = map(fd, &kinds[i % DIRECT_KINDS], i * PAGE);
		ok &= expect(p[i]);
		sum += i;
	}
	ok &= expect(figure(MAPPED) == sum * (long)PAGE) &&
	      expect(fd_count(fd, "mapped_bytes:") == sum * (long)PAGE) &&
	      expect(fd_count(fd, "mappings:") == (long)ARRAY_SIZE(p) - 1) &&
	      expect(costs(before, sum));
	for (i = 1; i < (long)ARRAY_SIZE(p); i++)
		ok &= !munmap(p[i], i * PAGE);
	ok = expect(ok) && expect(costs(before, 0));
	close(fd);
	return ok;
}

/* Small ones often, large ones now and then, up to 4 MiB. */
static size_t random_length(void)
{
	unsigned int log = next_random() % 64;

	log = log > 60 ? 7 + log % 3 : log % 7;
	return ((next_random() & ((1U << log) - 1)) + (1U << log)) * PAGE - next_random() % PAGE;
}

static unsigned char *slots[SLOTS];
static size_t lens[SLOTS];

/* Maps or unmaps; the stamps at both ends must be what they were. */
static bool random_step(const int *files)
{
	unsigned int slot = next_random() % SLOTS;
	const struct kind *kind = &kinds[next_random() % ARRAY_SIZE(kinds)];
	unsigned char *p = slots[slot];
	size_t len = lens[slot];

	if (p) {
		slots[slot] = NULL;
		return expect(p[0] == slot + 1) && expect(p[len - 1] == slot + 1) &&
		       expect(!munmap(p, len));
	}
	len = random_length();
	/* The core warns when it has no block for a copy. */
	if (!kind->direct && len > MIB)
		len = MIB;
	p = map(files[next_random() % 2], kind, len);
	if (!expect(p)) {
		ksft_print_msg("%zu bytes, %s\n", len, kind->name);
		return false;
	}
	if (!expect(kind->uncleared || (!p[0] && !p[len / 2] && !p[len - 1])))
		return false;
	p[0] = slot + 1;
	p[len - 1] = slot + 1;
	slots[slot] = p;
	lens[slot] = len;
	return true;
}

static bool random_operations(void)
{
	int files[2] = { open_pages(), open_pages() };
	bool ok = true;
	long blocks;
	int i;

	settled_free_pages();
	blocks = largest_free_blocks();
	for (i = 0; ok && i < ROUNDS; i++)
		ok = random_step(files);
	for (i = 0; i < SLOTS; i++)
		if (slots[i])
			ok &= expect(!munmap(slots[i], lens[i]));
	settled_free_pages();
	ok &= largest_blocks_are_back(blocks) &&
	      expect(figure(MAPPINGS) == 0) && expect(dirty(files[0], SHARED, 33 * MIB, 0));
	close(files[0]);
	close(files[1]);
	return ok;
}

static const struct test tests[] = {
	{ "1 to 2000 pages cost 1 to 2000 pages, and give them back", every_size },
	{ "120 mappings of 1 to 120 pages cost their sum", many_sizes_at_once },
	{ "100000 random operations in all kinds leave the largest blocks whole",
	  random_operations },
};

int main(void)
{
	run_tests(tests, ARRAY_SIZE(tests));
}

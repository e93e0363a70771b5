// SPDX-License-Identifier: GPL-2.0
/*
 * Which sizes work, and what a mapping costs: its own pages and no more.
 *
 * Expects a machine of 128 MiB, a limit (max_bytes) of 100 MiB, and no cache of
 * freed runs (cache_bytes=1), so that fragmentation is what this program makes.
 */
#include "buddy.h"
#include "klog.h"
#include "place.h"
#include "random.h"
#include "run.h"

#define MAX_PAGES	200
#define LARGEST_ORDER	10
#define PIECE		(64 * KIB)
#define PIECES		2048
#define CHURN_SLOTS	32
#define CHURN_ROUNDS	100000

/* Writes its own number into each page of the run and reads it back. */
static bool stamps_hold(unsigned char *p, size_t len)
{
	size_t words = PAGE / sizeof(unsigned long);
	unsigned long *page = (unsigned long *)p;
	unsigned long i, count = PAGE_UP(len) / PAGE;

	for (i = 0; i < count; i++) {
		page[i * words] = i + 1;
		page[(i + 1) * words - 1] = ~i;
	}
	for (i = 0; i < count; i++)
		if (page[i * words] != i + 1 || page[(i + 1) * words - 1] != ~i)
			return false;
	return true;
}

/* Maps, checks, unmaps; the mapping costs exactly its pages while it lives. */
static bool size_works(int fd, const struct kind *kind, size_t len)
{
	/* With an MMU a write to a private mapping would need a copy, and as much again. */
	bool writes = !has_mmu() || kind->prot & PROT_WRITE;
	long before = settled_free_pages();
	unsigned char *p = map(fd, kind, len);
	long during;
	bool ok;

	if (!expect(p))
		return false;
	during = settled_free_pages();
	if (before - during != (long)(PAGE_UP(len) / PAGE))
		ksft_print_msg("%zu bytes cost %ld pages\n", len, before - during);
	ok = expect((unsigned long)p % PAGE == 0) &&
	     expect(kind->uncleared || all_bytes(p, PAGE_UP(len), 0)) &&
	     expect(!writes || stamps_hold(p, len)) &&
	     expect(before - during == (long)(PAGE_UP(len) / PAGE));
	return expect(!munmap(p, len)) && memory_is_back(before) && ok;
}

static void test_size(const char *name, size_t len)
{
	int fd = open_pages();
	int klog = klog_open(true);
	bool ok = size_works(fd, SHARED, len) && size_works(fd, SHARED_UNCLEARED, len) &&
		  size_works(fd, PRIVATE_READ_ONLY, len) && klog_silent(klog);

	close(klog);
	close(fd);
	ksft_test_result(ok, "%s: contiguous, page-aligned, zeroed, costs %zu pages\n", name,
			 PAGE_UP(len) / PAGE);
}

static const struct {
	const char *name;
	size_t len;
} sizes[] = {
	/* The large ones first, as long as the memory lies in one piece. */
	{ "64 MiB", 64 * MIB },
	{ "33 MiB", 33 * MIB },
	{ "16 MiB", 16 * MIB },
	{ "5 MiB", 5 * MIB },
	{ "0x64b000 bytes", 0x64b000 },
	{ "4 MiB + 4 KiB", 4 * MIB + 4 * KIB },
	{ "4 MiB + 1 byte", 4 * MIB + 1 },
	{ "4 MiB - 4 KiB", 4 * MIB - 4 * KIB },
	{ "1 byte", 1 },
	{ "4095 bytes", 4095 },
	{ "4097 bytes", 4097 },
	{ "33 KiB", 33 * KIB },
	{ "12345 bytes", 12345 },
	{ "1234567 bytes", 1234567 },
};

static bool every_order(void)
{
	int fd = open_pages();
	bool ok = true;
	int order;

	for (order = 0; ok && order <= LARGEST_ORDER; order++)
		ok = size_works(fd, SHARED, PAGE << order) &&
		     size_works(fd, SHARED_UNCLEARED, PAGE << order);
	close(fd);
	return ok;
}

static bool every_page_count(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t pages;

	for (pages = 1; ok && pages <= MAX_PAGES; pages++)
		ok = size_works(fd, &kinds[pages % 3], pages * PAGE);
	close(fd);
	return ok;
}

/* Where the run lies there must be memory. */
static bool lies_in_memory(void)
{
	int fd = open_pages();
	unsigned char *p = map(fd, SHARED, 33 * MIB);
	unsigned long place = place_of(p, SHARED);
	char iomem[2048];
	char *line;
	bool ok = false;

	if (!expect(place != NOWHERE))
		return false;
	read_file("/proc/iomem", iomem, sizeof(iomem));
	for (line = iomem; line && *line; line = strchr(line, '\n')) {
		char *end;
		unsigned long start;

		line += *line == '\n';
		start = strtoul(line, &end, 16);
		if (strstr(end, "System RAM") && *end == '-')
			ok |= place >= start &&
			      place + 33 * MIB - 1 <= strtoul(end + 1, NULL, 16);
		if (ok)
			break;
	}
	close(fd);
	return expect(!munmap(p, 33 * MIB)) && expect(ok);
}

/* As many pieces as the device gives; returns their number. */
static size_t take_all(int fd, unsigned char **pieces)
{
	size_t n;

	for (n = 0; n < PIECES; n++) {
		pieces[n] = map(fd, SHARED_UNCLEARED, PIECE);
		if (!pieces[n])
			break;
	}
	return n;
}

/*
 * Nearly all memory in pieces, every second one given back: there is plenty of
 * memory, and no two pieces of it side by side.
 */
static bool fragmented(void)
{
	static unsigned char *pieces[PIECES];
	int fd = open_pages();
	int klog = klog_open(true);
	size_t n = take_all(fd, pieces);
	unsigned char *p;
	long before;
	bool ok = expect(n > 64 * MIB / PIECE) && expect(errno == ENOMEM);
	size_t i;

	for (i = 0; i < n; i += 2)
		ok &= !munmap(pieces[i], PIECE);
	before = settled_free_pages();
	for (i = 0; i < 100; i++) {
		p = map(fd, SHARED, 32 * MIB);
		ok &= expect(!p && errno == ENOMEM) &&
		      expect(fd_count(fd, "mappings:") == (long)n / 2);
	}
	ok &= memory_is_back(before) && klog_silent(klog) &&
	      expect(fd_count(fd, "mapped_bytes:") == (long)(n / 2 * PIECE));
	for (i = 1; i < n; i += 2)
		ok &= !munmap(pieces[i], PIECE);
	/* The core's records of a thousand mappings lie in between; RCU frees them. */
	settled_free_pages();
	p = map(fd, SHARED, 32 * MIB);
	ok &= expect(p) && expect(all_bytes(p, 32 * MIB, 0)) && expect(!munmap(p, 32 * MIB));
	close(klog);
	close(fd);
	return ok;
}

static bool churn(void)
{
	static unsigned char *p[CHURN_SLOTS];
	static size_t len[CHURN_SLOTS];
	int fd = open_pages();
	bool ok = true;
	long blocks;
	size_t i;

	settled_free_pages();
	blocks = largest_free_blocks();
	for (i = 0; ok && i < CHURN_ROUNDS; i++) {
		unsigned int slot = next_random() % CHURN_SLOTS;

		if (p[slot]) {
			ok = *p[slot] == slot + 1 && !munmap(p[slot], len[slot]);
			p[slot] = NULL;
		} else {
			len[slot] = (next_random() % 64 + 1) * PAGE;
			p[slot] = map(fd, SHARED_UNCLEARED, len[slot]);
			ok = p[slot];
			if (ok)
				*p[slot] = slot + 1;
		}
	}
	expect(ok);
	for (i = 0; i < CHURN_SLOTS; i++)
		if (p[i])
			ok &= expect(!munmap(p[i], len[i]));
	settled_free_pages();
	ok &= largest_blocks_are_back(blocks) &&
	      expect(dirty(fd, SHARED, 32 * MIB, 0));
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "33 MiB lie in System RAM from end to end", lies_in_memory },
	{ "every order from 4 KiB to 4 MiB costs its own pages", every_order },
	{ "1 to 200 pages cost 1 to 200 pages", every_page_count },
	{ "fragment, fail cleanly, free, succeed", fragmented },
	{ "100000 random mappings leave the largest blocks whole", churn },
};

int main(void)
{
	unsigned int i;

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(sizes) + ARRAY_SIZE(tests));
	warm_up();
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		test_size(sizes[i].name, sizes[i].len);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	ksft_finished();
}

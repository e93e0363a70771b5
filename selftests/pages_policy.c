// SPDX-License-Identifier: GPL-2.0
/*
 * Secrets that others have left in memory are searched for in uncleared mappings.
 *
 * The argument says what the search must come to: "none" under the policies "never"
 * and "own", "some" under "any", where a search that finds nothing would show that it
 * does not look in the right places.
 */
#include "run.h"
#include "stats.h"

/*
 * Most of the memory: the device takes its own from other page blocks than programs and
 * files do, as long as there are any.
 */
#define AMOUNT		(72 * MIB)
#define CHUNK		(256 * KIB)

/* What no program and no kernel has in memory by chance. */
enum secret {
	OF_PROCESS, OF_FILE, OF_DEVICE
};

static const unsigned long base = 0x5ec2e75ec2e75e00UL;

static bool must_find;

static void write_secret(unsigned char *p, size_t len, enum secret secret)
{
	unsigned long *word = (unsigned long *)p;
	unsigned long *end = (unsigned long *)(p + len);

	while (word < end) {
		*word++ = base + secret;
		/* Or the compiler makes a call of memset() of it. */
		asm volatile("" : : : "memory");
	}
}

/* The mappings that are searched; all live at a time, so that they are different memory. */
static const struct {
	size_t len;
	size_t count;
} sizes[] = {
	/* The large ones first, as long as memory is in one piece. */
	{ 8 * MIB, 1 },
	{ 5 * MIB, 1 },
	{ 4 * MIB, 1 },
	{ 1234567, 4 },
	{ MIB, 4 },
	{ 100000, 20 },
	{ 64 * KIB, 20 },
	{ 33 * KIB, 20 },
	{ 3 * PAGE, 40 },
	{ PAGE, 40 },
};

#define MAX_MAPPINGS	160

static size_t words_found(const unsigned char *p, size_t len, enum secret secret)
{
	const unsigned long *word = (const unsigned long *)p;
	const unsigned long *end = (const unsigned long *)(p + PAGE_UP(len));
	size_t found = 0;

	for (; word < end; word++)
		found += *word == base + secret;
	return found;
}

/* Maps all sizes in one of the kinds, and counts the secret's words. */
static bool search(const struct kind *kind, enum secret secret, size_t *found)
{
	static unsigned char *p[MAX_MAPPINGS];
	static size_t len[MAX_MAPPINGS];
	int fd = open_pages();
	size_t n = 0;
	bool ok = true;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; j < sizes[i].count; j++) {
			if (!kind->direct && sizes[i].len > 4 * MIB)
				continue;
			len[n] = sizes[i].len;
			p[n] = map(fd, kind, len[n]);
			if (!expect(p[n])) {
				ok = false;
				break;
			}
			*found += words_found(p[n], len[n], secret);
			n++;
		}
	while (n--)
		ok &= !munmap(p[n], len[n]);
	close(fd);
	return expect(ok);
}

static int child_leaves_secret(void)
{
	size_t left;

	for (left = AMOUNT; left; left -= CHUNK) {
		unsigned char *p = mmap(NULL, CHUNK, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return 1;
		write_secret(p, CHUNK, OF_PROCESS);
	}
	return 0;
}

/* A process that ends, with all that it had in memory. */
static bool process_leaves_secret(void)
{
	return expect(ended_well(start_child("secret", 0, 0)));
}

/* The root file system is in memory: its files are nothing but page cache. */
static bool file_leaves_secret(void)
{
	static unsigned char buf[CHUNK];
	int fd = open("/tmp/secret", O_RDWR | O_CREAT, 0600);
	size_t left;
	bool ok = true;

	write_secret(buf, CHUNK, OF_FILE);
	for (left = AMOUNT; ok && left; left -= CHUNK)
		ok = write(fd, buf, CHUNK) == (ssize_t)CHUNK;
	fill(buf, 0, CHUNK);
	close(fd);
	ok = expect(ok) && expect(!unlink("/tmp/secret"));
	/* The harts have lists of their own, with pages of files that are gone. */
	write_file(DROP_CACHES, "1");
	return ok;
}

/* Writes through all sizes, so that runs of each of them wait. */
static bool writes_to_all(int fd)
{
	static unsigned char *p[MAX_MAPPINGS];
	static size_t len[MAX_MAPPINGS];
	bool ok = true;
	size_t n = 0;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (j = 0; ok && j < sizes[i].count; j++) {
			len[n] = sizes[i].len;
			p[n] = map(fd, SHARED_UNCLEARED, len[n]);
			ok = p[n];
			if (!ok)
				break;
			write_secret(p[n], PAGE_UP(len[n]), OF_DEVICE);
			n++;
		}
	while (n--)
		ok &= !munmap(p[n], len[n]);
	return expect(ok);
}

static int other_file;

static bool open_file_leaves_secret(void)
{
	return writes_to_all(other_file);
}

static bool closed_file_leaves_secret(void)
{
	int fd = open_pages();
	bool ok = writes_to_all(fd);

	close(fd);
	return ok;
}

static int child_uses_device(void)
{
	return !closed_file_leaves_secret();
}

static bool device_user_leaves_secret(void)
{
	return expect(ended_well(start_child("device", 0, 0)));
}

/* The runs go back to the page allocator as they are. */
static bool dropped_runs_hold_secret(void)
{
	bool ok = closed_file_leaves_secret();

	drop_cached();
	return ok;
}

/* Copies are made in memory of the page allocator, where runs that wait are not. */
static const struct source {
	const char *name;
	bool (*leave)(void);
	enum secret secret;
	bool waits;
} sources[] = {
	{ "a process that has ended", process_leaves_secret, OF_PROCESS, false },
	{ "a file that was deleted", file_leaves_secret, OF_FILE, false },
	{ "another open file", open_file_leaves_secret, OF_DEVICE, true },
	{ "an open file that was closed", closed_file_leaves_secret, OF_DEVICE, true },
	{ "a process that had the device open", device_user_leaves_secret, OF_DEVICE, true },
	{ "runs that were given back", dropped_runs_hold_secret, OF_DEVICE, false },
};

static bool search_all(const struct source *source)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t found = 0;
		bool good;

		/* The flag and the offset mean the same. */
		if (!kinds[i].offset)
			continue;
		drop_cached();
		ok &= source->leave() && search(&kinds[i], source->secret, &found);
		if (must_find)
			good = found || (source->waits && !kinds[i].direct);
		else
			good = !found;
		if (!good)
			ksft_print_msg("%s: %zu words of the secret\n", kinds[i].name, found);
		ok &= good;
	}
	return ok;
}

int main(int argc, char **argv)
{
	size_t i;

	if (is_child(argc, argv))
		return strcmp(argv[2], "device") ? child_leaves_secret() : child_uses_device();
	/* With an MMU there is no opt-out. */
	must_find = !has_mmu() && argc > 1 && !strcmp(argv[1], "some");
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(sources));
	warm_up();
	other_file = open_pages();
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		long before = settled_free_pages();
		bool ok = search_all(&sources[i]) && memory_is_back(before);

		ksft_test_result(ok, "uncleared mappings show %s of %s\n",
				 must_find ? "something" : "nothing", sources[i].name);
	}
	ksft_finished();
}

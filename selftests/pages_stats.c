// SPDX-License-Identifier: GPL-2.0
/*
 * The figures in debugfs move exactly as what is done says they should, and agree
 * with fdinfo and with the free memory.
 */
#include "random.h"
#include "run.h"
#include "stats.h"
#include "worker.h"

#define FILES	3
#define SLOTS	64
#define ROUNDS	2000
#define STAMP	0x3c
#define SHARED_KINDS	3

/* What a step does. */
enum action {
	MAP, UNMAP, FAIL, IDLE, DROP, COPY
};

/* How far each figure moves, in pages where it is one of bytes. */
struct step {
	const char *name;
	enum action action;
	/* Which of the mappings, which of the open files. */
	int slot;
	int file;
	const struct kind *kind;
	size_t pages;
	long mappings, mapped, clean, dirty, cleared, uncleared, recycled, failures;
};

static const struct step script[] = {
	{ "zeroed, new", MAP, 0, 0, SHARED, 3, .mappings = 1, .mapped = 3, .cleared = 3 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -3, .dirty = 3 },
	{ "uncleared, own run", MAP, 0, 0, SHARED_UNCLEARED, 3, .mappings = 1, .mapped = 3,
	  .dirty = -3, .uncleared = 3, .recycled = 3 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -3, .dirty = 3 },
	{ "uncleared, foreign run", MAP, 0, 1, SHARED_UNCLEARED, 3, .mappings = 1, .mapped = 3,
	  .dirty = -3, .cleared = 3, .recycled = 3 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -3, .dirty = 3 },
	{ "zeroed, dirty run", MAP, 0, 1, SHARED, 3, .mappings = 1, .mapped = 3, .dirty = -3,
	  .cleared = 3, .recycled = 3 },
	{ "another one, new", MAP, 1, 2, PRIVATE_READ_ONLY, 100, .mappings = 1, .mapped = 100,
	  .cleared = 100 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -3, .dirty = 3 },
	{ "unmap the other one", UNMAP, 1, .mappings = -1, .mapped = -100, .dirty = 100 },
	{ "idle", IDLE, .clean = 103, .dirty = -103, .cleared = 103 },
	{ "zeroed, clean run", MAP, 0, 0, SHARED, 100, .mappings = 1, .mapped = 100,
	  .clean = -100, .recycled = 100 },
	{ "uncleared, clean run", MAP, 1, 0, SHARED_UNCLEARED, 3, .mappings = 1, .mapped = 3,
	  .clean = -3, .recycled = 3 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -100, .dirty = 100 },
	{ "cut an own run", MAP, 0, 0, SHARED_UNCLEARED, 60, .mappings = 1, .mapped = 60,
	  .dirty = -60, .uncleared = 60, .recycled = 60 },
	{ "idle", IDLE, .clean = 40, .dirty = -40, .cleared = 40 },
	{ "cut a clean run", MAP, 2, 0, SHARED, 30, .mappings = 1, .mapped = 30, .clean = -30,
	  .recycled = 30 },
	{ "drop what waits", DROP, .clean = -10 },
	{ "a copy is the core's", COPY, 0, 0, .kind = &kinds[5], .pages = 9 },
	{ "a huge one fails", FAIL, 0, 0, SHARED, 1UL << 32, .failures = 1 },
	{ "a huge uncleared one fails", FAIL, 0, 0, SHARED_UNCLEARED, 1UL << 30,
	  .failures = 1 },
	{ "joined blocks, new", MAP, 3, 1, SHARED, 1283, .mappings = 1, .mapped = 1283,
	  .cleared = 1283 },
	{ "unmap", UNMAP, 3, .mappings = -1, .mapped = -1283, .dirty = 1283 },
	{ "joined blocks, again", MAP, 3, 1, SHARED_UNCLEARED, 1283, .mappings = 1,
	  .mapped = 1283, .dirty = -1283, .uncleared = 1283, .recycled = 1283 },
	{ "unmap", UNMAP, 3, .mappings = -1, .mapped = -1283, .dirty = 1283 },
	{ "unmap", UNMAP, 2, .mappings = -1, .mapped = -30, .dirty = 30 },
	{ "unmap", UNMAP, 1, .mappings = -1, .mapped = -3, .dirty = 3 },
	{ "unmap", UNMAP, 0, .mappings = -1, .mapped = -60, .dirty = 60 },
	{ "drop what waits", DROP, .dirty = -1376 },
};

static unsigned char *slots[SLOTS];
static size_t lens[SLOTS];
static int files[FILES];

static void open_files(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		files[i] = open_pages();
}

static void close_files(void)
{
	int i;

	for (i = 0; i < FILES; i++)
		close(files[i]);
}

static bool take_step(const struct step *step)
{
	size_t len = step->pages * PAGE;
	unsigned char *p;

	switch (step->action) {
	case MAP:
		p = map(files[step->file], step->kind, len);
		slots[step->slot] = p;
		lens[step->slot] = len;
		return expect(p);
	case UNMAP:
		return expect(!munmap(slots[step->slot], lens[step->slot]));
	case FAIL:
		return expect(!map(files[step->file], step->kind, len)) &&
		       expect(errno == ENOMEM);
	case COPY:
		return expect(dirty(files[step->file], step->kind, len, STAMP));
	case IDLE:
		return is_idle();
	case DROP:
		drop_cached();
	}
	return true;
}

static bool moves_as_said(const struct step *step, const struct stats *before)
{
	/* With an MMU nothing opts out. */
	long uncleared = has_mmu() ? 0 : step->uncleared;
	const long expected[FIGURES] = {
		[MAPPINGS] = step->mappings,
		[MAPPED] = step->mapped * PAGE,
		[CLEAN] = step->clean * PAGE,
		[DIRTY] = step->dirty * PAGE,
		[CLEARED] = (step->cleared + step->uncleared - uncleared) * PAGE,
		[UNCLEARED] = uncleared * PAGE,
		[RECYCLED] = step->recycled * PAGE,
		[FAILURES] = step->failures,
	};
	struct stats now = all_figures();
	bool ok = true;
	int i;

	for (i = 0; i < FIGURES; i++) {
		long by = now.of[i] - before->of[i];

		if (i == PEAK || by == expected[i])
			continue;
		ksft_print_msg("step %d, %s: %s moved by %ld, not by %ld\n",
			       (int)(step - script), step->name, figure_names[i], by,
			       expected[i]);
		ok = false;
	}
	return ok;
}

static bool scripted(void)
{
	bool ok = true;
	size_t i;

	open_files();
	drop_cached();
	for (i = 0; i < ARRAY_SIZE(script); i++) {
		struct stats before = all_figures();

		ok &= take_step(&script[i]) && moves_as_said(&script[i], &before);
	}
	close_files();
	return ok;
}

/* The peak rises with a mapping larger than all before, and stays. */
static bool peak(void)
{
	int fd = open_pages();
	size_t len = figure(PEAK) + 5 * PAGE;
	unsigned char *p = map(fd, SHARED_UNCLEARED, len);
	bool ok = expect(p) && expect(figure(PEAK) == (long)len) && expect(!munmap(p, len)) &&
		  expect(figure(PEAK) == (long)len) && expect(dirty(fd, SHARED, len - PAGE, 0)) &&
		  expect(figure(PEAK) == (long)len);

	close(fd);
	return ok;
}

/* Maps or unmaps something, from one of the open files, in one of the first kinds. */
static bool toggle(unsigned int number_of_kinds)
{
	unsigned int slot = next_random() % SLOTS;
	bool ok;

	if (slots[slot]) {
		ok = !munmap(slots[slot], lens[slot]);
		slots[slot] = NULL;
		return ok;
	}
	lens[slot] = next_random() % (300 * KIB) + 1;
	slots[slot] = map(files[slot % FILES], &kinds[next_random() % number_of_kinds],
			  lens[slot]);
	return slots[slot];
}

static bool unmap_slots(void)
{
	bool ok = true;
	int i;

	for (i = 0; i < SLOTS; i++) {
		if (slots[i])
			ok &= !munmap(slots[i], lens[i]);
		slots[i] = NULL;
	}
	return ok;
}

static bool agrees_with_fdinfo(void)
{
	bool ok = true;
	int i, j;

	open_files();
	memset(slots, 0, sizeof(slots));
	for (i = 0; ok && i < ROUNDS; i++) {
		long mappings = 0, mapped = 0;

		ok = expect(toggle(ARRAY_SIZE(kinds)));
		if (i % 20)
			continue;
		for (j = 0; j < FILES; j++) {
			mappings += fd_count(files[j], "mappings:");
			mapped += fd_count(files[j], "mapped_bytes:");
		}
		ok &= expect(figure(MAPPINGS) == mappings) && expect(figure(MAPPED) == mapped);
	}
	ok &= expect(unmap_slots());
	close_files();
	return ok && expect(figure(MAPPINGS) == 0) && expect(figure(MAPPED) == 0);
}

/* Free, waiting and mapped: all there is. */
static long all_pages(void)
{
	return free_pages() + (cached() + figure(MAPPED)) / (long)PAGE;
}

/* The kernel gives some of its own memory back a little later. */
static bool becomes(long sum)
{
	long now = all_pages();
	int i;

	for (i = 0; i < SETTLE_STEPS && now != sum; i++) {
		sleep_ms(SETTLE_STEP_MS);
		now = all_pages();
	}
	if (now != sum)
		ksft_print_msg("%ld pages before, %ld now\n", sum, now);
	return now == sum;
}

static bool agrees_with_free_memory(void)
{
	bool ok = true;
	bool waits = false;
	long sum;
	int i;

	open_files();
	memset(slots, 0, sizeof(slots));
	sum = settled_free_pages();
	for (i = 0; ok && i < ROUNDS; i++) {
		ok = expect(toggle(SHARED_KINDS));
		if (i % 100)
			continue;
		ok &= expect(becomes(sum));
		waits |= cached() > 0;
	}
	ok &= expect(unmap_slots()) && expect(becomes(sum)) && expect(waits);
	close_files();
	return ok;
}

/* One number and a new line in each file; nobody may write to them. */
static bool form_of_the_files(void)
{
	char text[64], path[64];
	struct stat st;
	bool ok = true;
	int i;

	for (i = 0; i < FIGURES; i++) {
		char *end;

		snprintf(path, sizeof(path), STATS_DIR "%s", figure_names[i]);
		read_file(path, text, sizeof(text));
		strtoul(text, &end, 10);
		ok &= expect(end > text) && expect(!strcmp(end, "\n")) &&
		      expect(!stat(path, &st)) && expect(!(st.st_mode & 0222));
	}
	return ok;
}

static const struct test tests[] = {
	{ "each file holds one number and is read-only", form_of_the_files },
	{ "all figures move by exactly what a script of 29 steps does", scripted },
	{ "peak_bytes rises to the most that was mapped, and stays", peak },
	{ "mappings and mapped_bytes are the sums over fdinfo", agrees_with_fdinfo },
	{ "what is not mapped and does not wait is free memory, to the page",
	  agrees_with_free_memory },
};

int main(void)
{
	worker_runs_when_asleep();
	run_tests(tests, ARRAY_SIZE(tests));
}

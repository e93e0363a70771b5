// SPDX-License-Identifier: GPL-2.0
/*
 * Random sequences of operations over all of the interface, and a model that knows the
 * right answer to each.
 *
 *	pages_fuzz seed=N count=N [promise=zeros|own|any] [limit=BYTES] [skip=A-B,...] [trace]
 *
 * The same seed makes the same operations. skip= leaves out those with these numbers,
 * the last one included, which changes nothing in the others; tools/fuzz makes a short
 * sequence out of a long one so. limit= is the module's max_bytes=.
 *
 * Left out: shrinking a copy by mremap(), after which munmap() corrupts the core's
 * records; SCM_RIGHTS, for which the kernel has no sockets: pidfd_getfd() passes open
 * files on instead.
 */
#include "fuzz_file.h"
#include "fuzz_map.h"
#include "fuzz_process.h"

#define MAX_SKIPS	512

static const struct operation {
	const char *name;
	void (*run)(void);
	unsigned int weight;
} operations[] = {
	{ "open", op_open, 60 },
	{ "close", op_close, 40 },
	{ "dup, pidfd_getfd", op_dup, 20 },
	{ "mmap", op_mmap, 330 },
	{ "munmap", op_munmap, 230 },
	{ "munmap of a part", op_munmap_wrong, 40 },
	{ "mremap", op_mremap, 30 },
	{ "msync, madvise, mprotect, mlock, mincore", op_advice, 20 },
	{ "look and write", op_check, 60 },
	{ "fdinfo, debugfs", op_figures, 30 },
	{ "read, pread, splice, sendfile", op_read, 40 },
	{ "write, pwrite, splice", op_write, 40 },
	{ "read into a mapping", op_read_mapping, 10 },
	{ "lseek, poll, ioctl, ftruncate, fsync, fallocate", op_others, 40 },
	{ "vfork", op_vfork, 8 },
	{ "threads", op_thread, 1 },
	{ "exec, exit, kill", op_exec, 1 },
};

static unsigned long done[ARRAY_SIZE(operations)];

static struct skip {
	unsigned long first, last;
} skips[MAX_SKIPS];

static bool is_skipped(unsigned long number)
{
	const struct skip *skip;

	for (skip = skips; skip->last; skip++)
		if (number >= skip->first && number <= skip->last)
			return true;
	return false;
}

/* "A-B,C-D,..."; operations are numbered from 1. */
static void read_skips(const char *text)
{
	struct skip *skip = skips;

	while (*text && skip < skips + MAX_SKIPS - 1) {
		char *end;

		skip->first = strtoul(text, &end, 10);
		skip->last = *end == '-' ? strtoul(end + 1, &end, 10) : skip->first;
		text = *end == ',' ? end + 1 : end;
		if (!skip->last || (*end && *end != ','))
			ksft_exit_fail_msg("skip=: cannot make sense of '%s'\n", text);
		skip++;
	}
	if (*text)
		ksft_exit_fail_msg("skip=: more than %d ranges\n", MAX_SKIPS - 1);
}

static const struct operation *some_operation(void)
{
	unsigned int sum = 0, i;
	unsigned long dice;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		sum += operations[i].weight;
	dice = draw(sum);
	for (i = 0; dice >= operations[i].weight; i++)
		dice -= operations[i].weight;
	return &operations[i];
}

static void run_operation(unsigned long number)
{
	const struct operation *operation;

	fuzz.now = number;
	fuzz.random = mix(fuzz.seed) ^ mix(number);
	operation = some_operation();
	if (fuzz.trace)
		ksft_print_msg("op %lu: %s\n", number, operation->name);
	operation->run();
	done[operation - operations]++;
}

static const char *value_of(const char *argument, const char *name)
{
	size_t len = strlen(name);

	return strncmp(argument, name, len) ? NULL : argument + len;
}

/* Takes NAME=NUMBER; whether the argument is that. */
static bool read_number(const char *argument, const char *name, unsigned long *number)
{
	const char *value = value_of(argument, name);

	if (value)
		*number = strtoul(value, NULL, 10);
	return value;
}

static unsigned long read_arguments(int argc, char **argv)
{
	unsigned long count = 0;
	const char *promise = "own";
	int i;

	fuzz.limit = -1UL;
	for (i = 1; i < argc; i++) {
		if (read_number(argv[i], "seed=", &fuzz.seed) ||
		    read_number(argv[i], "count=", &count) ||
		    read_number(argv[i], "limit=", &fuzz.limit))
			continue;
		if (value_of(argv[i], "skip="))
			read_skips(value_of(argv[i], "skip="));
		else if (value_of(argv[i], "promise="))
			promise = value_of(argv[i], "promise=");
		else if (!strcmp(argv[i], "trace"))
			fuzz.trace = true;
		else
			ksft_exit_fail_msg("cannot make sense of '%s'\n", argv[i]);
	}
	fuzz.promise = *promise == 'z' ? SHOWS_ZEROS : *promise == 'a' ? SHOWS_ANY : SHOWS_OWN;
	return count;
}

/* In the end everything goes, and the memory is back. */
static void clean_up(void)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (fuzz.slots[i].p)
			unmap(&fuzz.slots[i]);
	for (i = 0; i < FDS; i++)
		if (fuzz.fds[i].file)
			close(fuzz.fds[i].fd);
	want("mappings at the end", figure(MAPPINGS), 0);
	want("mapped_bytes at the end", figure(MAPPED), 0);
}

int main(int argc, char **argv)
{
	unsigned long count, number;
	long before;
	size_t i;

	if (is_child(argc, argv))
		return child(argc, argv);
	ksft_print_header();
	ksft_set_plan(2);
	count = read_arguments(argc, argv);
	warm_up();
	fuzz.failures = figure(FAILURES);
	/* Not what the first child leaves in the caches of the core. */
	before = settled_free_pages();

	for (number = 1; number <= count && !fuzz.broken; number++)
		if (!is_skipped(number))
			run_operation(number);
	if (!fuzz.broken)
		clean_up();
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		ksft_print_msg("%s: %lu\n", operations[i].name, done[i]);
	ksft_print_msg("refused for want of memory: %ld\n", fuzz.refused);
	ksft_test_result(count && !fuzz.broken, "seed %lu: the model is right\n", fuzz.seed);
	ksft_test_result(!fuzz.broken && memory_is_back(before), "all memory is back\n");
	ksft_finished();
}

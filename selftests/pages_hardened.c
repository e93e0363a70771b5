// SPDX-License-Identifier: GPL-2.0
/*
 * On a kernel that was booted with init_on_alloc=1 or init_on_free=1 the page
 * allocator clears all memory.  The device says so, and does not do it again.
 * What the mappings show there is a matter of pages_zero.
 *
 * Times are compared with those of the core on the same boot.  With an MMU the core
 * cannot be asked for memory that it does not clear, and the device's own count is all
 * there is.
 */
#include "klog.h"
#include "run.h"
#include "stats.h"

#define LEN	MIB
/* By the clock, if instructions are not counted: then the least of more of them. */
#define ROUNDS	(counts_instructions() ? 16 : 400)

/* What mmap() and munmap() take at least, in nanoseconds. */
struct cost {
	unsigned long long map;
	unsigned long long unmap;
};

static struct cost cost_of(int fd, const struct kind *kind)
{
	struct cost least = { -1ULL, -1ULL };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		unsigned long long start = now_ns(), mapped, end;
		unsigned char *p = map(fd, kind, LEN);

		mapped = now_ns();
		if (!p)
			ksft_exit_fail_perror("mmap");
		fill(p, 0xa5, LEN);
		end = now_ns();
		munmap(p, LEN);
		end = now_ns() - end;
		if (mapped - start < least.map)
			least.map = mapped - start;
		if (end < least.unmap)
			least.unmap = end;
	}
	return least;
}

/*
 * The core's own way to leave the clearing to the page allocator. It must have an
 * effect of its own, or there is nothing to compare with.
 */
static struct cost allocator_alone;
static unsigned long long clearing;

static bool core_opts_out(void)
{
	struct kind anonymous = { .prot = PROT_RW, .flags = MAP_PRIVATE | MAP_ANONYMOUS };
	struct cost cleared = cost_of(-1, &anonymous);

	anonymous.flags |= MAP_UNINITIALIZED;
	allocator_alone = cost_of(-1, &anonymous);
	clearing = cleared.map - allocator_alone.map;
	return allocator_alone.map < cleared.map / 4 * 3;
}

/*
 * A second clearing would cost as much as the first; the rest is allowed 3/10. The time that
 * instructions take is not in proportion to their number, so by the clock it is what the
 * core takes to clear a second time that is compared: half of it is allowed.
 */
static bool costs_no_more(const char *name, struct cost cost)
{
	bool ok = counts_instructions() ?
		  cost.map * 10 < allocator_alone.map * 13 &&
		  cost.unmap * 10 < allocator_alone.unmap * 13 :
		  cost.map < allocator_alone.map + clearing / 2 &&
		  cost.unmap < allocator_alone.unmap + clearing / 2;

	if (!ok)
		ksft_print_msg("%s: map %llu ns, unmap %llu ns; the core %llu and %llu ns\n",
			       name, cost.map, cost.unmap,
			       allocator_alone.map, allocator_alone.unmap);
	return ok;
}

static bool cleared_once(void)
{
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		ok &= costs_no_more(kinds[i].name, cost_of(fd, &kinds[i]));
	close(fd);
	return ok;
}

/* The mappings are zero, and it was not the device that cleared them. */
static bool not_cleared_by_device(void)
{
	int fd = open_pages();
	long cleared = figure(CLEARED);
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p = map(fd, &kinds[i], LEN);

		ok &= expect(p) && expect(all_bytes(p, LEN, 0));
		fill(p, 0xa5, LEN);
		ok &= expect(!munmap(p, LEN));
	}
	ok &= expect(figure(CLEARED) == cleared) && expect(cached() == 0);
	close(fd);
	return ok;
}

static bool log_says_so(void)
{
	int klog = klog_open(false);
	unsigned int lines = klog_count(klog, has_mmu() ? "opt-out not effective (RUST_UNCLEARED" :
						 "opt-out not effective (init_on_");

	close(klog);
	return expect(lines == 1);
}

int main(void)
{
	static const char once[] = "1 MiB is cleared once, in every kind of mapping";

	ksft_print_header();
	ksft_set_plan(3);
	warm_up();
	ksft_test_result(run_test(log_says_so), "one line of the log: opt-out not effective\n");
	ksft_test_result(run_test(not_cleared_by_device),
			 "mappings are zero, and the device has not cleared them\n");
	if (has_mmu())
		ksft_test_result_skip("%s: %s\n", once, NO_OPT_OUT);
	else if (core_opts_out())
		ksft_test_result(run_test(cleared_once), "%s\n", once);
	else
		ksft_test_result_skip("%s: the kernel lacks MMAP_ALLOW_UNINITIALIZED\n", once);
	ksft_finished();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Which mmap() requests succeed and which errno the others get.
 */
#include "klog.h"
#include "run.h"

static int klog;

/* Protections as PROT_READ (1), PROT_WRITE (2) and PROT_EXEC (4) add up. */
#define PROTS	8
static const char * const prot_names[PROTS] = {
	"---", "r--", "-w-", "rw-", "--x", "r-x", "-wx", "rwx",
};

/*
 * What a private mapping writes never reaches the device, so that only shared
 * ones ask for a file that is open for writing.  All ask for one that is open
 * for reading.
 */
static const struct access {
	const char *name;
	int mode;
	int type;
	int err[PROTS];
} accesses[] = {
	{ "O_RDWR shared", O_RDWR, MAP_SHARED, { 0 } },
	{ "O_RDWR private", O_RDWR, MAP_PRIVATE, { 0 } },
	{ "O_RDONLY shared", O_RDONLY, MAP_SHARED,
	  { 0, 0, EACCES, EACCES, 0, 0, EACCES, EACCES } },
	{ "O_RDONLY private", O_RDONLY, MAP_PRIVATE, { 0 } },
	{ "O_WRONLY shared", O_WRONLY, MAP_SHARED,
	  { EACCES, EACCES, EACCES, EACCES, EACCES, EACCES, EACCES, EACCES } },
	{ "O_WRONLY private", O_WRONLY, MAP_PRIVATE,
	  { EACCES, EACCES, EACCES, EACCES, EACCES, EACCES, EACCES, EACCES } },
};

static const struct request {
	const char *name;
	size_t len;
	int prot;
	int flags;
	off_t offset;
	int err;
} requests[] = {
	{ "length 0, shared", 0, PROT_RW, MAP_SHARED, 0, EINVAL },
	{ "length 0, private", 0, PROT_RW, MAP_PRIVATE, 0, EINVAL },
	{ "length 0, uncleared", 0, PROT_RW, MAP_SHARED, PAGES_OFFSET_UNCLEARED, EINVAL },
	{ "MAP_FIXED, shared", PAGE, PROT_RW, MAP_SHARED | MAP_FIXED, 0, EINVAL },
	{ "MAP_FIXED, private", PAGE, PROT_RW, MAP_PRIVATE | MAP_FIXED, 0, EINVAL },
	{ "MAP_SHARED_VALIDATE", PAGE, PROT_RW, MAP_SHARED_VALIDATE, 0, EINVAL },
	{ "neither shared nor private", PAGE, PROT_RW, 0, 0, EINVAL },

	{ "offset not at a page, shared", PAGE, PROT_RW, MAP_SHARED, 1, EINVAL },
	{ "offset not at a page, uncleared", PAGE, PROT_RW, MAP_SHARED,
	  PAGES_OFFSET_UNCLEARED + 1, EINVAL },
	{ "offset of one page, shared", PAGE, PROT_RW, MAP_SHARED, PAGE, EINVAL },
	{ "offset of one page, private", PAGE, PROT_RW, MAP_PRIVATE, PAGE, EINVAL },
	{ "offset of one page, private read-only", PAGE, PROT_READ, MAP_PRIVATE, PAGE, EINVAL },
	{ "offset of one page, flag", PAGE, PROT_RW, MAP_SHARED | MAP_UNINITIALIZED,
	  PAGE, EINVAL },
	{ "page before the uncleared offset", 2 * PAGE, PROT_RW, MAP_SHARED,
	  PAGES_OFFSET_UNCLEARED - PAGE, EINVAL },
	{ "page behind the uncleared offset, shared", PAGE, PROT_RW, MAP_SHARED,
	  PAGES_OFFSET_UNCLEARED + PAGE, EINVAL },
	{ "page behind the uncleared offset, private", PAGE, PROT_RW, MAP_PRIVATE,
	  PAGES_OFFSET_UNCLEARED + PAGE, EINVAL },
	{ "twice the uncleared offset", PAGE, PROT_RW, MAP_SHARED,
	  2 * PAGES_OFFSET_UNCLEARED, EINVAL },
	{ "negative offset, shared", PAGE, PROT_RW, MAP_SHARED, (off_t)(1ULL << 63), EINVAL },
	{ "negative offset, private", PAGE, PROT_RW, MAP_PRIVATE, (off_t)(1ULL << 63), EINVAL },
	{ "last page of the offsets, shared", PAGE, PROT_RW, MAP_SHARED, -PAGE, EINVAL },
	{ "last page of the offsets, private", PAGE, PROT_RW, MAP_PRIVATE, -PAGE, EINVAL },
	{ "offset wraps over the length, shared", 2 * PAGE, PROT_RW, MAP_SHARED, -PAGE, EINVAL },
	{ "offset wraps over the length, private", 2 * PAGE, PROT_RW, MAP_PRIVATE,
	  -PAGE, EINVAL },

	{ "length wraps to 0, shared", -1UL, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "length wraps to 0, private", -1UL, PROT_RW, MAP_PRIVATE, 0, ENOMEM },
	{ "longest length, shared", -PAGE, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "longest length, uncleared", -PAGE, PROT_RW, MAP_SHARED,
	  PAGES_OFFSET_UNCLEARED, ENOMEM },
	{ "longest length, private read-only", -PAGE, PROT_READ, MAP_PRIVATE, 0, ENOMEM },
	{ "sign bit of the length, shared", 1UL << 63, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "8 EiB less a page, shared", (1UL << 63) - PAGE, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "2^32 pages, shared", 1UL << 44, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "2^32 + 1 pages, shared", (1UL << 44) + PAGE, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "4 GiB, shared", 1UL << 32, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "4 GiB and a page, shared", (1UL << 32) + PAGE, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "4 GiB, uncleared", 1UL << 32, PROT_RW, MAP_SHARED, PAGES_OFFSET_UNCLEARED, ENOMEM },
	{ "4 GiB, private read-only", 1UL << 32, PROT_READ, MAP_PRIVATE, 0, ENOMEM },
	{ "1 GiB, shared", 1UL << 30, PROT_RW, MAP_SHARED, 0, ENOMEM },
	{ "1 GiB, flag", 1UL << 30, PROT_RW, MAP_SHARED | MAP_UNINITIALIZED, 0, ENOMEM },
	{ "an impossible length at a wrong offset", 1UL << 32, PROT_RW, MAP_SHARED, PAGE, EINVAL },
};

/* What is another error with an MMU, or none. */
static const struct {
	const char *name;
	int err;
} mmu_differences[] = {
	/* Here at address 0, where root may map. */
	{ "MAP_FIXED, shared", 0 },
	{ "MAP_FIXED, private", 0 },
	{ "MAP_SHARED_VALIDATE", 0 },
	{ "last page of the offsets, shared", EOVERFLOW },
	{ "last page of the offsets, private", EOVERFLOW },
	{ "offset wraps over the length, shared", EOVERFLOW },
	{ "offset wraps over the length, private", EOVERFLOW },
};

static int expected_errno(const struct request *r)
{
	size_t i;

	for (i = 0; has_mmu() && i < ARRAY_SIZE(mmu_differences); i++)
		if (!strcmp(mmu_differences[i].name, r->name))
			return mmu_differences[i].err;
	return r->err;
}

/* Bits 5 to 31 of the flags: all but the type of a mapping and MAP_FIXED. */
#define FIRST_FLAG_BIT	5
#define FLAG_BITS	32

#define FAILURES	10000

/* Makes one request; a mapping that succeeds against expectation is undone. */
static int request_errno(int fd, size_t len, int prot, int flags, off_t offset)
{
	void *p = mmap(NULL, len, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return errno;
	if ((unsigned long)p % PAGE || munmap(p, len))
		return -1;
	return 0;
}

static const char *outcome(int err)
{
	switch (err) {
	case 0:
		return "works";
	case EPERM:
		return "is EPERM";
	case ENOMEM:
		return "is ENOMEM";
	case EACCES:
		return "is EACCES";
	case EINVAL:
		return "is EINVAL";
	case EOVERFLOW:
		return "is EOVERFLOW";
	default:
		return "is another error";
	}
}

static bool check_errno(const char *name, int got, int wanted)
{
	if (got != wanted)
		ksft_print_msg("%s: errno %d, but it should be %d\n", name, got, wanted);
	return got == wanted;
}

static void test_access(const struct access *access, int prot)
{
	int wanted = access->err[prot];
	int fd = open(DEVICE, access->mode);
	long before = settled_free_pages();
	bool ok = fd >= 0;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(kinds); i++) {
		int flags = access->type | (kinds[i].flags & MAP_UNINITIALIZED);

		ok &= check_errno(kinds[i].name,
				  request_errno(fd, PAGE, prot, flags, kinds[i].offset),
				  wanted);
	}
	ok &= klog_silent(klog) && memory_is_back(before);
	close(fd);
	ksft_test_result(ok, "%s %s %s\n", access->name, prot_names[prot], outcome(wanted));
}

static void test_request(int fd, const struct request *r)
{
	long before = settled_free_pages();
	bool ok = check_errno(r->name,
			      request_errno(fd, r->len, r->prot, r->flags, r->offset),
			      expected_errno(r));

	ok &= klog_silent(klog) && memory_is_back(before);
	ksft_test_result(ok, "%s %s, nothing in the log\n", r->name, outcome(expected_errno(r)));
}

static void test_flag_bit(int fd, unsigned int bit)
{
	int got = request_errno(fd, PAGE, PROT_RW, MAP_SHARED | 1U << bit, 0);
	/* What only an MMU gives a meaning, which a file cannot have. */
	bool meaningless = has_mmu() && (1U << bit & (MAP_GROWSDOWN | MAP_HUGETLB));
	int wanted = meaningless ? EINVAL : 0;

	ksft_test_result(check_errno("flag", got, wanted),
			 "MAP_SHARED with flag bit %u %s\n", bit, outcome(wanted));
}

static bool other_offset_bits(void)
{
	int fd = open_pages();
	bool ok = true;
	int bit;

	for (bit = 0; bit < 64; bit++) {
		off_t offset = 1ULL << bit;
		size_t i;

		if (offset == PAGES_OFFSET_UNCLEARED)
			continue;
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			off_t both = offset | kinds[i].offset;

			ok &= check_errno(kinds[i].name,
					  request_errno(fd, PAGE, kinds[i].prot,
							kinds[i].flags, both),
					  EINVAL);
		}
	}
	close(fd);
	return ok;
}

static bool failures_leak_nothing(void)
{
	int fd = open_pages();
	bool ok = true;
	int i;

	for (i = 0; ok && i < FAILURES; i++) {
		const struct request *r = &requests[i % ARRAY_SIZE(requests)];

		ok = check_errno(r->name,
				 request_errno(fd, r->len, r->prot, r->flags, r->offset),
				 expected_errno(r));
	}
	close(fd);
	return expect(klog_silent(klog)) && ok;
}

static bool noexec_mount(void)
{
	const unsigned long remount = MS_REMOUNT | MS_BIND;
	int fd = open_pages();
	bool ok;

	if (!expect(!mount("", "/dev", "", remount | MS_NOEXEC, NULL)))
		return false;
	ok = check_errno("shared", request_errno(fd, PAGE, PROT_RW | PROT_EXEC,
						 MAP_SHARED, 0), EPERM);
	ok &= check_errno("private", request_errno(fd, PAGE, PROT_RW | PROT_EXEC,
						   MAP_PRIVATE, 0), EPERM);
	ok &= check_errno("not executable", request_errno(fd, PAGE, PROT_RW,
							  MAP_SHARED, 0), 0);
	ok &= expect(!mount("", "/dev", "", remount, NULL));
	close(fd);
	return ok;
}

static bool hint_is_ignored(void)
{
	int fd = open_pages();
	unsigned char *first = map(fd, SHARED, PAGE);
	unsigned char *second;
	bool ok;

	if (!expect(first))
		return false;
	second = mmap(first, PAGE, PROT_RW, MAP_SHARED, fd, 0);
	ok = expect(second != MAP_FAILED) && expect(second != first) &&
	     expect(!munmap(second, PAGE));
	close(fd);
	return expect(!munmap(first, PAGE)) && ok;
}

static const struct test tests[] = {
	{ "every other bit in the offset is EINVAL, in every kind of mapping", other_offset_bits },
	{ "an address hint is ignored", hint_is_ignored },
	{ "PROT_EXEC on a noexec mount is EPERM", noexec_mount },
	{ "10000 failing mappings leave the memory where it was", failures_leak_nothing },
};

int main(void)
{
	unsigned int i, prot;
	int fd;

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(accesses) * PROTS + ARRAY_SIZE(requests) +
		      FLAG_BITS - FIRST_FLAG_BIT + ARRAY_SIZE(tests));
	warm_up();
	klog = klog_open(true);
	fd = open_pages();

	for (i = 0; i < ARRAY_SIZE(accesses); i++)
		for (prot = 0; prot < PROTS; prot++)
			test_access(&accesses[i], prot);
	for (i = 0; i < ARRAY_SIZE(requests); i++)
		test_request(fd, &requests[i]);
	for (i = FIRST_FLAG_BIT; i < FLAG_BITS; i++)
		test_flag_bit(fd, i);
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		ksft_test_result(run_test(tests[i].run), "%s\n", tests[i].name);
	ksft_finished();
}

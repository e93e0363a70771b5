// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * include/pages.h, the interface for C programs.
 */
#include "pages.h"

#include "check.h"

static bool zeroed(void)
{
	int fd = pages_open();
	unsigned char *p = pages_map(fd, 3 * MIB + 1);
	bool ok = expect(fd >= 0) && expect(p) && expect(all_are(p, 0, 3 * MIB + 1));

	if (p)
		memset(p, 1, 3 * MIB + 1);
	ok &= expect(!pages_unmap(p, 3 * MIB + 1));
	ok &= expect(!pages_close(fd));
	return ok;
}

static bool uncleared(void)
{
	int fd = pages_open();
	unsigned char *p = pages_map_uncleared(fd, MIB);
	bool ok = expect(p);

	if (p)
		memset(p, 0x5a, MIB);
	ok &= expect(!pages_unmap(p, MIB));
	/* The default policy lets a program see its own bytes again. */
	p = pages_map_uncleared(fd, MIB);
	/* With an MMU there are zeros only. */
	ok &= expect(p) && expect(all_are(p, has_mmu() ? 0 : 0x5a, MIB));
	ok &= expect(!pages_unmap(p, MIB));
	p = pages_map(fd, MIB);
	ok &= expect(p) && expect(all_are(p, 0, MIB));
	ok &= expect(!pages_unmap(p, MIB));
	ok &= expect(!pages_close(fd));
	return ok;
}

static bool errors(void)
{
	int fd = pages_open();
	void *p = pages_map(fd, 8 * KIB);
	bool ok;

	errno = 0;
	ok = expect(!pages_map(fd, 0)) && expect(errno == EINVAL);
	errno = 0;
	ok &= expect(!pages_map(fd, SIZE_MAX / 2)) && expect(errno == ENOMEM);
	errno = 0;
	/* A part alone cannot be unmapped without an MMU. */
	if (has_mmu())
		ok &= expect(!pages_unmap(p, 4 * KIB));
	else
		ok &= expect(pages_unmap(p, 4 * KIB) == -1) && expect(errno == EINVAL);
	ok &= expect(!pages_unmap(p, 8 * KIB));
	errno = 0;
	ok &= expect(!pages_map(-1, 4 * KIB)) && expect(errno == EBADF);
	ok &= expect(!pages_close(fd));
	return ok;
}

static const struct test tests[] = {
	{ "pages_map() gives zeros", zeroed },
	{ "pages_map_uncleared() gives what the program wrote", uncleared },
	{ "errors are null pointers with errno", errors },
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}

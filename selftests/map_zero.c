// SPDX-License-Identifier: GPL-2.0
/*
 * Private mappings of /dev/zero, with an MMU or without: zeroed, and nobody
 * else's. And read(), which is what a mapping is filled by without an MMU.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest.h"

#define LENGTH (64 * 1024)

static int fd;

static bool is_zero(const char *p)
{
	int i;

	for (i = 0; i < LENGTH; i++)
		if (p[i])
			return false;
	return true;
}

static char *map_private(int prot)
{
	return mmap(NULL, LENGTH, prot, MAP_PRIVATE, fd, 0);
}

static bool maps_zeroed(int prot)
{
	char *p = map_private(prot);

	return p != MAP_FAILED && is_zero(p) && !munmap(p, LENGTH);
}

static bool maps_apart(void)
{
	char *one = map_private(PROT_READ | PROT_WRITE);
	char *two = map_private(PROT_READ | PROT_WRITE);
	bool ok = one != MAP_FAILED && two != MAP_FAILED;

	if (ok) {
		memset(one, 0x55, LENGTH);
		ok = is_zero(two);
	}
	if (one != MAP_FAILED)
		munmap(one, LENGTH);
	if (two != MAP_FAILED)
		munmap(two, LENGTH);
	return ok;
}

/* Memory that was written to before must not come back as it was. */
static bool maps_zeroed_again(void)
{
	char *p = map_private(PROT_READ | PROT_WRITE);

	if (p == MAP_FAILED)
		return false;
	memset(p, 0x55, LENGTH);
	munmap(p, LENGTH);
	return maps_zeroed(PROT_READ | PROT_WRITE);
}

static bool reads_zeros(void)
{
	static char buffer[LENGTH];

	memset(buffer, 0x55, LENGTH);
	return read(fd, buffer, LENGTH) == LENGTH && is_zero(buffer);
}

int main(void)
{
	ksft_print_header();
	ksft_set_plan(5);
	fd = open("/dev/zero", O_RDWR);
	if (fd < 0)
		ksft_exit_fail_msg("cannot open /dev/zero\n");

	ksft_test_result(maps_zeroed(PROT_READ | PROT_WRITE), "writable: zero\n");
	ksft_test_result(maps_zeroed(PROT_READ), "read-only: zero\n");
	ksft_test_result(maps_zeroed_again(), "a second time: zero\n");
	ksft_test_result(maps_apart(), "two mappings: two memories\n");
	ksft_test_result(reads_zeros(), "read: zeros\n");
	ksft_finished();
}

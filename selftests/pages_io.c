// SPDX-License-Identifier: GPL-2.0
/*
 * read(2), write(2), lseek(2) and their kin: /dev/pages answers as /dev/zero does.
 */
#include <linux/uio.h>

#include "run.h"

#define CANARY		0xa5
#define BUFFER		(100 * KIB + 3)
/* What splice() moves at once: less than a pipe holds. */
#define SPLICED		(3 * PAGE + 5)

static unsigned char buffer[BUFFER];

/* Leaves old bytes behind in the device's memory, and a buffer that shows each miss. */
static int open_dirtied(void)
{
	int fd = open_pages();
	size_t len;

	for (len = PAGE; len <= MIB; len *= 2)
		dirty(fd, SHARED, len, CANARY);
	fill(buffer, CANARY, sizeof(buffer));
	return fd;
}

/* Exactly @len bytes of the buffer, from @start on, were set to zero. */
static bool only_zeroed(size_t start, size_t len)
{
	return expect(all_bytes(buffer, start, CANARY)) &&
	       expect(all_bytes(buffer + start, len, 0)) &&
	       expect(all_bytes(buffer + start + len, BUFFER - start - len, CANARY));
}

static bool read_whole_buffer(void)
{
	int fd = open_dirtied();
	bool ok = expect(read(fd, buffer, BUFFER) == BUFFER) && only_zeroed(0, BUFFER);

	close(fd);
	return ok;
}

static bool read_lengths(void)
{
	static const size_t lengths[] = {
		0, 1, 7, 8, 63, 65, PAGE - 1, PAGE, PAGE + 1, 33 * KIB, 64 * KIB + 1,
	};
	int fd = open_dirtied();
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(lengths); i++) {
		fill(buffer, CANARY, sizeof(buffer));
		ok = expect(read(fd, buffer + 3, lengths[i]) == (ssize_t)lengths[i]) &&
		     only_zeroed(3, lengths[i]);
	}
	close(fd);
	return ok;
}

static bool pread_everywhere(void)
{
	static const off_t offsets[] = {
		0, 1, PAGE, PAGES_OFFSET_UNCLEARED - 1, PAGES_OFFSET_UNCLEARED,
		PAGES_OFFSET_UNCLEARED + 1, 1ULL << 62,
	};
	int fd = open_dirtied();
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < ARRAY_SIZE(offsets); i++) {
		fill(buffer, CANARY, sizeof(buffer));
		ok = expect(syscall(__NR_pread64, fd, buffer + 1, PAGE + 1, offsets[i]) ==
			    (long)PAGE + 1) && only_zeroed(1, PAGE + 1);
	}
	close(fd);
	return ok;
}

static bool readv_pieces(void)
{
	struct iovec iov[] = {
		{ buffer + 10, 1 }, { buffer + 11, PAGE }, { buffer + PAGE + 11, 0 },
		{ buffer + PAGE + 11, 33 },
	};
	int fd = open_dirtied();
	bool ok = expect(readv(fd, iov, ARRAY_SIZE(iov)) == (ssize_t)PAGE + 34) &&
		  only_zeroed(10, PAGE + 34);

	close(fd);
	return ok;
}

static bool preadv_uncleared(void)
{
	struct iovec iov = { buffer + 5, PAGE };
	int fd = open_dirtied();
	bool ok = expect(syscall(__NR_preadv, fd, &iov, 1,
				 (unsigned long)PAGES_OFFSET_UNCLEARED, 0) ==
			 (long)PAGE) && only_zeroed(5, PAGE);

	close(fd);
	return ok;
}

static bool read_after_seek(void)
{
	int fd = open_dirtied();
	bool ok = expect(lseek(fd, PAGES_OFFSET_UNCLEARED, SEEK_SET) >= 0) &&
		  expect(read(fd, buffer, PAGE) == (ssize_t)PAGE) && only_zeroed(0, PAGE);

	close(fd);
	return ok;
}

static bool read_into_mapping(void)
{
	const size_t len = 64 * KIB;
	int fd = open_dirtied();
	unsigned char *p = map(fd, SHARED_UNCLEARED, len);
	bool ok;

	if (!expect(p))
		return false;
	fill(p, CANARY, len);
	ok = expect(read(fd, p, len) == (ssize_t)len) && expect(all_bytes(p, len, 0)) &&
	     expect(!munmap(p, len));
	close(fd);
	return ok;
}

/* Moves bytes by @call from the device into a pipe and looks at what arrives. */
static bool moved_through_pipe(long (*call)(int from, int to))
{
	int fd = open_dirtied();
	int pipefd[2];
	bool ok;

	if (!expect(!pipe(pipefd)))
		return false;
	ok = expect(call(fd, pipefd[1]) == (long)SPLICED) &&
	     expect(read(pipefd[0], buffer, SPLICED) == (ssize_t)SPLICED) &&
	     only_zeroed(0, SPLICED);
	close(pipefd[0]);
	close(pipefd[1]);
	close(fd);
	return ok;
}

/* Both may move less than they are asked to: a debug kernel has one page at a time. */
static long call_splice(int from, int to)
{
	long moved = 0, n;

	do {
		n = syscall(__NR_splice, from, NULL, to, NULL, SPLICED - moved, 0);
		moved += n > 0 ? n : 0;
	} while (n > 0 && moved < (long)SPLICED);
	return moved;
}

static long call_sendfile(int from, int to)
{
	long moved = 0, n;

	do {
		n = syscall(__NR_sendfile, to, from, NULL, SPLICED - moved);
		moved += n > 0 ? n : 0;
	} while (n > 0 && moved < (long)SPLICED);
	return moved;
}

static bool splice_from(void)
{
	return moved_through_pipe(call_splice);
}

static bool sendfile_from(void)
{
	return moved_through_pipe(call_sendfile);
}

static bool splice_into(void)
{
	int fd = open_dirtied();
	int pipefd[2];
	bool ok;

	if (!expect(!pipe(pipefd)))
		return false;
	ok = expect(write(pipefd[1], buffer, SPLICED) == (ssize_t)SPLICED) &&
	     expect(call_splice(pipefd[0], fd) == (long)SPLICED);
	close(pipefd[0]);
	close(pipefd[1]);
	close(fd);
	return ok;
}

static bool write_swallows(void)
{
	struct iovec iov[] = { { buffer, 1 }, { buffer + 1, BUFFER - 1 } };
	int fd = open_dirtied();
	bool ok = expect(write(fd, buffer, BUFFER) == BUFFER) &&
		  expect(write(fd, buffer, 0) == 0) &&
		  expect(writev(fd, iov, ARRAY_SIZE(iov)) == BUFFER) &&
		  expect(syscall(__NR_pwrite64, fd, buffer, PAGE,
				 (unsigned long)PAGES_OFFSET_UNCLEARED) == (long)PAGE) &&
		  expect(all_bytes(buffer, BUFFER, CANARY)) &&
		  expect(read(fd, buffer, BUFFER) == BUFFER) && only_zeroed(0, BUFFER);

	close(fd);
	return ok;
}

static bool wrong_open_mode(void)
{
	int reader = open(DEVICE, O_RDONLY);
	int writer = open(DEVICE, O_WRONLY);
	bool ok = expect(reader >= 0 && writer >= 0) &&
		  expect(write(reader, buffer, 1) < 0 && errno == EBADF) &&
		  expect(read(writer, buffer, 1) < 0 && errno == EBADF) &&
		  expect(read(reader, buffer, 1) == 1) &&
		  expect(write(writer, buffer, 1) == 1);

	close(reader);
	close(writer);
	return ok;
}

static bool seeks_as_dev_zero(void)
{
	static const off_t offsets[] = { 0, 1, PAGE, 1LL << 43, -1, -(1LL << 40) };
	int zero = open("/dev/zero", O_RDWR);
	int fd = open_pages();
	bool ok = expect(zero >= 0);
	int whence;
	size_t i;

	for (whence = SEEK_SET; whence <= SEEK_END; whence++)
		for (i = 0; i < ARRAY_SIZE(offsets); i++)
			ok &= expect(lseek(fd, offsets[i], whence) ==
				     lseek(zero, offsets[i], whence));
	close(zero);
	close(fd);
	return ok;
}

static bool refuses_ioctl(void)
{
	int fd = open_pages();
	bool ok = expect(ioctl(fd, 0x5401, buffer) < 0 && errno == ENOTTY);

	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "read() fills the whole buffer with zeros", read_whole_buffer },
	{ "read() of every length zeroes that much and no more", read_lengths },
	{ "pread() writes zeros at any offset, the uncleared one included", pread_everywhere },
	{ "readv() zeroes each piece", readv_pieces },
	{ "preadv() at the uncleared offset writes zeros", preadv_uncleared },
	{ "read() after a seek to the uncleared offset writes zeros", read_after_seek },
	{ "read() into a dirty mapping of the device zeroes it", read_into_mapping },
	{ "splice() from the device moves zeros", splice_from },
	{ "sendfile() from the device moves zeros", sendfile_from },
	{ "splice() into the device is swallowed", splice_into },
	{ "write() in all forms is swallowed and leaves no trace", write_swallows },
	{ "read() of a write-only and write() to a read-only file are EBADF", wrong_open_mode },
	{ "lseek() answers as /dev/zero does", seeks_as_dev_zero },
	{ "ioctl() is ENOTTY", refuses_ioctl },
};

int main(void)
{
	run_tests(tests, ARRAY_SIZE(tests));
}

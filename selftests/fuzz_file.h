/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on the file itself: it answers as /dev/zero does.
 */
#ifndef SELFTESTS_FUZZ_FILE_H
#define SELFTESTS_FUZZ_FILE_H

#include <linux/poll.h>

#include "fuzz.h"

#define CANARY		0xa5

static inline bool may_read(const struct fd *fd)
{
	return fd->file->mode != O_WRONLY;
}

static inline bool may_write(const struct fd *fd)
{
	return fd->file->mode != O_RDONLY;
}

static inline void op_open(void)
{
	static const int modes[] = { O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY };
	int i = draw(FDS);
	int mode = modes[draw(ARRAY_SIZE(modes))];
	int fd;

	if (fuzz.fds[i].file)
		return;
	fd = open(DEVICE, mode | (one_in(8) ? O_NONBLOCK : 0) | (one_in(8) ? O_TRUNC : 0));
	if (fd < 0 || dup2(fd, FIRST_FD + i) < 0 || close(fd)) {
		wrong("open: errno %d\n", errno);
		return;
	}
	fuzz.fds[i] = (struct fd){ FIRST_FD + i, new_file(mode) };
	fuzz.fds[i].file->fds = 1;
	trace("open fd %d mode %d\n", i, mode);
}

static inline void op_close(void)
{
	struct fd *fd = some_fd();

	if (!fd)
		return;
	trace("close fd %ld\n", fd - fuzz.fds);
	want("close", with_errno(close(fd->fd)), 0);
	fd->file->fds--;
	put_file(fd->file);
	fd->file = NULL;
}

/* The same open file under another number: by dup(), or as one process gets it of another. */
static inline void op_dup(void)
{
	struct fd *fd = some_fd();
	int i = draw(FDS);
	int pidfd, copy;

	if (!fd || fuzz.fds[i].file)
		return;
	if (one_in(2)) {
		copy = dup(fd->fd);
	} else {
		pidfd = syscall(__NR_pidfd_open, getpid(), 0);
		copy = syscall(__NR_pidfd_getfd, pidfd, fd->fd, 0);
		close(pidfd);
	}
	/* pidfd_getfd() sets O_CLOEXEC, dup2() does not. */
	if (copy < 0 || dup2(copy, FIRST_FD + i) < 0 || close(copy)) {
		wrong("dup or pidfd_getfd: errno %d\n", errno);
		return;
	}
	fuzz.fds[i] = (struct fd){ FIRST_FD + i, fd->file };
	fd->file->fds++;
}

static inline void check_buffer(size_t start, size_t len)
{
	if (!all_bytes(fuzz.buffer, start, CANARY) || !all_bytes(fuzz.buffer + start, len, 0) ||
	    !all_bytes(fuzz.buffer + start + len, sizeof(fuzz.buffer) - start - len, CANARY))
		wrong("%lu bytes at %lu were not zeroed, or more\n", len, start);
}

static inline long some_offset(void)
{
	return one_in(4) ? PAGES_OFFSET_UNCLEARED : one_in(8) ? -1L : (long)(mix(draw(99)) >> 1);
}

/*
 * Moves @len bytes by splice() or sendfile(), in as many calls as that takes: on a kernel
 * with page owners each moves a page.
 */
static inline long move(int from, int to, size_t len, bool by_splice)
{
	size_t done = 0;

	while (done < len) {
		long got = by_splice ?
			syscall(__NR_splice, from, NULL, to, NULL, len - done, 0) :
			syscall(__NR_sendfile, to, from, NULL, len - done);

		if (got <= 0)
			return done ? (long)done : with_errno(got);
		done += got;
	}
	return done;
}

static inline void op_read(void)
{
	struct fd *fd = some_fd();
	size_t start = draw(PAGE), len = draw(BUFFER), pipe_len;
	long wanted, got, offset;
	int ends[2];

	if (!fd)
		return;
	fill(fuzz.buffer, CANARY, sizeof(fuzz.buffer));
	wanted = may_read(fd) ? (long)len : -EBADF;
	switch (draw(4)) {
	case 0:
		got = with_errno(read(fd->fd, fuzz.buffer + start, len));
		break;
	case 1:
		offset = some_offset();
		/* The sign comes before the right to read. */
		wanted = offset < 0 ? -EINVAL : wanted;
		got = with_errno(syscall(__NR_pread64, fd->fd, fuzz.buffer + start, len, offset));
		break;
	default:
		if (pipe(ends)) {
			wrong("pipe: errno %d\n", errno);
			return;
		}
		if (!len)
			len = 1;
		wanted = may_read(fd) ? (long)len : -EBADF;
		got = move(fd->fd, ends[1], len, one_in(2));
		pipe_len = got > 0 ? got : 0;
		if (pipe_len && read(ends[0], fuzz.buffer + start, pipe_len) != (long)pipe_len)
			wrong("a pipe lost %ld bytes\n", got);
		close(ends[0]);
		close(ends[1]);
		break;
	}
	want("read, pread, splice or sendfile", got, wanted);
	check_buffer(start, got > 0 ? got : 0);
}

static inline void op_write(void)
{
	struct fd *fd = some_fd();
	struct slot *slot = some_slot();
	size_t len = draw(BUFFER) + 1;
	long wanted, got, offset;
	int ends[2];

	if (!fd)
		return;
	wanted = may_write(fd) ? (long)len : -EBADF;
	fill(fuzz.buffer, CANARY, sizeof(fuzz.buffer));
	switch (draw(4)) {
	case 0:
		got = with_errno(write(fd->fd, fuzz.buffer, len));
		break;
	case 1:
		offset = some_offset();
		wanted = offset < 0 ? -EINVAL : wanted;
		got = with_errno(syscall(__NR_pwrite64, fd->fd, fuzz.buffer, len, offset));
		break;
	case 2:
		if (pipe(ends) || write(ends[1], fuzz.buffer, len) != (long)len) {
			wrong("pipe: errno %d\n", errno);
			return;
		}
		got = with_errno(syscall(__NR_splice, ends[0], NULL, fd->fd, NULL, len, 0));
		close(ends[0]);
		close(ends[1]);
		break;
	default:
		if (!slot)
			return;
		/* Out of a mapping. */
		wanted = may_write(fd) ? (long)slot->len : -EBADF;
		got = with_errno(write(fd->fd, slot->p, slot->len));
		check_stamp(slot);
		break;
	}
	want("write, pwrite or splice", got, wanted);
	if (!all_bytes(fuzz.buffer, sizeof(fuzz.buffer), CANARY))
		wrong("writing has changed the buffer\n");
}

/* Into a mapping, which is zero then. */
static inline void op_read_mapping(void)
{
	struct fd *fd = some_fd();
	struct slot *slot = some_slot();
	size_t i;

	if (!fd || !slot || !may_read(fd))
		return;
	want("read into a mapping", with_errno(read(fd->fd, slot->p, slot->len)), slot->len);
	for (i = 0; i < slot->len / sizeof(long); i++)
		if (slot->p[i]) {
			wrong("read into a mapping left %lx at word %lu\n", slot->p[i], i);
			return;
		}
	stamp(slot);
}

static inline void op_others(void)
{
	struct fd *fd = some_fd();
	struct pollfd pollfd;
	int whence;

	if (!fd)
		return;
	switch (draw(6)) {
	case 0:
		whence = draw(8);
		want("lseek", with_errno(lseek(fd->fd, draw(1UL << 44), whence)),
		     whence > 4 ? -EINVAL : 0);
		break;
	case 1:
		pollfd = (struct pollfd){ .fd = fd->fd, .events = POLLIN | POLLOUT };
		want("poll", with_errno(poll(&pollfd, 1, 0)), 1);
		want("poll: events", pollfd.revents, POLLIN | POLLOUT);
		break;
	case 2:
		want("ioctl", with_errno(ioctl(fd->fd, 0x5401, fuzz.buffer)), -ENOTTY);
		break;
	case 3:
		want("ftruncate", with_errno(syscall(__NR_ftruncate, fd->fd, draw(99))), -EINVAL);
		break;
	case 4:
		want("fsync", with_errno(syscall(one_in(2) ? __NR_fsync : __NR_fdatasync, fd->fd)),
		     -EINVAL);
		break;
	default:
		want("fallocate", with_errno(syscall(__NR_fallocate, fd->fd, 0, 0, PAGE)),
		     may_write(fd) ? -ENODEV : -EBADF);
		break;
	}
}

#endif /* SELFTESTS_FUZZ_FILE_H */

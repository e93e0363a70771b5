/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory from /dev/pages, for C programs: physically contiguous, on whole
 * pages, and no other mapping shows it. The names are those of the Rust crate
 * "pages" in lib/. Nothing has to be linked.
 *
 *	int fd = pages_open();
 *	unsigned char *frame = pages_map(fd, 320 * 240 * 2);
 *	...
 *	pages_unmap(frame, 320 * 240 * 2);
 *	pages_close(fd);
 *
 * Functions that fail return -1 or a null pointer and leave the reason in
 * errno; Documentation/abi.rst has them all.
 */
#ifndef PAGES_H
#define PAGES_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* Where the device is. */
#define PAGES_PATH "/dev/pages"

/* Offset of a mapping that need not be cleared, as in <linux/pages.h>. */
#ifndef PAGES_OFFSET_UNCLEARED
#define PAGES_OFFSET_UNCLEARED	(1ULL << 43)
#endif

/**
 * pages_open - open the device for mapping
 *
 * Mappings stay when it is closed. Under the default policy of the module an
 * uncleared mapping shows only what was written through the same open file.
 *
 * Return: a file descriptor, closed on exec; -1 with ENOENT if there is no such
 * device, EACCES if it is not for this user.
 */
static inline int pages_open(void)
{
	return open(PAGES_PATH, O_RDWR | O_CLOEXEC);
}

/**
 * pages_close - close the device
 * @fd: what pages_open() returned
 *
 * Return: 0, or -1.
 */
static inline int pages_close(int fd)
{
	return close(fd);
}

/* Maps @len bytes at an offset of the device. */
static inline void *pages_map_at(int fd, size_t len, unsigned long long offset)
{
	void *start = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);

	return start == MAP_FAILED ? NULL : start;
}

/**
 * pages_map - map memory that is zero
 * @fd: what pages_open() returned
 * @len: length in bytes, rounded up to whole pages by the kernel
 *
 * Return: where it begins, on a page; NULL with ENOMEM if no run of free memory
 * is that long or a limit of the device is reached, EINVAL if @len is 0.
 */
static inline void *pages_map(int fd, size_t len)
{
	return pages_map_at(fd, len, 0);
}

/**
 * pages_map_uncleared - map memory that need not be cleared
 * @fd: what pages_open() returned
 * @len: length in bytes
 *
 * What the bytes are is not known: zeros, or what was there before.
 *
 * Return: as pages_map().
 */
static inline void *pages_map_uncleared(int fd, size_t len)
{
	return pages_map_at(fd, len, PAGES_OFFSET_UNCLEARED);
}

/**
 * pages_unmap - give a mapping back
 * @start: what pages_map() or pages_map_uncleared() returned
 * @len: the length that it was made with; a part of it cannot be given back
 *
 * Return: 0; -1 with EINVAL if it is not a whole mapping.
 */
static inline int pages_unmap(void *start, size_t len)
{
	return munmap(start, len);
}

#endif /* PAGES_H */

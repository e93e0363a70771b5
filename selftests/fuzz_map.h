/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on mappings, and the errno of each: Documentation/abi.rst, mm/nommu.c.
 */
#ifndef SELFTESTS_FUZZ_MAP_H
#define SELFTESTS_FUZZ_MAP_H

#include "fuzz.h"

#define TYPE_BITS	0xf
#define NO_CALL		9999
#define MAP_HUGE_FIELD	(0x3fU << 26)

struct call {
	int fd;
	size_t len;
	int prot;
	unsigned int flags;
	unsigned long offset;
};

static inline long call_mmap(const struct call *call)
{
	void *p = mmap(NULL, call->len, call->prot, call->flags, call->fd, call->offset);

	return p == MAP_FAILED ? -errno : (long)p;
}

/* Mostly small; now and then what only the device can serve. */
static inline size_t some_length(void)
{
	static const unsigned long odd[] = {
		0, 1, PAGE - 1, PAGE, PAGE + 1, -1UL, -PAGE, 1UL << 63, 1UL << 44, 1UL << 32,
	};
	unsigned long dice = draw(256);

	if (dice < 12)
		return odd[draw(ARRAY_SIZE(odd))];
	if (dice < 14)
		return draw(9 * MIB) + 1;
	if (dice < 30)
		return draw(MIB) + 1;
	if (dice < 80)
		return draw(256 * KIB) + 1;
	return draw(9 * PAGE) + 1;
}

static inline struct call some_call(int fd)
{
	static const unsigned long offsets[] = {
		1, PAGE, -PAGE, PAGES_OFFSET_UNCLEARED - PAGE, PAGES_OFFSET_UNCLEARED + PAGE,
		2 * PAGES_OFFSET_UNCLEARED, 1UL << 63, PAGES_OFFSET_UNCLEARED + 1,
	};
	struct call call = {
		.fd = fd,
		.len = some_length(),
		.prot = one_in(3) ? draw(8) : PROT_RW,
		.flags = one_in(4) ? MAP_PRIVATE : MAP_SHARED,
		.offset = one_in(3) ? PAGES_OFFSET_UNCLEARED : 0,
	};

	if (one_in(4))
		call.flags |= MAP_UNINITIALIZED;
	if (one_in(16))
		call.flags |= 1U << draw(32);
	if (one_in(64))
		call.flags ^= draw(1UL << 32);
	if (one_in(32))
		call.offset = offsets[draw(ARRAY_SIZE(offsets))];
	if (one_in(64))
		call.offset ^= 1UL << draw(64);
	/* The core warns about a copy that is longer than its largest block. */
	if (call.len > 256 * KIB && !(call.flags & MAP_SHARED && !(call.flags & MAP_ANONYMOUS)))
		call.len = 256 * KIB;
	return call;
}

/* The errno before memory is asked for; 0 if it comes to that. */
static inline long refusal(const struct call *call, const struct open_file *file)
{
	const unsigned int type = call->flags & TYPE_BITS;
	const bool anonymous = call->flags & MAP_ANONYMOUS;
	const unsigned long pages = PAGE_UP(call->len) / PAGE;

	if (call->offset % PAGE)
		return -EINVAL;
	if (!anonymous && !file)
		return -EBADF;
	if (call->flags & MAP_FIXED || (type != MAP_SHARED && type != MAP_PRIVATE) || !call->len)
		return -EINVAL;
	if (!pages || pages > -1UL / PAGE)
		return -ENOMEM;
	if (call->offset / PAGE + pages < call->offset / PAGE)
		return -EOVERFLOW;
	if (anonymous)
		return 0;
	if (file->mode == O_WRONLY)
		return -EACCES;
	if (type == MAP_SHARED && call->prot & PROT_WRITE && file->mode != O_RDWR)
		return -EACCES;
	return call->offset && call->offset != PAGES_OFFSET_UNCLEARED ? -EINVAL : 0;
}

static inline bool opts_out(const struct call *call, enum memory memory)
{
	if (memory == ANONYMOUS)
		return call->flags & MAP_UNINITIALIZED;
	if (call->offset == PAGES_OFFSET_UNCLEARED)
		return true;
	/* The flag is invisible to a driver whose memory is copied. */
	return memory == DIRECT && !(call->flags & 0x40000) &&
	       (call->flags & MAP_HUGE_FIELD) == MAP_UNINITIALIZED;
}

/* May this mapping fail for want of memory in one piece? */
static inline bool may_fail(const struct call *call)
{
	return PAGE_UP(call->len) > SURE;
}

/* Judges the result of a call, and enters a mapping that was made. */
static inline void enter(const struct call *call, struct open_file *file, long got)
{
	const bool direct = (call->flags & TYPE_BITS) == MAP_SHARED || !(call->prot & PROT_WRITE);
	struct slot slot = {
		.p = (void *)got, .len = call->len, .file = file,
		.memory = call->flags & MAP_ANONYMOUS ? ANONYMOUS : direct ? DIRECT : COPY,
	};
	long wanted = refusal(call, file);

	trace("mmap(%lx, prot %d, flags %x, offset %lx) = %lx\n",
	      call->len, call->prot, call->flags, call->offset, got);
	if (slot.memory == ANONYMOUS)
		slot.file = NULL;
	if (!wanted && slot.memory == DIRECT &&
	    (call->len > fuzz.limit || fuzz.bytes + PAGE_UP(call->len) > fuzz.limit)) {
		wanted = -ENOMEM;
		fuzz.failures++;
	} else if ((!wanted || slot.memory == COPY) && got == -ENOMEM && may_fail(call)) {
		/* The charge was there for a moment. */
		if (slot.memory == DIRECT && fuzz.bytes + (long)PAGE_UP(call->len) > fuzz.peak)
			fuzz.peak = fuzz.bytes + PAGE_UP(call->len);
		fuzz.failures += slot.memory == DIRECT;
		fuzz.refused++;
		return;
	}
	want("mmap", outcome_of(got), wanted);
	if (outcome_of(got) || fuzz.broken)
		return;
	if (got % PAGE)
		wrong("mmap: %lx is not at a page\n", got);
	check_fresh(&slot, opts_out(call, slot.memory));
	stamp(&slot);
	count_mapping(&slot, 1);
	*empty_slot() = slot;
}

static inline void op_mmap(void)
{
	struct fd *fd = some_fd();
	struct call call = some_call(fd ? fd->fd : one_in(2) ? -1 : 999);

	if (!empty_slot())
		unmap(&fuzz.slots[draw(SLOTS)]);
	enter(&call, fd ? fd->file : NULL, call_mmap(&call));
}

static inline void op_munmap(void)
{
	struct slot *slot = some_slot();

	if (!slot)
		return;
	trace("munmap of %lx\n", slot->len);
	unmap(slot);
}

/* A part, or more, of a mapping of a file. */
static inline void op_munmap_wrong(void)
{
	struct slot *slot = some_slot();
	unsigned long start, len;

	if (!slot || slot->memory == ANONYMOUS)
		return;
	start = (unsigned long)slot->p;
	len = PAGE_UP(slot->len);
	switch (draw(4)) {
	case 0:
		len = 0;
		break;
	case 1:
		start += PAGE * (1 + draw(3));
		if (start >= (unsigned long)slot->p + len)
			return;
		len = PAGE * (1 + draw(2));
		break;
	case 2:
		if (len == PAGE)
			return;
		len -= PAGE * (1 + draw(len / PAGE - 1));
		break;
	default:
		start++;
		break;
	}
	trace("munmap(base + %lx, %lx) of %lx\n", start - (unsigned long)slot->p, len, slot->len);
	want("munmap of a part", with_errno(munmap((void *)start, len)), -EINVAL);
	check_stamp(slot);
}

/*
 * Copies are the core's affair, and shrinking one corrupts its records of the process
 * when it is unmapped: so they are asked for their own length only.
 */
static inline void op_mremap(void)
{
	struct slot *slot = some_slot();
	unsigned long old, new, flags = draw(2);
	long wanted;

	if (!slot)
		return;
	old = PAGE_UP(slot->len);
	new = one_in(8) ? 0 : PAGE * (1 + draw(20));
	wanted = -EPERM;
	if (slot->memory != DIRECT) {
		new = old;
		wanted = (long)slot->p;
	}
	if (one_in(4)) {
		old += PAGE;
		wanted = -EINVAL;
	}
	if (one_in(8)) {
		flags |= 2;	/* MREMAP_FIXED */
		wanted = -EINVAL;
	}
	if (!new)
		wanted = -EINVAL;
	trace("mremap(%lx, %lx, %lx) of %lx\n", old, new, flags, slot->len);
	want("mremap", with_errno(syscall(__NR_mremap, slot->p, old, new, flags, 0)), wanted);
	check_stamp(slot);
}

/* System calls that a kernel without an MMU does not have. */
static inline void op_advice(void)
{
	struct slot *slot = some_slot();
	static const int calls[] = {
		__NR_msync, __NR_madvise, __NR_mprotect, __NR_mlock, __NR_mlockall, __NR_mincore,
	};
	int which = draw(ARRAY_SIZE(calls));

	/* Such a call answers as one that does not exist. */
	if (slot)
		want("msync and the like",
		     with_errno(syscall(calls[which], slot->p, slot->len, draw(32))),
		     with_errno(syscall(NO_CALL)));
}

static inline void op_check(void)
{
	struct slot *slot = some_slot();

	if (!slot)
		return;
	check_stamp(slot);
	if (one_in(2))
		stamp(slot);
}

static inline void op_figures(void)
{
	struct fd *fd = some_fd();
	struct stats now;

	if (fd) {
		want("fdinfo: mappings", fd_count(fd->fd, "mappings:"), direct_mappings(fd->file));
		want("fdinfo: bytes", fd_count(fd->fd, "mapped_bytes:"), fd->file->bytes);
	}
	if (!one_in(8))
		return;
	now = all_figures();
	want("mappings", now.of[MAPPINGS], fuzz.mappings);
	want("mapped_bytes", now.of[MAPPED], fuzz.bytes);
	want("failures", now.of[FAILURES], fuzz.failures);
	if (now.of[PEAK] < fuzz.peak)
		wrong("peak_bytes is %ld, but it was %ld\n", now.of[PEAK], fuzz.peak);
	if (fuzz.promise == SHOWS_ZEROS)
		want("uncleared_bytes", now.of[UNCLEARED], 0);
}

#endif /* SELFTESTS_FUZZ_MAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other processes and threads on the same open files: what they leave, and what goes with
 * them.
 */
#ifndef SELFTESTS_FUZZ_PROCESS_H
#define SELFTESTS_FUZZ_PROCESS_H

#include "fuzz_map.h"

#define CHILD_MAPS	6
#define THREAD_ROUNDS	20

/* Of a child that shares the memory. */
struct errand {
	struct call call;
	void *p;		/* to be unmapped, or NULL: map */
	long outcome;
};

static inline int run_errand(void *arg)
{
	struct errand *errand = arg;

	errand->outcome = errand->p ? with_errno(munmap(errand->p, errand->call.len)) :
				      call_mmap(&errand->call);
	return 0;
}

/* A vfork() child maps for its parent, or unmaps. */
static inline void op_vfork(void)
{
	static struct stack stack;
	struct fd *fd = some_fd();
	struct slot *slot = one_in(2) ? some_slot() : NULL;
	struct errand errand = { .p = NULL };

	if (!slot && (!fd || !empty_slot()))
		return;
	if (slot)
		errand = (struct errand){ .p = slot->p, .call.len = slot->len };
	else
		errand.call = some_call(fd->fd);
	if (slot)
		check_stamp(slot);
	if (!ended_well(spawn(VFORK, &stack, run_errand, &errand))) {
		wrong("a vfork() child did not end well\n");
		return;
	}
	if (slot) {
		want("munmap by a child", errand.outcome, 0);
		forget(slot);
	} else {
		enter(&errand.call, fd->file, errand.outcome);
	}
}

/* Maps, writes, looks and unmaps, with a stamp of its own; 0 if all is well. */
static inline int make_pairs(int fd, unsigned long stamp, unsigned long random)
{
	int i;

	for (i = 0; i < THREAD_ROUNDS; i++) {
		size_t len = (random = mix(random)) % (9 * PAGE) + 1;
		bool uncleared = random >> 60 & 1;
		unsigned long *p = mmap(NULL, len, PROT_RW, MAP_SHARED, fd,
					uncleared ? PAGES_OFFSET_UNCLEARED : 0);
		size_t words = PAGE_UP(len) / sizeof(*p);
		size_t word;

		if (p == MAP_FAILED)
			return errno == ENOMEM && len > SURE ? 0 : 1;
		for (word = 0; word < words; word++) {
			if (!uncleared && p[word])
				return 2;
			p[word] = stamp + i;
		}
		sched_yield();
		for (word = 0; word < words; word++)
			if (p[word] != stamp + i)
				return 3;
		if (munmap(p, len))
			return 4;
	}
	return 0;
}

struct thread {
	int fd;
	unsigned long stamp, random;
};

static inline int run_thread(void *arg)
{
	struct thread *thread = arg;

	return make_pairs(thread->fd, thread->stamp, thread->random);
}

/* What goes wrong in there is refused by the limit at times: the count is read anew. */
static inline void read_failures(void)
{
	long now = figure(FAILURES);

	if (now < fuzz.failures)
		wrong("failures went down from %ld to %ld\n", fuzz.failures, now);
	fuzz.failures = now;
}

/* Two threads on one open file. */
static inline void op_thread(void)
{
	static struct stack stack;
	struct fd *fd = some_fd();
	struct thread thread;
	int here;
	pid_t pid;

	if (!fd || fd->file->mode != O_RDWR || fuzz.bytes + 20 * PAGE > fuzz.limit)
		return;
	thread = (struct thread){
		fd->fd, fd->file->serial << 40 | draw(1UL << 39) << 1, fuzz.random,
	};
	pid = spawn(THREAD, &stack, run_thread, &thread);
	here = make_pairs(fd->fd, fd->file->serial << 40 | 1, ~fuzz.random);
	if (!ended_well(pid) || here)
		wrong("two threads on one open file: %d\n", here);
	read_failures();
}

/* A process of its own: maps, looks, and ends in one way or another. */
enum end { EXITS, UNMAPS, IS_KILLED, CRASHES, MAPS_ON };

static inline int child(int argc, char **argv)
{
	unsigned long word = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	int fd = atoi(argv[3]);
	enum end end = word & 7;
	struct slot slots[CHILD_MAPS];
	struct open_file file = { .serial = word >> 8, .mode = O_RDWR };
	int i;

	fuzz.promise = word >> 4 & 3;
	fuzz.random = word;
	while (end == MAPS_ON) {
		void *p = mmap(NULL, 3 * MIB, PROT_RW, MAP_SHARED, fd, 0);

		if (p != MAP_FAILED)
			munmap(p, 3 * MIB);
	}
	for (i = 0; i < CHILD_MAPS; i++) {
		const struct kind *kind = &kinds[draw(ARRAY_SIZE(kinds))];
		struct slot slot = { .len = draw(9 * PAGE) + 1, .file = &file,
				     .memory = kind->direct ? DIRECT : COPY };

		slot.p = (void *)map(fd, kind, slot.len);
		if (!slot.p && errno != ENOMEM)
			return 1;
		if (slot.p) {
			check_fresh(&slot, kind->uncleared);
			stamp(&slot);
		}
		slots[i] = slot;
	}
	for (i = 0; i < CHILD_MAPS; i++)
		if (slots[i].p)
			check_stamp(&slots[i]);
	for (i = 0; end == UNMAPS && i < CHILD_MAPS; i++)
		if (slots[i].p && munmap(slots[i].p, slots[i].len))
			return 1;
	if (end == IS_KILLED && !fuzz.broken)
		kill(getpid(), SIGKILL);
	if (end == CRASHES && !fuzz.broken)
		__builtin_trap();
	return fuzz.broken;
}

static inline void op_exec(void)
{
	struct fd *fd = some_fd();
	enum end end = draw(MAPS_ON + 1);
	static const int wanted[] = {
		[EXITS] = 0, [UNMAPS] = 0, [IS_KILLED] = SIGKILL, [CRASHES] = SIGILL,
		[MAPS_ON] = SIGKILL,
	};
	struct timespec pause = { .tv_nsec = draw(3000000) };
	pid_t pid;
	int status;

	if (!fd || fd->file->mode != O_RDWR)
		return;
	trace("a child that ends in way %d\n", end);
	pid = start_child("use", fd->fd, fd->file->serial << 8 | fuzz.promise << 4 | end);
	if (end == MAPS_ON) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		kill(pid, SIGKILL);
	}
	status = wait_status(pid);
	/* An exit status is in the second byte. */
	want("the end of a child", status & 0x7f ? status & 0x7f : status, wanted[end]);
	read_failures();
}

#endif /* SELFTESTS_FUZZ_PROCESS_H */

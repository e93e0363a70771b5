/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the processes of pages_stress.c do. Each returns 0, or 1 and says what broke.
 */
#ifndef SELFTESTS_STRESS_H
#define SELFTESTS_STRESS_H

#include "klog.h"
#include "module.h"
#include "random.h"
#include "run.h"

#define WORKERS		4
#define BATCH		128
#define SLOTS		4
#define CHUNK		(64 * KIB)
#define MAX_CHUNKS	4096
#define CHILD_DEVICE	10
#define HOLDER		"mm_holder"

#define get(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define set(p, value)	__atomic_store_n(p, value, __ATOMIC_RELEASE)
#define count(p)	__atomic_add_fetch(p, 1, __ATOMIC_RELAXED)

/* What all of them share. */
struct shared {
	unsigned long target;		/* pairs to be made */
	unsigned long pairs;		/* that somebody has taken on */
	bool over;
	unsigned long refused;		/* mappings of the device that were ENOMEM */
	unsigned long anonymous;
	unsigned long files;
	unsigned long loads;
	unsigned long exhausted;	/* how often all memory was taken */
	unsigned long victims;		/* how often the OOM killer ended who did */
	unsigned long complaints;	/* of the kernel */
};

/* A mapping and what is in it. */
struct slot {
	unsigned long *p;
	size_t len;
	unsigned long stamp;
};

/* The first and the last word of each page. */
static inline void stamp(const struct slot *slot)
{
	const size_t words = PAGE / sizeof(*slot->p);
	size_t i;

	for (i = 0; i < PAGE_UP(slot->len) / sizeof(*slot->p); i += words) {
		slot->p[i] = slot->stamp + i;
		slot->p[i + words - 1] = ~slot->stamp;
	}
}

static inline bool stamp_holds(const struct slot *slot)
{
	const size_t words = PAGE / sizeof(*slot->p);
	size_t i;

	for (i = 0; i < PAGE_UP(slot->len) / sizeof(*slot->p); i += words)
		if (slot->p[i] != slot->stamp + i || slot->p[i + words - 1] != ~slot->stamp)
			return false;
	return true;
}

static inline bool is_zero(const struct slot *slot)
{
	const size_t words = PAGE / sizeof(*slot->p);
	size_t i;

	for (i = 0; i < PAGE_UP(slot->len) / sizeof(*slot->p); i += words)
		if (slot->p[i] || slot->p[i + words - 1])
			return false;
	return true;
}

/* Verifies and unmaps what is in a slot; an empty one is fine. */
static inline bool empty_slot(struct slot *slot)
{
	bool ok = !slot->p || (expect(stamp_holds(slot)) && expect(!munmap(slot->p, slot->len)));

	slot->p = NULL;
	return ok;
}

/* Mostly a few pages, sometimes 256 KiB, now and then more than a block. */
static inline size_t some_length(unsigned int *state)
{
	unsigned int dice = random_after(state);

	if (dice % 4096 == 0)
		return 4 * MIB + random_after(state) % 64 * PAGE;
	if (dice % 64 == 0)
		return (random_after(state) % 64 + 1) * PAGE;
	return random_after(state) % (8 * PAGE) + 1;
}

/* Maps into a slot; no memory is no mistake while somebody takes all there is. */
static inline bool fill_slot(struct slot *slot, int fd, const struct kind *kind,
			     unsigned int *state, struct shared *to)
{
	slot->len = some_length(state);
	slot->p = (unsigned long *)map(fd, kind, slot->len);
	if (!slot->p) {
		count(&to->refused);
		return expect(errno == ENOMEM);
	}
	if (!kind->uncleared && !expect(is_zero(slot)))
		return false;
	stamp(slot);
	return true;
}

static inline int work(struct shared *to, long number)
{
	/* Two have an open file of their own, two share one. */
	int fd = number & 1 ? CHILD_DEVICE : open_pages();
	struct slot slots[SLOTS] = { 0 };
	unsigned int state = number + 1;
	unsigned long first, i;
	bool ok = true;

	while (ok) {
		first = __atomic_fetch_add(&to->pairs, BATCH, __ATOMIC_RELAXED);
		if (first >= to->target)
			break;
		for (i = first; ok && i < first + BATCH; i++) {
			struct slot *slot = &slots[i % SLOTS];
			/* The three direct kinds at the front of the table, and a read-only one. */
			const struct kind *kind = i % 4 == 3 ? PRIVATE_READ_ONLY : &kinds[i % 4];

			ok = empty_slot(slot);
			slot->stamp = (unsigned long)(number + 1) << 48 | i << 8;
			ok = ok && fill_slot(slot, fd, kind, &state, to);
		}
	}
	for (i = 0; i < SLOTS; i++)
		ok &= empty_slot(&slots[i]);
	return !ok;
}

static inline int take_anonymous(struct shared *to, long number)
{
	struct slot slots[SLOTS] = { 0 };
	unsigned int state = number;
	bool ok = true;
	unsigned long i;

	for (i = 0; ok && !get(&to->over); i++) {
		struct slot *slot = &slots[i % SLOTS];
		void *p;

		ok = empty_slot(slot);
		slot->len = (random_after(&state) % 64 + 1) * PAGE;
		p = mmap(NULL, slot->len, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p != MAP_FAILED) {
			slot->p = p;
			slot->stamp = i << 8;
			ok &= expect(is_zero(slot));
			stamp(slot);
			count(&to->anonymous);
		}
		sleep_ms(number);
	}
	for (i = 0; i < SLOTS; i++)
		ok &= empty_slot(&slots[i]);
	return !ok;
}

static inline int write_files(struct shared *to, long number)
{
	static unsigned char out[CHUNK], in[CHUNK];
	bool ok = true;
	int i;

	while (ok && !get(&to->over)) {
		int fd = open("/tmp/stress", O_RDWR | O_CREAT | O_TRUNC, 0600);
		ssize_t n = 0;

		fill(out, count(&to->files), sizeof(out));
		for (i = 0; i < 32 && fd >= 0; i++) {
			n = write(fd, out, sizeof(out));
			if (n != sizeof(out))
				break;
		}
		if (fd >= 0)
			lseek(fd, 0, SEEK_SET);
		for (; ok && i > 0; i--)
			ok = expect(read(fd, in, sizeof(in)) == sizeof(in)) &&
			     expect(!memcmp(in, out, sizeof(in)));
		if (fd >= 0)
			close(fd);
		unlink("/tmp/stress");
		sleep_ms(number);
	}
	return !ok;
}

static inline int load_modules(struct shared *to, long number)
{
	bool ok = true;

	while (ok && !get(&to->over)) {
		int err = load_file("/lib/" HOLDER ".ko", "");

		ok = expect(err == 0 || err == ENOMEM);
		if (!err) {
			ok &= expect(unload_module(HOLDER) == 0);
			count(&to->loads);
		}
		/* The device itself is in use, and says so. */
		err = unload();
		ok &= expect(err == EWOULDBLOCK);
		sleep_ms(number);
	}
	return !ok;
}

/* The OOM killer is to take this process, if any. */
static inline int take_all(struct shared *to, long number)
{
	static void *chunks[MAX_CHUNKS];
	unsigned long i, n;

	write_file("/proc/self/oom_score_adj", "1000");
	while (!get(&to->over)) {
		for (n = 0; n < MAX_CHUNKS && !get(&to->over); n++) {
			chunks[n] = mmap(NULL, CHUNK, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (chunks[n] == MAP_FAILED) {
				count(&to->exhausted);
				break;
			}
		}
		for (i = 0; i < n; i++)
			munmap(chunks[i], CHUNK);
		sleep_ms(number);
	}
	return 0;
}

/* What the kernel says, as the console is silent: so much does not fit. */
static inline int watch_log(struct shared *to, long number)
{
	int klog = klog_open(true);

	while (!get(&to->over)) {
		to->complaints += klog_complaints(klog);
		sleep_ms(10 + number);
	}
	to->complaints += klog_complaints(klog);
	close(klog);
	return 0;
}

#endif /* SELFTESTS_STRESS_H */

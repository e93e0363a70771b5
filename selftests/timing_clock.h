/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of the timing program, and the sums it keeps.
 *
 * Under QEMU's -icount shift=0 the guest's clock advances by one nanosecond
 * per instruction, so that nanoseconds are instructions. It is shown in ticks
 * of 100 ns; see dither() for what that means to an average.
 */
#ifndef TIMING_CLOCK_H
#define TIMING_CLOCK_H

#define CALIBRATION_INSTRUCTIONS	200000UL

static inline unsigned long now(void)
{
	struct timespec ts;

	/* RAW: never slewed, so a tick is a tick all through the run. */
	__nolibc_syscall2(__NR_clock_gettime, CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000UL + ts.tv_nsec;
}

/* Two instructions for each of @n, which is at least one. */
static inline void spin(unsigned long n)
{
#if defined(__riscv)
	asm volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
#else
	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(n));
#endif
}

/*
 * A round that always takes the same number of instructions would always meet
 * the clock's tick at the same place, and every one would be rounded the same
 * way. A delay that differs from round to round moves the place. There are 50
 * delays, a tick apart from first to last. They come in an order that spreads
 * any number of rounds evenly over the tick, so that rounding leaves an
 * instruction or two in an average of one build. Between builds averages were
 * seen to move by up to 30.
 */
static inline void dither(int round)
{
	spin(round * 31 % 50 + 1);
}

struct cost {
	unsigned long first, min, max, sum;
};

/* Round 0 is kept apart: it finds caches and allocators cold. */
static void cost_add(struct cost *c, int round, unsigned long t)
{
	if (!round) {
		c->first = t;
		return;
	}
	if (round == 1 || t < c->min)
		c->min = t;
	if (t > c->max)
		c->max = t;
	c->sum += t;
}

/* What the clock shows for a known number of instructions: the least of @n. */
static unsigned long calibrate(int n)
{
	unsigned long least = -1UL, t;

	while (n--) {
		t = now();
		spin(CALIBRATION_INSTRUCTIONS / 2);
		t = now() - t;
		if (t < least)
			least = t;
	}
	return least;
}

/* What one reading of the clock adds to each figure. */
static void clock_cost(struct cost *c, int rounds)
{
	unsigned long t;
	int round;

	for (round = 0; round <= rounds; round++) {
		dither(round);
		t = now();
		cost_add(c, round, now() - t);
	}
}

#endif /* TIMING_CLOCK_H */

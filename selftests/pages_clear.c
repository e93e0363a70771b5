// SPDX-License-Identifier: GPL-2.0
/*
 * Long mappings are cleared before their caller goes on, without an MMU after mmap()
 * has let go of its lock.  What can happen in between: another task that shares the
 * memory unmaps it, or the caller is killed.
 */
#include "place.h"
#include "run.h"

#define LEN		(16 * MIB)
#define ROUNDS		300
#define CANARY		0xc5
/* How long to wait for the clearing to begin. */
#define LIMIT_NS	5000000000ULL
#define ATTEMPTS	50

#define look(var)	__atomic_load_n(&(var), __ATOMIC_ACQUIRE)
#define tell(var, val)	__atomic_store_n(&(var), (val), __ATOMIC_RELEASE)

/* What the two tasks share; the address is where the last mapping was. */
static struct {
	unsigned char *at;
	bool over;
	unsigned int caught;
	int fd;
} race;

static int unmapper(void *unused)
{
	while (!look(race.over)) {
		unsigned char *p = look(race.at);

		if (p && !munmap(p, LEN))
			race.caught++;
	}
	return !!unused;
}

/* The same run is mapped again and again, so its address can be guessed. */
static bool unmapped_by_another(void)
{
	static struct stack stack;
	unsigned int i, mapped = 0, unmapped = 0;
	bool ok;
	pid_t pid;

	race.fd = open_pages();
	pid = spawn(THREAD, &stack, unmapper, NULL);
	for (i = 0; i < ROUNDS; i++) {
		unsigned char *p = map(race.fd, SHARED, LEN);

		mapped += !!p;
		tell(race.at, p);
		/* Whoever comes first. */
		unmapped += p && !munmap(p, LEN);
	}
	tell(race.over, true);
	ok = expect(ended_well(pid)) && expect(mapped == ROUNDS);
	ok &= expect(race.caught + unmapped == ROUNDS) && expect(race.caught) &&
	      expect(fd_count(race.fd, "mappings:") == 0);
	if (!ok)
		ksft_print_msg("%u mapped, %u and %u unmapped\n", mapped, race.caught, unmapped);
	close(race.fd);
	return ok;
}

static struct {
	int fd;
	void *address;
} victim;

/*
 * Shares the memory of its parent, which so keeps the mapping when it dies.  Without an
 * MMU the address is that of the run, with one it is that which is asked for.
 */
static int map_and_be_killed(void *unused)
{
	mmap(victim.address, LEN, PROT_RW, MAP_SHARED, victim.fd, 0);
	return !unused;
}

/* Does the page at this place still hold what was written, whoever has it? */
static bool holds_secret(unsigned long place)
{
	if (has_mmu())
		return (kcore_word_at(all_ram(), place) & 0xff) == CANARY;
	return look(*(unsigned char *)place) == CANARY;
}

enum outcome { TOO_LATE, KEPT, SHOWN };

/*
 * Kills a task while it clears what another open file wrote, then looks at it
 * through its own open file, which may see what it wrote itself.
 */
static enum outcome kill_once(int fd, int other)
{
	static struct stack stack;
	unsigned char *secret = map(other, SHARED, LEN);
	unsigned long place = place_of(secret, SHARED);
	enum outcome outcome = SHOWN;
	unsigned long long limit;
	unsigned char *p;
	pid_t pid;

	if (!expect(place != NOWHERE))
		return SHOWN;
	fill(secret, CANARY, LEN);
	munmap(secret, LEN);

	/* The next mapping of this size gets that run; it is cleared from its beginning. */
	victim.fd = fd;
	victim.address = secret;
	pid = spawn(THREAD, &stack, map_and_be_killed, NULL);
	limit = now_ns() + LIMIT_NS;
	while (holds_secret(place) && now_ns() < limit)
		;
	kill(pid, SIGKILL);
	wait_status(pid);
	/* It has outlived its maker, half cleared: without that this says nothing. */
	if (!holds_secret(place + LEN - PAGE))
		outcome = TOO_LATE;
	munmap(secret, LEN);
	p = map(fd, SHARED_UNCLEARED, LEN);
	if (expect(lies_at(p, SHARED_UNCLEARED, place)) && expect(all_bytes(p, LEN, 0)) &&
	    outcome != TOO_LATE)
		outcome = KEPT;
	munmap(p, LEN);
	return outcome;
}

/*
 * What was not cleared because of the kill still is what another open file wrote.
 * The open file that mapped it must not see it, opt-out or not.
 */
static bool kill_leaves_no_secret(void)
{
	enum outcome outcome = TOO_LATE;
	int other = open_pages();
	int i;

	/* How far the other hart gets before the signal arrives is a matter of luck. */
	for (i = 0; i < ATTEMPTS && outcome == TOO_LATE; i++) {
		int fd = open_pages();

		outcome = kill_once(fd, other);
		close(fd);
	}
	close(other);
	return expect(outcome == KEPT);
}

/* Half cleared in the background, then taken: the rest is cleared, too. */
static bool taken_half_cleared(void)
{
	static const unsigned int delays_ms[] = { 0, 10, 22, 25, 30, 40, 60, 100, 400 };
	int fd = open_pages();
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(delays_ms); i++) {
		unsigned char *p;

		ok &= expect(dirty(fd, SHARED, LEN, CANARY));
		sleep_ms(delays_ms[i]);
		p = map(fd, SHARED, LEN);
		ok &= expect(p) && expect(all_bytes(p, LEN, 0));
		munmap(p, LEN);
	}
	close(fd);
	return ok;
}

static const struct test tests[] = {
	{ "a long mapping is unmapped by another task while it is cleared", unmapped_by_another,
	  "with an MMU it is not there before it is cleared" },
	{ "a caller that is killed while clearing leaves no secret", kill_leaves_no_secret },
	{ "a run that is half cleared in the background becomes all zero", taken_half_cleared },
};

int main(void)
{
	run_tests(tests, ARRAY_SIZE(tests));
}

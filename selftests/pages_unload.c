// SPDX-License-Identifier: GPL-2.0
/*
 * One task loads and unloads the module all the time, three others open the device,
 * map, unmap and close it whenever it is there.  The argument is the number of rounds.
 */
#include "module.h"
#include "run.h"

#define USERS	3
#define LONG	(2 * MIB)

static const size_t sizes[] = { PAGE, 33 * KIB, LONG };

static unsigned long rounds = 1000;

/* Written by the users, read when they have ended. */
static struct user {
	struct stack stack;
	pid_t pid;
	unsigned long number;
	unsigned long used;
	unsigned long absent;
	bool broken;
} users[USERS];

static bool over;

/* Opens the device, uses it, closes it; false where a promise broke. */
static bool use_once(struct user *user, unsigned long i)
{
	const struct kind *kind = i & 1 ? SHARED : SHARED_UNCLEARED;
	size_t len = sizes[i % ARRAY_SIZE(sizes)];
	int fd = open(DEVICE, O_RDWR);
	unsigned char *p;
	bool ok;

	if (fd < 0) {
		user->absent++;
		/* No node; a node whose device is going, or not yet there. */
		return errno == ENOENT || errno == ENODEV || errno == ENXIO;
	}
	user->used++;
	p = map(fd, kind, len);
	/* By turns the mapping or the descriptor holds the module until the end. */
	if (i & 2)
		close(fd);
	ok = p && all_bytes(p, 64, 0);
	if (p) {
		fill(p, user->number, PAGE);
		ok = ok && all_bytes(p, PAGE, user->number) && !munmap(p, len);
	}
	if (!(i & 2))
		close(fd);
	return ok;
}

static int use(void *arg)
{
	struct user *user = arg;
	unsigned long i;

	/* With a pause, in which nobody may have it open. */
	for (i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE) && !user->broken; i++) {
		user->broken = !use_once(user, i);
		sleep_ms(user->number);
	}
	return user->broken;
}

static bool unload_races_with_open(void)
{
	unsigned long unloaded = 0, refused = 0, used = 0, absent = 0;
	bool ok = true;
	int u;

	over = false;
	for (u = 0; u < USERS; u++) {
		users[u].number = u + 1;
		users[u].pid = spawn(CLONE_VM | CLONE_FS | SIGCHLD, &users[u].stack, use,
				     &users[u]);
	}
	while (ok && unloaded < rounds) {
		int err = load("");

		ok = expect(err == 0 || err == EEXIST);
		err = unload();
		ok &= expect(err == 0 || err == EWOULDBLOCK);
		unloaded += !err;
		refused += !!err;
	}
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (u = 0; u < USERS; u++) {
		ok &= expect(ended_well(users[u].pid));
		used += users[u].used;
		absent += users[u].absent;
	}
	unload();
	ksft_print_msg("tried: %lu unloaded, %lu refused; opened %lu times, absent %lu times\n",
		       unloaded, refused, used, absent);
	return expect(is_gone()) && expect(used > rounds / 10) && expect(absent) &&
	       expect(refused) && ok;
}

static const struct test tests[] = {
	{ "unloading races with opening, mapping and closing", unload_races_with_open },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atol(argv[1]);
	load("");
	unload();
	run_tests(tests, ARRAY_SIZE(tests));
}

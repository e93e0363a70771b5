// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading the module.  The boot must not have loaded it.
 */
#include "klog.h"
#include "module.h"
#include "run.h"

#define LEN		(33 * KIB)
#define RELOADS		1000

/* Loads, looks for old troubles, unloads. */
static bool loads_and_works(const char *params)
{
	bool ok = expect(load(params) == 0) && expect(is_there());
	int fd = open(DEVICE, O_RDWR);

	ok = ok && expect(fd >= 0) && expect(dirty(fd, SHARED, LEN, 1)) &&
	     expect(dirty(fd, SHARED, 5 * MIB, 1));
	close(fd);
	return expect(unload() == 0) && expect(is_gone()) && ok;
}

static bool plain(void)
{
	int klog = klog_open(true);
	bool ok = loads_and_works("") && expect(klog_count(klog, MODULE) == 1);

	close(klog);
	return ok;
}

static bool senseless_values(void)
{
	static const char * const params[] = {
		"policy=3", "policy=4294967295", "policy=-1", "policy=own", "mode=0", "mode=01000",
		"mode=65535", "mode=rw", "max_bytes=0", "max_bytes=4095", "max_bytes=-2",
		"max_bytes=9223372036854775808", "cache_bytes=-2", "cache_bytes=many",
	};
	int klog = klog_open(true);
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		int err = load(params[i]);
		unsigned int lines = klog_count(klog, MODULE);
		bool named = err == EINVAL && lines == 1 && is_gone();

		if (!named)
			ksft_print_msg("%s: errno %d, %u lines in the log\n",
				       params[i], err, lines);
		ok &= named;
		if (!err)
			unload();
		/* What failed must not be in the way of what follows. */
		ok &= loads_and_works("");
		klog_count(klog, NULL);
	}
	close(klog);
	return ok;
}

static bool senseful_values(void)
{
	static const char * const params[] = {
		"policy=0", "policy=1", "policy=2", "mode=1", "mode=0777", "max_bytes=-1",
		"max_bytes=9223372036854775807", "max_bytes=8388608", "cache_bytes=0",
		"cache_bytes=-1", "cache_bytes=4096", "cache_bytes=9223372036854775807",
		"policy=2 mode=0666 max_bytes=16777216 cache_bytes=4096",
	};
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (!loads_and_works(params[i])) {
			ksft_print_msg("%s\n", params[i]);
			ok = false;
		}
	return ok;
}

static bool loaded_twice(void)
{
	bool ok = expect(load("") == 0) && expect(load("policy=0") == EEXIST) &&
		  expect(is_there());

	return expect(unload() == 0) && ok;
}

static bool node_has_mode(const char *params, unsigned int mode)
{
	struct stat st = { 0 };
	bool ok = expect(load(params) == 0) && expect(!stat(DEVICE, &st)) &&
		  expect(S_ISCHR(st.st_mode)) && expect((st.st_mode & 07777) == mode);

	return expect(unload() == 0) && ok;
}

static bool modes(void)
{
	return node_has_mode("", 0600) && node_has_mode("mode=0644", 0644) &&
	       node_has_mode("mode=438", 0666) && node_has_mode("mode=0400", 0400);
}

/* delete_module() says EWOULDBLOCK for a module in use; rmmod makes "in use" of it. */
static bool refused_while_open(void)
{
	bool ok = expect(load("") == 0);
	int fd = open_pages();
	int copy = dup(fd);

	ok &= expect(unload() == EWOULDBLOCK) && expect(!close(fd)) &&
	      expect(unload() == EWOULDBLOCK) && expect(is_there()) &&
	      expect(dirty(copy, SHARED, LEN, 1)) && expect(!close(copy));
	return expect(unload() == 0) && expect(is_gone()) && ok;
}

static bool refused_while_mapped(void)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned char *p;
		int fd;

		if (!expect(load("") == 0))
			return false;
		fd = open_pages();
		p = map(fd, &kinds[i], LEN);
		ok &= expect(p) && expect(!close(fd)) && expect(unload() == EWOULDBLOCK);
		fill(p, 0x3c, PAGE_UP(LEN));
		ok &= expect(all_bytes(p, PAGE_UP(LEN), 0x3c)) && expect(is_there()) &&
		      expect(!munmap(p, LEN)) && expect(unload() == 0) && expect(is_gone());
	}
	return ok;
}

/* The last reference goes with a process that is killed. */
static int child(void)
{
	int fd = open_pages();

	map(fd, SHARED, LEN);
	map(fd, PRIVATE_READ_ONLY, 5 * MIB);
	close(fd);
	kill(getpid(), SIGKILL);
	return 1;
}

static bool unloads_after_a_kill(void)
{
	bool ok = expect(load("") == 0) &&
		  expect(wait_status(start_child("die", 0, 0)) == SIGKILL);

	return expect(unload() == 0) && expect(is_gone()) && ok;
}

static bool reloads(void)
{
	bool ok = true;
	int i;

	for (i = 0; ok && i < RELOADS; i++)
		ok = loads_and_works(i & 1 ? "policy=2" : "cache_bytes=0");
	if (!ok)
		ksft_print_msg("in round %d\n", i);
	return ok;
}

static const struct test tests[] = {
	{ "loads with one line in the log, works, unloads without one", plain },
	{ "a senseless parameter is EINVAL with one line in the log, and leaves nothing",
	  senseless_values },
	{ "all other parameters work", senseful_values },
	{ "loading a second time is EEXIST and harmless", loaded_twice },
	{ "the node has the permissions that mode= says, 0600 without it", modes },
	{ "unloading while open is refused, and works after the last close", refused_while_open },
	{ "unloading while mapped is refused, the descriptor being closed, in every kind",
	  refused_while_mapped },
	{ "unloads after its user was killed", unloads_after_a_kill },
	{ "1000 reloads leave the memory where it was", reloads },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child();
	first_loads();
	run_tests(tests, ARRAY_SIZE(tests));
}

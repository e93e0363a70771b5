// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The malloc family of libpages_alloc.a: in the guest behind musl, with the device and
 * without; on the host behind its C library, as it is and under valgrind.
 */
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>

#include "check.h"

int malloc_trim(size_t pad);

/* Where this program is. */
static const char *self = "/proc/self/exe";

static const size_t sizes[] = {
	0, 1, 15, 16, 17, 100, 1000, 4096, 10000, 32768, 32769, 100000, MIB, 3 * MIB + 5,
};

/* The compiler knows malloc() and may leave out what nobody looks at. */
static void *volatile sink;

static void *fresh(size_t size)
{
	sink = malloc(size);
	return sink;
}

static bool writable(void)
{
	unsigned char *p[ARRAY_SIZE(sizes)];
	bool ok = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = fresh(sizes[i]);
		ok &= expect(p[i]) && expect((uintptr_t)p[i] % 16 == 0) &&
		      expect(malloc_usable_size(p[i]) >= sizes[i]) &&
		      /* The least that this library gives; else somebody else answers. */
		      expect(malloc_usable_size(p[i]) >= 16);
		memset(p[i], i + 1, sizes[i]);
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ok &= expect(all_are(p[i], i + 1, sizes[i]));
		free(p[i]);
	}
	return ok && expect(malloc_usable_size(NULL) == 0);
}

/* Others have trusted fresh mappings; here the memory was dirty a moment ago. */
static bool calloc_is_zero(void)
{
	bool ok = true;
	size_t i, round;

	for (round = 0; round < 4; round++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			unsigned char *p = fresh(sizes[i]);

			memset(p, 0xff, sizes[i]);
			free(p);
			p = calloc(1, sizes[i]);
			ok &= expect(p) && expect(all_are(p, 0, sizes[i]));
			memset(p, 0xee, sizes[i]);
			free(p);
		}
	return ok;
}

static bool realloc_keeps(void)
{
	unsigned char *p = NULL;
	bool ok = true;
	size_t i, had = 0;

	for (i = 0; i < 2 * ARRAY_SIZE(sizes) - 1; i++) {
		size_t up = i < ARRAY_SIZE(sizes) ? i : 2 * ARRAY_SIZE(sizes) - 2 - i;
		size_t size = sizes[up], kept = had < size ? had : size;

		p = realloc(p, size);
		ok &= expect(p) && expect(all_are(p, 7, kept));
		memset(p, 7, size);
		had = size;
	}
	free(p);
	return ok;
}

static bool alignments(void)
{
	/* Where the compiler does not see them. */
	volatile size_t odd = 24;
	bool ok = true;
	size_t align;

	for (align = 1; align <= MIB; align *= 2) {
		void *a = aligned_alloc(align, 3 * align), *b = memalign(align, 100), *c = NULL;
		int error = posix_memalign(&c, align, 5000);

		ok &= expect(a && (uintptr_t)a % align == 0);
		ok &= expect(b && (uintptr_t)b % align == 0);
		if (align < sizeof(void *))
			ok &= expect(error == EINVAL && !c);
		else
			ok &= expect(error == 0 && c && (uintptr_t)c % align == 0);
		free(a);
		free(b);
		free(c);
	}
	errno = 0;
	ok &= expect(!aligned_alloc(odd, 48));
	ok &= expect(errno == EINVAL);
	sink = valloc(100);
	ok &= expect(sink && (uintptr_t)sink % 4096 == 0);
	ok &= expect(malloc_usable_size(sink) >= 100);
	free(sink);
	return ok;
}

static bool too_much(void)
{
	void *volatile p = fresh(100);
	volatile size_t half = SIZE_MAX / 2 + 2, huge = 1UL << 62;
	bool ok = true;

	errno = 0;
	ok &= expect(!fresh(SIZE_MAX)) && expect(errno == ENOMEM);
	errno = 0;
	ok &= expect(!fresh(PTRDIFF_MAX)) && expect(errno == ENOMEM);
	errno = 0;
	ok &= expect(!calloc(half, 2)) && expect(errno == ENOMEM);
	errno = 0;
	ok &= expect(!reallocarray(p, half, 2)) && expect(errno == ENOMEM);
	errno = 0;
	ok &= expect(!realloc(p, SIZE_MAX - 5000)) && expect(errno == ENOMEM);
	errno = 0;
	ok &= expect(!aligned_alloc(huge, huge)) && expect(errno == ENOMEM);
	errno = 11;
	free(p);
	ok &= expect(errno == 11);
	return ok;
}

/* What libc allocates for its callers comes from here as well. */
static bool libc_uses_it(void)
{
	char *line = NULL, *copy = strdup("a string");
	bool ok = expect(copy && !strcmp(copy, "a string"));
	FILE *file;
	size_t len = 0;

	ok &= expect(malloc_usable_size(copy) >= 9);
	free(copy);
	ok &= expect(asprintf(&line, "%d", 12345) == 5) && expect(!strcmp(line, "12345"));
	free(line);
	line = NULL;
	file = fopen("/proc/meminfo", "re");
	ok &= expect(file) && expect(getline(&line, &len, file) > 0);
	free(line);
	fclose(file);
	return ok;
}

static long mapped(void)
{
	return number_in(DEBUGFS "mapped_bytes", "");
}

static bool large_blocks_are_mappings(void)
{
	long before = mapped();
	void *p;
	bool ok;

	if (has_mmu()) {
		p = fresh(5 * MIB);
		memset(p, 1, 5 * MIB);
		free(p);
		return expect(p);
	}
	if (!has_device()) {
		errno = 0;
		return expect(!fresh(5 * MIB)) && expect(errno == ENOMEM);
	}
	malloc_trim(0);
	before = mapped();
	p = fresh(5 * MIB + 1);
	ok = expect(p) && expect(mapped() - before == 5 * MIB + 4 * KIB);
	free(p);
	malloc_trim(0);
	ok &= expect(mapped() == before);
	return ok;
}

static bool all_comes_back(void)
{
	static void *p[5000];
	long before, after;
	size_t i, round;

	malloc_trim(0);
	before = mapped();
	for (round = 0; round < 3; round++) {
		for (i = 0; i < ARRAY_SIZE(p); i++)
			p[i] = fresh(i % 1500);
		for (i = 0; i < ARRAY_SIZE(p); i++)
			free(p[(i * 7) % ARRAY_SIZE(p)]);
	}
	malloc_trim(0);
	after = mapped();
	if (has_device())
		return expect(after <= before);
	/* None of it is the device's. */
	return expect(has_mmu() ? after <= 0 : before == -1);
}

/*
 * Someone closes all files that he does not know, and opens others: where the device
 * was there is now a file that could be mapped just as well.
 */
static bool files_are_closed(void)
{
	static unsigned char bytes[4096];
	char path[] = "/tmp/pages_malloc.XXXXXX";
	int fd, last;
	void *p;
	bool ok;

	for (fd = 3; fd < 20; fd++)
		close(fd);
	malloc_trim(0);
	last = mkstemp(path);
	unlink(path);
	while (last >= 0 && last < 12)
		last = dup(last);
	ok = expect(!ftruncate(last, 4 * MIB));
	p = calloc(1, MIB);
	ok &= expect(p);
	memset(p, 1, MIB);
	ok &= expect(pread(last, bytes, sizeof(bytes), 0) == sizeof(bytes));
	ok &= expect(all_are(bytes, 0, sizeof(bytes)));
	free(p);
	malloc_trim(0);
	p = fresh(MIB);
	ok &= expect(p);
	memset(p, 1, MIB);
	free(p);
	p = calloc(1, MIB + 4096);
	ok &= expect(p && all_are(p, 0, MIB + 4096));
	free(p);
	return ok;
}

/* What a child process does wrong, by name. */
static int misbehave(const char *how)
{
	char *p = fresh(100), *large = fresh(MIB);
	void *volatile bad = p;

	if (!strcmp(how, "twice")) {
		free(p);
	} else if (!strcmp(how, "twice-large")) {
		bad = large;
		free(large);
	} else if (!strcmp(how, "inside")) {
		bad = p + 16;
	} else if (!strcmp(how, "foreign")) {
		bad = &errno;
	} else if (!strcmp(how, "realloc")) {
		free(p);
		sink = realloc(bad, 10);
		return 0;
	}
	free(bad);
	return 0;
}

/* The child must die by SIGABRT and say one line on standard error. */
static bool ends_by_abort(const char *how)
{
	char *argv[] = { (char *)self, (char *)how, NULL };
	char path[] = "/tmp/pages_malloc.XXXXXX", said[200] = "";
	int file = mkstemp(path), status = 0;
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	bool ok;

	unlink(path);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, file, 2);
	ok = expect(!posix_spawn(&pid, self, &actions, NULL, argv, environ)) &&
	     expect(waitpid(pid, &status, 0) == pid) && expect(WIFSIGNALED(status)) &&
	     expect(WTERMSIG(status) == SIGABRT);
	posix_spawn_file_actions_destroy(&actions);
	ok &= expect(pread(file, said, sizeof(said) - 1, 0) > 0) &&
	      expect(!strncmp(said, "free: ", 6)) &&
	      expect(strchr(said, '\n') == said + strlen(said) - 1);
	close(file);
	return ok;
}

static bool misuse_ends_the_process(void)
{
	bool ok = ends_by_abort("twice");

	ok &= ends_by_abort("twice-large");
	ok &= ends_by_abort("inside");
	ok &= ends_by_abort("foreign");
	ok &= ends_by_abort("realloc");
	return ok;
}

static const struct test tests[] = {
	{ "blocks of every size can be written and keep what was written", writable },
	{ "calloc is zero, from memory that was dirty", calloc_is_zero },
	{ "realloc keeps the contents, up and down", realloc_keeps },
	{ "aligned blocks are aligned; other alignments are EINVAL", alignments },
	{ "sizes that wrap are ENOMEM; free leaves errno alone", too_much },
	{ "strdup, asprintf and stdio of the C library use it", libc_uses_it },
	{ "a large block is one mapping; with neither device nor MMU, 4 MiB is the most",
	  large_blocks_are_mappings },
	{ "what was freed goes back to the device", all_comes_back },
	{ "double free and foreign pointers end the process by SIGABRT, with one line",
	  misuse_ends_the_process },
	{ "a program that closes all files and opens others goes on allocating", files_are_closed },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		return misbehave(argv[1]);
	/* Under valgrind the other name would be valgrind's. */
	if (strchr(argv[0], '/'))
		self = argv[0];
	return run_tests(tests, ARRAY_SIZE(tests));
}

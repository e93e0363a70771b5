// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * Threads that allocate at the same time, and free what others have allocated.
 */
#include <pthread.h>

#include "check.h"

#define THREADS	4
#define ROUNDS	20000
#define SLOTS	64

static void *slots[SLOTS];
static unsigned int errors[THREADS];

struct block {
	size_t size;
	unsigned char stamp;
	unsigned char bytes[];
};

static unsigned int next(unsigned int *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static struct block *make(unsigned int *seed)
{
	size_t size = next(seed) % 64 ? next(seed) % 3000 : 20000 + next(seed) % 100000;
	struct block *block = malloc(sizeof(*block) + size);

	if (block) {
		block->size = size;
		block->stamp = next(seed);
		memset(block->bytes, block->stamp, size);
	}
	return block;
}

static void *work(void *arg)
{
	unsigned int number = (uintptr_t)arg, seed = number + 1, i;

	for (i = 0; i < ROUNDS; i++) {
		struct block *mine = make(&seed);
		struct block *other = __atomic_exchange_n(&slots[next(&seed) % SLOTS], mine,
							    __ATOMIC_ACQ_REL);

		errors[number] += !mine;
		if (other)
			errors[number] += !all_are(other->bytes, other->stamp, other->size);
		free(other);
	}
	return NULL;
}

static bool run(void)
{
	pthread_t threads[THREADS];
	bool ok = true;
	uintptr_t i;

	for (i = 0; i < THREADS; i++)
		ok &= expect(!pthread_create(&threads[i], NULL, work, (void *)i));
	for (i = 0; ok && i < THREADS; i++)
		ok &= expect(!pthread_join(threads[i], NULL)) && expect(errors[i] == 0);
	for (i = 0; i < SLOTS; i++)
		free(slots[i]);
	return ok;
}

static const struct test tests[] = {
	{ "four threads allocate and free what others have allocated", run },
};

int main(void)
{
	return run_tests(tests, ARRAY_SIZE(tests));
}

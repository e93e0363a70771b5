// SPDX-License-Identifier: GPL-2.0
/*
 * What the notes on security start from: on this machine a program reads all memory
 * anyway, that of the kernel and of other programs, with no privilege and no device.
 */
#include "run.h"

#define NOBODY		65534
/* Documentation/arch/riscv/boot-image-header.rst: the second magic number. */
#define IMAGE_MAGIC	0x05435352
#define IMAGE_MAGIC_AT	0x38
#define SECRET		0x5ec4e7f00dUL

/*
 * Where the kernel's image begins, by /proc/iomem, which may leave out its first page;
 * 0 if that does not say.  An image lies at a multiple of 2 MiB.
 */
static unsigned long kernel_start(void)
{
	static char text[4 * KIB];
	char *line;

	read_file("/proc/iomem", text, sizeof(text));
	line = strstr(text, "Kernel image");
	while (line && line > text && line[-1] != '\n')
		line--;
	return line ? strtoul(line, NULL, 16) & ~(2 * MIB - 1) : 0;
}

static bool reads_kernel(void)
{
	unsigned long start = kernel_start();
	const unsigned int *magic = (const void *)(start + IMAGE_MAGIC_AT);

	if (!expect(start))
		return false;
	asm volatile("" : "+r"(magic));
	return expect(*magic == IMAGE_MAGIC);
}

/* A process of its own, without privilege, that has nothing but an address. */
static int child(unsigned long address)
{
	const unsigned long *secret = (const void *)address;

	if (syscall(__NR_setresgid, NOBODY, NOBODY, NOBODY) ||
	    syscall(__NR_setresuid, NOBODY, NOBODY, NOBODY))
		return 2;
	if (open(DEVICE, O_RDONLY) >= 0)
		return 3;
	return *secret != SECRET;
}

static bool reads_another_process(void)
{
	unsigned long *secret = mmap(NULL, PAGE, PROT_RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool ok;

	if (!expect(secret != MAP_FAILED))
		return false;
	*secret = SECRET;
	ok = expect(ended_well(start_child("read", (long)secret, 0)));
	return expect(!munmap(secret, PAGE)) && ok;
}

static const struct test tests[] = {
	{ "a program reads the kernel's memory", reads_kernel },
	{ "a process of nobody reads another's memory, and may not open the device",
	  reads_another_process },
};

int main(int argc, char **argv)
{
	if (is_child(argc, argv))
		return child(atol(argv[3]));
	run_tests(tests, ARRAY_SIZE(tests));
}

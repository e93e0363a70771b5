// SPDX-License-Identifier: GPL-2.0
/*
 * The first instructions of a test program.
 *
 * Without an MMU a program runs wherever the kernel found room for it, so it is
 * linked as a static PIE.  nolibc applies no relocations: pointers in static
 * data (tables of names and functions) would keep their link-time values.
 * _start() adds the load address to them and then enters nolibc's own start.
 * This file must not include nolibc, which has a weak _start of its own.
 */
#include <linux/elf.h>

void relocate(char *base, const unsigned long *dynamic);

/* The dynamic section is a list of pairs: a tag and its value. */
void relocate(char *base, const unsigned long *dynamic)
{
	const struct elf64_rela *rela = (const void *)base;
	unsigned long count = 0;

	for (; dynamic[0] != DT_NULL; dynamic += 2) {
		if (dynamic[0] == DT_RELA)
			rela = (const void *)(base + dynamic[1]);
		else if (dynamic[0] == DT_RELASZ)
			count = dynamic[1] / sizeof(*rela);
	}

	/* All are of type RELATIVE: check-pie has made sure of that. */
	for (; count; count--, rela++)
		*(char **)(base + rela->r_offset) = base + rela->r_addend;
}

/*
 * The program is linked at 0, so the address of its ELF header is the load address.
 * The stack pointer is nolibc's argument: argc, argv and environment lie there.
 */
#if defined(__riscv)
asm(".pushsection .text\n"
	".globl _start\n"
	"_start:\n"
	".option push\n"
	".option norelax\n"
	"	lla	gp, __global_pointer$\n"
	".option pop\n"
	"	mv	s0, sp\n"
	"	lla	a0, __ehdr_start\n"
	"	lla	a1, _DYNAMIC\n"
	"	call	relocate\n"
	"	mv	a0, s0\n"
	"	tail	_start_c\n"
	".popsection\n");
#elif defined(__x86_64__)
asm(".pushsection .text\n"
	".globl _start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%rsp, %rbx\n"
	"	and	$-16, %rsp\n"
	"	lea	__ehdr_start(%rip), %rdi\n"
	"	lea	_DYNAMIC(%rip), %rsi\n"
	"	call	relocate\n"
	"	mov	%rbx, %rdi\n"
	"	call	_start_c\n"
	"	hlt\n"
	".popsection\n");
#else
#error "no start code for this architecture"
#endif

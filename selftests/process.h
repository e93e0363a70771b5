/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Processes and threads without fork(), which needs an MMU.
 */
#ifndef SELFTESTS_PROCESS_H
#define SELFTESTS_PROCESS_H

#include "pages.h"

/* A thread that wait() sees: shares memory and open files, runs at once. */
#define THREAD	(CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD)
/* Shares memory, has its own table of open files; the parent waits for exec or exit. */
#define VFORK	(CLONE_VM | CLONE_VFORK | SIGCHLD)

/* 16 KiB, aligned to 16 bytes as the ABI wants it. */
struct stack {
	unsigned __int128 words[1024];
};

/* Runs fn(arg) on @stack; what it returns is the exit status.  Returns the pid. */
#if defined(__riscv)
static inline pid_t spawn(unsigned long flags, struct stack *stack,
			  int (*fn)(void *arg), void *arg)
{
	register long a0 asm("a0") = flags;
	register void *a1 asm("a1") = stack + 1;
	register long a2 asm("a2") = 0;
	register long a3 asm("a3") = 0;
	register long a4 asm("a4") = 0;
	register void *a5 asm("a5") = fn;
	register void *a6 asm("a6") = arg;
	register long a7 asm("a7") = __NR_clone;

	asm volatile("ecall\n"
		     "	bnez	a0, 1f\n"
		     "	mv	a0, a6\n"
		     "	jalr	a5\n"
		     "	li	a7, %[exit]\n"
		     "	ecall\n"
		     "1:\n"
		     : "+r"(a0)
		     : "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a6), "r"(a7),
		       [exit] "i"(__NR_exit)
		     : "memory", "ra");
	return __sysret(a0);
}
#elif defined(__x86_64__)
static inline pid_t spawn(unsigned long flags, struct stack *stack,
			  int (*fn)(void *arg), void *arg)
{
	register long rax asm("rax") = __NR_clone;
	register long rdi asm("rdi") = flags;
	register void *rsi asm("rsi") = stack + 1;
	register long rdx asm("rdx") = 0;
	register long r10 asm("r10") = 0;
	register long r8 asm("r8") = 0;
	register void *r12 asm("r12") = fn;
	register void *r13 asm("r13") = arg;

	asm volatile("syscall\n"
		     "	test	%%rax, %%rax\n"
		     "	jnz	1f\n"
		     "	xor	%%ebp, %%ebp\n"
		     "	mov	%%r13, %%rdi\n"
		     "	call	*%%r12\n"
		     "	mov	%%eax, %%edi\n"
		     "	mov	%[exit], %%eax\n"
		     "	syscall\n"
		     "1:\n"
		     : "+r"(rax)
		     : "r"(rdi), "r"(rsi), "r"(rdx), "r"(r10), "r"(r8), "r"(r12), "r"(r13),
		       [exit] "i"(__NR_exit)
		     : "memory", "rcx", "r11");
	return __sysret(rax);
}
#endif

static inline int exec_args(void *arg)
{
	char **argv = arg;

	execve("/proc/self/exe", argv, environ);
	return 127;
}

/*
 * Starts this program anew as a process of its own: "PROGRAM child ROLE A B".
 * It inherits open files by number.
 */
static inline pid_t start_child(const char *role, long a, long b)
{
	static struct stack stack;
	char number[2][24];
	char *argv[6] = { program_invocation_name, "child", (char *)role,
			 number[0], number[1], NULL };

	ltoa_r(a, number[0]);
	ltoa_r(b, number[1]);
	return spawn(VFORK, &stack, exec_args, argv);
}

static inline bool is_child(int argc, char **argv)
{
	return argc == 5 && !strcmp(argv[1], "child");
}

/* Waits for @pid; returns its status as waitpid() has it, -1 if there is none. */
static inline int wait_status(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Did @pid run and end with exit status 0? */
static inline bool ended_well(pid_t pid)
{
	return pid > 0 && wait_status(pid) == 0;
}

/* One byte through a pipe: "I am there" and "go on". */
static inline bool signal_other(int fd)
{
	return write(fd, "", 1) == 1;
}

static inline bool wait_other(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

#endif /* SELFTESTS_PROCESS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's /init: make the machine usable, load the driver, run one
 * program, say on the kernel log how it ended, power off.
 *
 * What to run comes in files of the initrd, not on the kernel command line,
 * so that no character needs quoting:
 *
 *   /guest/argv     the program and its arguments, each ended by a NUL;
 *                   empty: boot, load the driver, power off
 *   /guest/params   parameter string for the driver; no file: do not load it
 *   /guest/terminal there is a person at the other end of /dev/hvc0
 *   /guest/settle   start the program at this uptime, in seconds
 *
 * Every line for the boot runner starts with "guest: ".
 *
 * Nothing relocates this static-pie program, so it must get along without
 * tables of pointers and without nolibc's start code, which uses some.
 * The build checks that no relocation is left.
 */

#define NOLIBC_NO_RUNTIME
#include "nolibc.h"

#include <linux/module.h>
#include <linux/termios.h>

#define MODULE_PATH	"/lib/rust_uncleared.ko"
#define PROGRAM_TTY	"/dev/hvc0"
#define MODULE_NAME	"rust_uncleared"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
/* Younger objects do not count as leaks. */
#define LEAK_SECONDS	6
#define MAX_ARGS	64
#define CRIT_PREFIX	"<2>"	/* shown at every console log level, quiet too */

static char args[4096];
static char params[4096];
static int exec_errno;	/* written by the child, which shares our memory */

static void say(const char *what, int number)
{
	char line[128];
	int fd = open("/dev/kmsg", O_WRONLY);
	int len = snprintf(line, sizeof(line), CRIT_PREFIX "guest: %s %d\n", what, number);

	/* Without /dev there is still the console that the kernel opened. */
	write(fd < 0 ? 2 : fd, line, len);
	if (fd >= 0)
		close(fd);
}

static void power_off(void)
{
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	/* Returning would be a panic with a misleading text. */
	for (;;)
		sleep(1);
}

/* Does not return. */
static void fail(const char *what)
{
	say(what, errno);
	power_off();
}

static void mount_one(const char *type, const char *where, const char *failure)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL))
		fail(failure);
}

/* The length read, or -1; the text is always terminated. */
static int read_file(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY);
	int len = 0;
	int n;

	if (fd < 0)
		return -1;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

static void load_module(void)
{
	int fd;

	if (read_file("/guest/params", params, sizeof(params)) < 0)
		return;
	fd = open(MODULE_PATH, O_RDONLY);
	if (fd < 0)
		fail("module missing: errno");
	if (syscall(__NR_finit_module, fd, params, 0))
		fail("module load failed: errno");
	close(fd);
}

/* Bytes must arrive as the program wrote them: no echo, no "\r\n". */
static void make_raw(int fd)
{
	struct termios tio;

	if (ioctl(fd, TCGETS, &tio))
		fail("no terminal settings on " PROGRAM_TTY ": errno");
	tio.c_iflag = 0;
	tio.c_oflag = 0;
	tio.c_lflag = 0;
	if (ioctl(fd, TCSETS, &tio))
		fail("cannot set up " PROGRAM_TTY ": errno");
}

static void connect_program(void)
{
	bool terminal = access("/guest/terminal", F_OK) == 0;
	int in;
	int out;
	int tries;

	/* A session leader's first terminal becomes its controlling one. */
	setsid();

	/* The port is announced by a message, which may take a moment. */
	for (tries = 0; tries < 500; tries++) {
		out = open(PROGRAM_TTY, terminal ? O_RDWR : O_RDWR | O_NOCTTY);
		if (out >= 0)
			break;
		usleep(10000);
	}
	if (out < 0)
		fail("no " PROGRAM_TTY ": errno");

	if (terminal) {
		in = out;
	} else {
		make_raw(out);
		in = open("/dev/null", O_RDONLY);
		if (in < 0)
			fail("no /dev/null: errno");
	}
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	if (in > 2)
		close(in);
	if (out > 2 && out != in)
		close(out);
}

/*
 * Under instruction counting time is free, and starting at a fixed moment
 * puts the timer tick at the same place in every boot.
 */
static void wait_for_start(void)
{
	struct timespec when = {};
	char seconds[16];

	if (read_file("/guest/settle", seconds, sizeof(seconds)) < 0)
		return;
	when.tv_sec = atoi(seconds);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

/* Passes a text on to the kernel's log, a line at a time. */
static void log_lines(char *text)
{
	int log = open("/dev/kmsg", O_WRONLY);
	char *end;

	for (; log >= 0 && *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end)
			break;
		write(log, text, end - text + 1);
	}
	if (log >= 0)
		close(log);
}

/*
 * On a kernel that can tell: what is left when the driver has gone and nothing
 * points to any more is in the log. A leak is seen by the second scan, which
 * finds it as the first one left it.
 */
static void look_for_leaks(void)
{
	int fd = open(KMEMLEAK, O_WRONLY);

	if (fd < 0)
		return;
	if (syscall(__NR_delete_module, MODULE_NAME, O_NONBLOCK) && errno != ENOENT)
		fail("the module cannot be unloaded: errno");
	sleep(LEAK_SECONDS);
	write(fd, "scan", 4);
	write(fd, "scan", 4);
	close(fd);
	if (read_file(KMEMLEAK, params, sizeof(params)) > 0)
		log_lines(params);
}

static void run(char **argv)
{
	char *envp[4];
	int status;
	pid_t pid;

	/* Assigned, not initialised: an initialiser becomes a relocated table. */
	envp[0] = "PATH=/bin";
	envp[1] = "HOME=/";
	envp[2] = "TERM=vt100";
	envp[3] = NULL;

	pid = vfork();
	if (pid < 0)
		fail("cannot start a process: errno");
	if (pid == 0) {
		execve(argv[0], argv, envp);
		exec_errno = errno;
		_exit(127);
	}

	/* Orphans of the program end up here as well. */
	while (waitpid(-1, &status, 0) != pid)
		;
	ioctl(1, TCSBRK, 1);	/* tcdrain(): the output first, then the verdict */
	look_for_leaks();

	if (exec_errno)
		say("cannot execute the program: errno", exec_errno);
	else if (WIFEXITED(status))
		say("exit", WEXITSTATUS(status));
	else
		say("signal", WTERMSIG(status));
}

/* The entry point itself: no arguments to look at, and it never returns. */
void _start(void)
{
	char *argv[MAX_ARGS + 1];
	int argc = 0;
	int len;
	int at;

	mount_one("devtmpfs", "/dev", "cannot mount /dev: errno");
	mount_one("proc", "/proc", "cannot mount /proc: errno");
	mount_one("sysfs", "/sys", "cannot mount /sys: errno");
	mount_one("debugfs", "/sys/kernel/debug", "cannot mount debugfs: errno");
	mkdir("/tmp", 0777);

	len = read_file("/guest/argv", args, sizeof(args));
	for (at = 0; at < len && argc < MAX_ARGS; at += strlen(args + at) + 1)
		argv[argc++] = args + at;
	argv[argc] = NULL;

	connect_program();
	load_module();
	wait_for_start();
	if (argc) {
		run(argv);
	} else {
		look_for_leaks();
		say("exit", 0);
	}
	power_off();
}

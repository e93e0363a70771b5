// SPDX-License-Identifier: GPL-2.0
/*
 * What /dev/pages is doing: the figures of debugfs and the open files of all
 * processes, as tables.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICE	"/dev/pages"
#define DEBUGFS	"/sys/kernel/debug"
#define STATS	DEBUGFS "/pages"

static const char usage[] =
	"usage: pagestat [-b] [-w [SECONDS]]\n"
	"\n"
	"Show what is mapped from " DEVICE ", what waits for reuse, and who has it open.\n"
	"\n"
	"  -b            exact figures, in bytes\n"
	"  -w [SECONDS]  again every SECONDS (1 to 3600; 1) until interrupted\n"
	"  -h            this text\n";

/* One file of debugfs, what it means, and whether it counts bytes. */
static const struct figure {
	const char *file;
	const char *meaning;
	bool bytes;
} figures[] = {
	{ "mappings", "live mappings", false },
	{ "mapped_bytes", "mapped", true },
	{ "peak_bytes", "mapped at most", true },
	{ "cached_clean_bytes", "waiting, zero", true },
	{ "cached_dirty_bytes", "waiting, not cleared", true },
	{ "reserve_bytes", "reserve", true },
	{ "reserve_free_bytes", "reserve, not mapped", true },
	{ "cleared_bytes", "cleared so far", true },
	{ "uncleared_bytes", "given out uncleared", true },
	{ "recycled_bytes", "recycled", true },
	{ "failures", "failures", false },
};

static bool exact;

__attribute__((format(printf, 1, 2), noreturn))
static void give_up(const char *format, ...)
{
	va_list args;

	fputs("pagestat: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* "1234", or "1.2 MiB" where bytes are to be read by people. */
static const char *shown(unsigned long long value, bool bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	static char text[32];
	unsigned long long whole = value, rest = 0;
	size_t unit = 0;

	if (exact || !bytes) {
		snprintf(text, sizeof(text), "%llu", value);
		return text;
	}
	while (whole >= 1024 && unit < sizeof(units) / sizeof(*units) - 1) {
		rest = whole % 1024;
		whole /= 1024;
		unit++;
	}
	if (rest)
		snprintf(text, sizeof(text), "%llu.%llu %s", whole, rest * 10 / 1024, units[unit]);
	else
		snprintf(text, sizeof(text), "%llu %s", whole, units[unit]);
	return text;
}

static void show_figures(void)
{
	char path[128];
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(*figures); i++) {
		unsigned long long value;
		FILE *file;

		snprintf(path, sizeof(path), STATS "/%s", figures[i].file);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%llu", &value) != 1)
			give_up("cannot read %s (%s); is the module of the same version?", path,
				strerror(errno));
		fclose(file);
		printf("%-22s %15s\n", figures[i].meaning, shown(value, figures[i].bytes));
	}
}

/* The value behind @name in an fdinfo file. */
static bool find(const char *text, const char *name, unsigned long long *value)
{
	const char *at = strstr(text, name);

	return at && sscanf(at + strlen(name), "%llu", value) == 1;
}

static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	if (len < 0)
		return false;
	text[len] = '\0';
	return true;
}

/* One open file of a process, if it is the device. */
static bool show_file(const char *pid, const char *fd, dev_t device)
{
	unsigned long long mappings, bytes;
	char path[640], text[512], command[32];
	struct stat stat_;

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, fd);
	if (stat(path, &stat_) || !S_ISCHR(stat_.st_mode) || stat_.st_rdev != device)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd);
	if (!read_text(path, text, sizeof(text)) || !find(text, "mappings:", &mappings) ||
	    !find(text, "mapped_bytes:", &bytes))
		return false;
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	if (!read_text(path, command, sizeof(command)))
		return false;
	command[strcspn(command, "\n")] = '\0';
	printf("%7s %-15s %4s %9llu %15s\n", pid, command, fd, mappings, shown(bytes, true));
	return true;
}

static bool is_number(const char *text)
{
	return isdigit((unsigned char)*text);
}

/* Processes come and go meanwhile: what cannot be read any more is left out. */
static void show_files(dev_t device)
{
	DIR *processes = opendir("/proc");
	struct dirent *process, *file;
	bool any = false;

	if (!processes)
		give_up("cannot read /proc (%s); mount it", strerror(errno));
	printf("\n%7s %-15s %4s %9s %15s\n", "PID", "COMMAND", "FD", "MAPPINGS", "MAPPED");
	while ((process = readdir(processes))) {
		char path[300];
		DIR *files;

		if (!is_number(process->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fd", process->d_name);
		files = opendir(path);
		while (files && (file = readdir(files)))
			if (is_number(file->d_name))
				any |= show_file(process->d_name, file->d_name, device);
		if (files)
			closedir(files);
	}
	closedir(processes);
	if (!any)
		printf("%7s nobody has %s open\n", "-", DEVICE);
}

static void show(void)
{
	struct stat device;

	if (stat(DEVICE, &device))
		give_up("there is no " DEVICE " (%s); load the module rust_uncleared",
			strerror(errno));
	if (access(STATS, R_OK | X_OK))
		give_up("cannot read " STATS " (%s); be root, and mount debugfs at " DEBUGFS,
			strerror(errno));
	show_figures();
	show_files(device.st_rdev);
}

static unsigned int read_seconds(const char *text)
{
	char *end;
	unsigned long seconds = strtoul(text, &end, 10);

	if (!is_number(text) || *end || seconds < 1 || seconds > 3600)
		give_up("'%s': want a number of seconds from 1 to 3600", text);
	return seconds;
}

int main(int argc, char **argv)
{
	unsigned int seconds = 0;
	int option;

	while ((option = getopt(argc, argv, "bhw")) != -1) {
		switch (option) {
		case 'b':
			exact = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'w':
			seconds = 1;
			if (optind < argc)
				seconds = read_seconds(argv[optind++]);
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fputs(usage, stderr);
		return 2;
	}
	show();
	while (seconds) {
		fflush(stdout);
		sleep(seconds);
		/* The cursor to the corner, what is below it cleared. */
		if (isatty(1))
			fputs("\033[H\033[J", stdout);
		else
			putchar('\n');
		show();
	}
	return 0;
}

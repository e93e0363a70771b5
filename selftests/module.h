/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loading and unloading modules.
 */
#ifndef SELFTESTS_MODULE_H
#define SELFTESTS_MODULE_H

#include "pages.h"

#define MODULE		"rust_uncleared"
#define MODULE_FILE	"/lib/" MODULE ".ko"

/* Returns 0 or the errno. */
static inline int load_file(const char *path, const char *params)
{
	int fd = open(path, O_RDONLY);
	int err = syscall(__NR_finit_module, fd, params, 0) ? errno : 0;

	close(fd);
	return err;
}

static inline int load(const char *params)
{
	return load_file(MODULE_FILE, params);
}

static inline int unload_module(const char *name)
{
	return syscall(__NR_delete_module, name, O_NONBLOCK) ? errno : 0;
}

static inline int unload(void)
{
	return unload_module(MODULE);
}

static inline bool is_there(void)
{
	return !access(DEVICE, F_OK) && !access("/sys/module/" MODULE, F_OK);
}

static inline bool is_gone(void)
{
	return access(DEVICE, F_OK) && access("/sys/module/" MODULE, F_OK);
}

/*
 * The first load says that the module taints the kernel, once and for all.  With an MMU
 * the kernel keeps a page for itself after the second one, and none after any other.
 */
static inline void first_loads(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		int fd;

		load("");
		fd = open_pages();
		dirty(fd, SHARED, MIB, 0);
		close(fd);
		unload();
	}
}

#endif /* SELFTESTS_MODULE_H */

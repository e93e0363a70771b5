/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/pages: physically contiguous memory on kernels without an MMU,
 * zeroed unless the mapping opts out.
 */
#ifndef _UAPI_LINUX_PAGES_H
#define _UAPI_LINUX_PAGES_H

/**
 * DOC: /dev/pages
 *
 * mmap(2) of /dev/pages returns fresh, physically contiguous, page-aligned
 * memory that no other mapping shows, with %MAP_SHARED as with %MAP_PRIVATE.
 * It is zeroed, unless the mapping opts out of the clearing in one of two ways:
 *
 * - the flag %MAP_UNINITIALIZED of mmap(2), with %MAP_SHARED or with a
 *   read-only %MAP_PRIVATE mapping. It counts only with %MAP_HUGETLB clear and
 *   bits 27 to 31 of the flags clear, since it shares its bit with the sizes
 *   of huge pages; or
 *
 * - the offset %PAGES_OFFSET_UNCLEARED, with every kind of mapping.
 *
 * An opt-out is a permission, not a demand: the kernel may be built without it,
 * the module parameter ``policy`` or the boot options ``init_on_alloc=1`` and
 * ``init_on_free=1`` may overrule it, and the mapping is zeroed then. It never
 * makes a mapping fail.
 *
 * Offsets other than 0 and %PAGES_OFFSET_UNCLEARED are refused with %EINVAL.
 * A length beyond the limits of the device or of the free memory is refused
 * with %ENOMEM.
 */

/**
 * PAGES_OFFSET_UNCLEARED - offset of a mapping that need not be cleared
 *
 * In bytes, for the last argument of mmap(2). It lies above everything that
 * a 32-bit offset in pages of 4 KiB can address by accident, and is a multiple
 * of every page size.
 */
#define PAGES_OFFSET_UNCLEARED	(1ULL << 43)

#endif /* _UAPI_LINUX_PAGES_H */

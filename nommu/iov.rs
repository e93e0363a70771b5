// SPDX-License-Identifier: GPL-2.0

//! Two things that a device of zeros does with an I/O vector.
//!
//! C headers: [`include/linux/uio.h`](srctree/include/linux/uio.h)

use kernel::{
    bindings,
    iov::IovIterDest,
    page::PAGE_SIZE,
    prelude::*, //
};

/// Whether this is `do_mmap_private()` of `mm/nommu.c`, which reads the contents of a private
/// mapping into pages that it has just allocated.
///
/// It calls `kernel_read()`: one kernel buffer, here of whole pages. read(2), splice(2) and
/// sendfile(2) have iterators of other types. The few others that call `kernel_read()` on a file
/// that user space has given them (9p over a file descriptor) read into the middle of a structure.
pub(crate) fn is_mapping_copy(dest: &mut IovIterDest<'_>) -> bool {
    let iov = dest.as_raw();
    // SAFETY: By the type invariants of `IovIterDest` this is a valid iterator.
    let iter_type = unsafe { (*iov).iter_type };
    if u32::from(iter_type) != bindings::iter_type_ITER_KVEC {
        return false;
    }
    // SAFETY: As above; this member of the union is the one that the kernel itself uses for it.
    let list = unsafe { (*iov).__bindgen_anon_1.__bindgen_anon_1.as_ref() };
    if list.count == 0 {
        return false;
    }
    // SAFETY: An iterator of this type has a list of `kvec`.
    let first = unsafe { list.__bindgen_anon_1.kvec };
    // SAFETY: The list of an iterator that has bytes left has a member.
    let buffer = unsafe { *first };

    buffer.iov_len == list.count
        && list.count % PAGE_SIZE == 0
        && buffer.iov_base.addr() % PAGE_SIZE == 0
}

/// Writes up to `bytes` zeros, and returns how many.
///
/// Fewer than asked for means that user memory could not be written.
pub(crate) fn fill_zero(dest: &mut IovIterDest<'_>, bytes: usize) -> usize {
    // SAFETY: By the type invariants of `IovIterDest` this is a valid iterator, to be written to.
    unsafe { bindings::iov_iter_zero(bytes, dest.as_raw()) }
}

static_assert!(PAGE_SIZE.is_power_of_two());

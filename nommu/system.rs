// SPDX-License-Identifier: GPL-2.0

//! What the machine and its administrator have decided about memory.
//!
//! C headers: [`include/linux/mm.h`](srctree/include/linux/mm.h)

use kernel::{
    bindings,
    page::PAGE_SIZE, //
};

/// Pages of RAM that the kernel manages.
pub(crate) fn total_pages() -> usize {
    let mut info = bindings::sysinfo::default();
    // SAFETY: `info` is valid for writes.
    unsafe { bindings::si_meminfo(&mut info) };
    info.totalram * info.mem_unit as usize / PAGE_SIZE
}

/// Whether all memory that the page allocator hands out is zero already.
///
/// True when the administrator has asked for `init_on_alloc=1`, or for `init_on_free=1` with which
/// memory is cleared when it is freed.
pub(crate) fn allocator_clears() -> bool {
    clears_on_alloc() || clears_on_free()
}

/// `want_init_on_alloc(0)`.
fn clears_on_alloc() -> bool {
    // SAFETY: Only the address is taken, of a field of a static of the kernel.
    let count = unsafe { &raw const bindings::init_on_alloc.key.enabled.counter };
    // SAFETY: The key is set during boot and stays as it is.
    unsafe { count.read_volatile() != 0 }
}

/// `want_init_on_free()`.
fn clears_on_free() -> bool {
    // SAFETY: Only the address is taken, of a field of a static of the kernel.
    let count = unsafe { &raw const bindings::init_on_free.key.enabled.counter };
    // SAFETY: The key is set during boot and stays as it is.
    unsafe { count.read_volatile() != 0 }
}

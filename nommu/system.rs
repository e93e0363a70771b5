// SPDX-License-Identifier: GPL-2.0

//! What the machine and its administrator have decided about memory.
//!
//! C headers: [`include/linux/mm.h`](srctree/include/linux/mm.h)

use kernel::{
    bindings,
    page::PAGE_SIZE, //
};

/// Pages in the largest block of the page allocator.
const BLOCK_PAGES: i64 = 1 << bindings::MAX_PAGE_ORDER;

/// Pages of RAM that the kernel manages.
pub(crate) fn total_pages() -> usize {
    let mut info = bindings::sysinfo::default();
    // SAFETY: `info` is valid for writes.
    unsafe { bindings::si_meminfo(&mut info) };
    info.totalram * info.mem_unit as usize / PAGE_SIZE
}

/// Whether so much memory is left, free or easy to make free, that nobody is killed for want of it.
///
/// Mappings are not counted by anything in the kernel, so it would not find out by itself that they
/// are what has used up the memory. The page allocator stops short of its own reserve; beyond that
/// it may hold back a block of the largest order for a while, on a machine that has four of them
/// (`boost_watermark()`). Some more is for the records of others.
pub(super) fn enough_is_left() -> bool {
    // SAFETY: May be called from anywhere.
    let available = unsafe { bindings::si_mem_available() };
    // SAFETY: Only the address is taken, of a field of a static of the kernel.
    let total = unsafe { &raw const bindings::_totalram_pages.counter };
    // SAFETY: The static is valid for reads; it changes when memory is plugged in.
    let total = unsafe { total.read_volatile() };
    let held_back = if total >= 4 * BLOCK_PAGES {
        BLOCK_PAGES
    } else {
        0
    };
    available as i64 >= held_back + total / 64
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

// SPDX-License-Identifier: MIT OR Apache-2.0

//! The allocator of a Rust program.

use super::{block::Block, shared::with_heap};
use core::{
    alloc::{GlobalAlloc, Layout},
    ptr::NonNull,
};

/// Allocates from `/dev/pages`, for `#[global_allocator]`.
///
/// All values share one heap. Giving back what is not a block ends the process by `SIGABRT`, with
/// one line on standard error.
#[derive(Clone, Copy, Debug, Default)]
pub struct PagesAlloc;

fn raw(block: Option<Block>) -> *mut u8 {
    block.map_or(core::ptr::null_mut(), |block| block.into_raw().as_ptr())
}

// SAFETY: The heap gives out each piece of memory once, as long and as aligned as asked for, and
// does not panic.
unsafe impl GlobalAlloc for PagesAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        raw(with_heap(|heap| {
            heap.allocate(layout.size(), layout.align())
        }))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        raw(with_heap(|heap| {
            heap.allocate_zeroed(layout.size(), layout.align())
        }))
    }

    unsafe fn dealloc(&self, start: *mut u8, _layout: Layout) {
        let Some(start) = NonNull::new(start) else {
            return;
        };
        // SAFETY: By the contract of `GlobalAlloc` the block is not used any more.
        let block = unsafe { Block::from_raw(start) };
        if let Err(misuse) = with_heap(|heap| heap.free(block)) {
            misuse.abort();
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(start) = NonNull::new(start) else {
            return core::ptr::null_mut();
        };
        // SAFETY: By the contract of `GlobalAlloc` the old block is not used any more if this
        // succeeds, and is not touched if it does not.
        let block = unsafe { Block::from_raw(start) };
        match with_heap(|heap| heap.reallocate(block, size, layout.align())) {
            Ok(block) => raw(block),
            Err(misuse) => misuse.abort(),
        }
    }
}

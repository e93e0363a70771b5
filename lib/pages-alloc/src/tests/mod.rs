// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests against a source that counts, and a model.

mod heap;
mod model;
mod source;

/// The memory of a block.
fn memory(addr: usize, len: usize) -> &'static mut [u8] {
    let start = core::ptr::with_exposed_provenance_mut(addr);
    // SAFETY: The caller names a block in use that is so long, and holds one such reference at a
    // time.
    unsafe { core::slice::from_raw_parts_mut(start, len) }
}

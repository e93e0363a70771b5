// SPDX-License-Identifier: GPL-2.0

//! What a device of zeros does with an I/O vector.
//!
//! C headers: [`include/linux/uio.h`](srctree/include/linux/uio.h)

use kernel::{
    bindings,
    iov::IovIterDest, //
};

/// Writes up to `bytes` zeros, and returns how many.
///
/// Fewer than asked for means that user memory could not be written.
pub(crate) fn fill_zero(dest: &mut IovIterDest<'_>, bytes: usize) -> usize {
    // SAFETY: By the type invariants of `IovIterDest` this is a valid iterator, to be written to.
    unsafe { bindings::iov_iter_zero(bytes, dest.as_raw()) }
}

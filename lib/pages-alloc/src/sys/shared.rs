// SPDX-License-Identifier: MIT OR Apache-2.0

//! The heap of the process.

use crate::{heap::Heap, lock::Lock, source::System};
use core::cell::UnsafeCell;

/// A heap behind a lock.
pub(crate) struct Shared {
    lock: Lock,
    heap: UnsafeCell<Heap<System>>,
}

// SAFETY: The heap is reached with the lock held only.
unsafe impl Sync for Shared {}

/// The one.
static SHARED: Shared = Shared {
    lock: Lock::new(),
    heap: UnsafeCell::new(Heap::new(System::new())),
};

/// Does something with the heap. It must not allocate.
#[inline]
pub(crate) fn with_heap<T>(what: impl FnOnce(&mut Heap<System>) -> T) -> T {
    SHARED.lock.lock();
    // SAFETY: The lock is held, and `what` does not come here again since it does not allocate.
    let result = what(unsafe { &mut *SHARED.heap.get() });
    SHARED.lock.unlock();
    result
}

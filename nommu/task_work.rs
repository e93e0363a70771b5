// SPDX-License-Identifier: GPL-2.0

//! Who can be given work to do on its way back to user space.
//!
//! C header: [`include/linux/task_work.h`](srctree/include/linux/task_work.h)

use core::ptr::NonNull;
use kernel::bindings;

/// The current task, if a task work that is queued for it will run: not in a kernel thread, which
/// never returns to user space. `fput()` asks the same question.
pub(super) fn current() -> Option<NonNull<bindings::task_struct>> {
    // SAFETY: There always is a current task.
    let task = unsafe { NonNull::new_unchecked(bindings::get_current()) };
    // SAFETY: `current` is valid, and nobody else changes the flags of a running task.
    let flags = unsafe { (*task.as_ptr()).flags };
    (flags & bindings::PF_KTHREAD == 0).then_some(task)
}

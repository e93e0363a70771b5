// SPDX-License-Identifier: GPL-2.0

//! What long work asks of the task it runs in.
//!
//! C headers: [`include/linux/sched.h`](srctree/include/linux/sched.h),
//! [`include/linux/sched/signal.h`](srctree/include/linux/sched/signal.h)

use kernel::{
    bindings,
    current,
    prelude::*, //
};

/// The bit of SIGKILL in the first word of a signal set.
const SIGKILL_BIT: c_ulong = 1 << (bindings::SIGKILL - 1);

/// Whether the current task has a signal pending, fatal or not.
pub(crate) fn signal_pending() -> bool {
    current!().signal_pending()
}

/// Whether the current task is being killed: `fatal_signal_pending(current)`.
pub(crate) fn fatal_signal_pending() -> bool {
    if !signal_pending() {
        return false;
    }
    // SAFETY: `current` is valid.
    let pending = unsafe { &raw const (*bindings::get_current()).pending.signal.sig[0] };
    // SAFETY: `pending` points into `current`. Another CPU may set a bit at any time, as for the C
    // function, which reads the word without a lock too.
    unsafe { pending.read_volatile() & SIGKILL_BIT != 0 }
}

/// Lets others run, on a kernel with voluntary preemption.
///
/// The others preempt by themselves: riscv has no kernel without preemption (`PREEMPT_LAZY` is the
/// least), and `cond_resched()` is empty there.
pub(crate) fn cond_resched() {
    // SAFETY: May be called wherever sleeping is allowed.
    unsafe { bindings::might_resched() };
}

/// Waits until every task has left the code that it was in the middle of, as far as this kernel can
/// tell. To be called before code goes away.
pub(super) fn wait_for_stragglers() {
    #[cfg(CONFIG_TASKS_RCU)]
    // SAFETY: May be called wherever sleeping is allowed.
    unsafe {
        bindings::synchronize_rcu_tasks()
    };
}

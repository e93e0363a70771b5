// SPDX-License-Identifier: GPL-2.0

//! Work in the background that can be stopped before the module goes.
//!
//! `kernel::workqueue` has no way to take back a work item, without which a module cannot be
//! unloaded safely while one is queued.
//!
//! C header: [`include/linux/workqueue.h`](srctree/include/linux/workqueue.h)

use kernel::{
    bindings,
    container_of,
    prelude::*,
    static_lock_class,
    sync::Arc,
    time::Jiffies,
    types::Opaque, //
};

/// A job that is done in steps.
pub(crate) trait Background: Send + Sync + 'static {
    /// Does a step. Returns after how long the next one is due, or [`None`] if there is none.
    ///
    /// May sleep. Never runs twice at a time.
    fn step(&self) -> Option<Jiffies>;
}

/// Does a job in the background when it is asked to.
///
/// # Invariants
///
/// `work` is an initialised `struct delayed_work` whose function is [`run::<T>`].
#[pin_data(PinnedDrop)]
pub(crate) struct Worker<T: Background> {
    job: Arc<T>,
    #[pin]
    work: Opaque<bindings::delayed_work>,
}

// SAFETY: A work item may be queued and stopped by any thread, and the job is `Send` and `Sync`.
unsafe impl<T: Background> Send for Worker<T> {}
// SAFETY: As above.
unsafe impl<T: Background> Sync for Worker<T> {}

impl<T: Background> Worker<T> {
    /// A worker that is idle.
    pub(crate) fn new(job: Arc<T>) -> impl PinInit<Self> {
        pin_init!(Self {
            job,
            // INVARIANT: `init()` initialises it.
            work <- Opaque::ffi_init(|slot: *mut bindings::delayed_work| {
                // SAFETY: The slot is pinned and may be written to.
                unsafe { init::<T>(slot) }
            }),
        })
    }

    /// Asks for a step after `delay`. Does nothing where one is due already.
    pub(crate) fn ask(&self, delay: Jiffies) {
        let any_cpu = bindings::wq_misc_consts_WORK_CPU_UNBOUND as c_int;
        // SAFETY: The queue is set up during boot and stays.
        let queue = unsafe { bindings::system_dfl_wq };
        // SAFETY: By the type invariants this is a delayed work.
        unsafe { bindings::queue_delayed_work_on(any_cpu, queue, self.work.get(), delay) };
    }
}

#[pinned_drop]
impl<T: Background> PinnedDrop for Worker<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariants this is a delayed work. When the call returns it is not
        // queued, does not run, and cannot be queued again, by itself neither.
        unsafe { bindings::disable_delayed_work_sync(self.work.get()) };
    }
}

/// `INIT_DELAYED_WORK()`.
///
/// # Safety
///
/// `work` must be valid for writes, stay where it is, and be the field of a [`Worker<T>`].
unsafe fn init<T: Background>(work: *mut bindings::delayed_work) {
    // SAFETY: Only an address is taken, within the memory that `work` points to.
    let item = unsafe { &raw mut (*work).work };
    // SAFETY: `item` is valid for writes by the requirements of this function. The name and the
    // class are static.
    unsafe {
        bindings::init_work_with_key(
            item,
            Some(run::<T>),
            false,
            c"nommu_worker".as_char_ptr(),
            static_lock_class!().as_ptr(),
        )
    };
    // SAFETY: As for `item`.
    let timer = unsafe { &raw mut (*work).timer };
    // SAFETY: The timer is embedded in a delayed work, and only the workqueue code uses it.
    unsafe {
        bindings::timer_init_key(
            timer,
            Some(bindings::delayed_work_timer_fn),
            bindings::TIMER_IRQSAFE,
            c"nommu_worker_timer".as_char_ptr(),
            static_lock_class!().as_ptr(),
        )
    };
}

/// The work function.
///
/// # Safety
///
/// To be called by a workqueue on the work of a [`Worker<T>`], which waits for it when it is
/// dropped.
unsafe extern "C" fn run<T: Background>(item: *mut bindings::work_struct) {
    // SAFETY: The work item is the field of a `delayed_work`.
    let work = unsafe { container_of!(item, bindings::delayed_work, work) };
    let work: *mut Opaque<bindings::delayed_work> = work.cast();
    // SAFETY: That is the field of a `Worker<T>`.
    let worker = unsafe { container_of!(work, Worker<T>, work) };
    // SAFETY: The worker lives until this function has returned.
    let worker = unsafe { &*worker };
    if let Some(delay) = worker.job.step() {
        worker.ask(delay);
    }
}

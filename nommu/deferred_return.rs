// SPDX-License-Identifier: GPL-2.0

//! Brings the run of a closed VMA back to its driver, once nobody can trip over it.
//!
//! `delete_vma()` calls `vm_ops->close` before the region leaves the global tree of `mm/nommu.c`. A
//! run that is reused in between makes the next `mmap` find a region at the same address, which is
//! a `BUG()` in `add_nommu_region()`. So `close` queues a task work: it runs on the way back to
//! user space or at the end of the exit, after the region is gone and before munmap(2) returns.
//!
//! A task work pins the open file, hence the module, until it has run. Its last step is `fput()`.
//! If that drops the last reference, `__fput()` is a task work too and runs after this one has
//! returned. If it does not, somebody else may drop the last one and unload the module while this
//! task is on its way out of `fput()`. So nothing follows that call, which makes it a jump in an
//! optimised build, and on a kernel with `CONFIG_TASKS_RCU` unloading waits for such tasks
//! (`task::wait_for_stragglers`).
//!
//! Where no task work can run (the last reference to the `mm` is dropped by a kernel thread) the
//! mapping waits on the [`Orphans`] of its open file. `release` takes them home: a region holds a
//! reference on its file that is dropped only after the region has left the tree.
//!
//! Locks: [`Orphans`] has a spinlock, a leaf: nothing is taken under it. `close` runs with the
//! `mmap_lock` held and, when `do_mmap()` fails late, with `nommu_region_sem`.
//!
//! C headers: [`include/linux/task_work.h`](srctree/include/linux/task_work.h)

use super::{
    mapping::Mapping,
    misc_device::{
        NommuMiscDevice,
        OpenFile, //
    },
    stack::Stack,
    task_work, //
};
use core::ptr;
use kernel::{
    bindings,
    container_of,
    new_spinlock,
    prelude::*,
    sync::SpinLock,
    types::Opaque, //
};

/// Mappings that no task work could bring back.
#[pin_data]
pub(super) struct Orphans<D: NommuMiscDevice> {
    #[pin]
    waiting: SpinLock<Stack<D>>,
}

impl<D: NommuMiscDevice> Orphans<D> {
    /// None yet.
    pub(super) fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            waiting <- new_spinlock!(Stack::new(), "nommu_orphans"),
        })
    }

    /// Takes all of them. For `release` only: before it, their regions may still be in the tree.
    pub(super) fn take_all(&self) -> Stack<D> {
        core::mem::replace(&mut *self.waiting.lock(), Stack::new())
    }
}

/// Sends a mapping, whose VMA is being closed, back to its driver.
///
/// # Safety
///
/// `file` must be an open file of [`OpenFile<D>`], on which the caller holds a reference.
pub(super) unsafe fn send<D: NommuMiscDevice>(
    mut mapping: KBox<Mapping<D>>,
    file: *mut bindings::file,
) {
    let Some(task) = task_work::current() else {
        // SAFETY: By the requirements of this function.
        return unsafe { wait_for_release(mapping, file) };
    };

    // SAFETY: By the requirements of this function the caller has a reference on `file`.
    mapping.loan.file = unsafe { bindings::get_file(file) };
    let mapping = KBox::into_raw(mapping);
    // SAFETY: `mapping` is a valid box that is owned here.
    let work = unsafe { Opaque::cast_into(&raw const (*mapping).loan.work) };
    // SAFETY: `work` lies in a valid box that is owned here. It has never been queued, or its
    // function has been called since.
    unsafe {
        work.write(bindings::callback_head {
            next: ptr::null_mut(),
            func: Some(arrive::<D>),
        })
    };
    let mode = bindings::task_work_notify_mode_TWA_RESUME;
    // SAFETY: `current` is valid, and `work` stays where it is until `arrive()` is called.
    if unsafe { bindings::task_work_add(task.as_ptr(), work, mode) } != 0 {
        // The task has run its last task work.
        //
        // SAFETY: The work was not queued, so the box is owned here as before.
        let mut mapping = unsafe { KBox::from_raw(mapping) };
        mapping.loan.file = ptr::null_mut();
        // SAFETY: This is the reference taken above, and the caller has another one.
        unsafe { bindings::fput(file) };
        // SAFETY: By the requirements of this function.
        unsafe { wait_for_release(mapping, file) };
    }
}

/// Leaves a mapping to the `release` of its open file.
///
/// # Safety
///
/// As for [`send`].
#[cold]
unsafe fn wait_for_release<D: NommuMiscDevice>(
    mapping: KBox<Mapping<D>>,
    file: *mut bindings::file,
) {
    // SAFETY: By the requirements of this function.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    open_file.orphans.waiting.lock().push(mapping);
}

/// Leaves the mapping to its [`Clearing`](super::deferred_clear::Clearing) if that is not done.
#[cold]
fn not_being_cleared<D: NommuMiscDevice>(mapping: KBox<Mapping<D>>) -> Option<KBox<Mapping<D>>> {
    match mapping.loan.clearing.clone() {
        None => Some(mapping),
        Some(clearing) => clearing.hand_over(mapping),
    }
}

/// The task work: the region is gone, the run is the driver's again.
///
/// # Safety
///
/// To be called by `task_work_run()` on the work of a [`Mapping<D>`] that [`send`] has queued.
unsafe extern "C" fn arrive<D: NommuMiscDevice>(work: *mut bindings::callback_head) {
    let work: *mut Opaque<bindings::callback_head> = work.cast();
    // SAFETY: By the requirements of this function `work` is the field of a `Mapping<D>`.
    let mapping = unsafe { container_of!(work, Mapping<D>, loan.work) };
    // SAFETY: `send()` took it from a `KBox<Mapping<D>>` and left it to this call.
    let mut mapping = unsafe { KBox::from_raw(mapping) };
    if mapping.loan.clearing.is_some() {
        // The caller of mmap may still be about to clear it, and takes it home then.
        match not_being_cleared(mapping) {
            Some(cleared) => mapping = cleared,
            None => return,
        }
    }
    let file = mapping.loan.file;
    mapping.loan.file = ptr::null_mut();

    // SAFETY: `send()` has left a reference on the file with the loan, and by its requirements the
    // file is an `OpenFile<D>`.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    open_file.device().unmapped(mapping);

    // SAFETY: This is the reference that `send()` has taken. The file is not used afterwards.
    unsafe { bindings::fput(file) };
}

// SPDX-License-Identifier: GPL-2.0

//! Clears a long run after `mmap` has let go of `nommu_region_sem`, and before its caller sees it.
//!
//! Every mmap in the system waits for that semaphore, which `do_mmap()` holds around both hooks.
//! Clearing tens of MiB there would stop all of them for as long. So it is left to a task work of
//! the caller: it runs on the way back to user space, with no lock held, and stops when the task is
//! being killed.
//!
//! Meanwhile another thread that shares the memory may unmap the mapping. Then two task works of
//! two tasks are under way: this one, and the one that brings the run back (`deferred_return`).
//! Whoever comes last takes the run home; the `meeting` of [`Clearing`] tells them apart.
//!
//! C headers: [`include/linux/task_work.h`](srctree/include/linux/task_work.h)

use super::{
    mapping::Mapping,
    misc_device::{
        NommuMiscDevice,
        OpenFile, //
    },
    page_run::RawRun,
    task_work, //
};
use core::ptr;
use kernel::{
    bindings,
    container_of,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full,
            Release, //
        },
        Arc, //
    },
    types::Opaque, //
};

/// A run that is being cleared, or was.
///
/// Two own it: the [`Mapping`] of the run, and the task work while it is queued or runs.
///
/// It lives in an [`Arc`], so it stays where it is.
pub(super) struct Clearing<D: NommuMiscDevice> {
    work: Opaque<bindings::callback_head>,
    run: RawRun,
    /// The first page to be cleared.
    first: usize,
    /// The open file, pinned until the task work has run.
    file: *mut bindings::file,
    /// Null while the work is not done and the run not back. Then, whichever comes first: the
    /// mapping, left here by `deferred_return`; or [`done`], left by this work.
    meeting: Atomic<*mut Mapping<D>>,
    /// Whether all has been cleared.
    complete: Atomic<bool>,
}

// SAFETY: The raw pointers are a run that outlives the work, a file with a reference of its own,
// and a box that is handed over as a whole.
unsafe impl<D: NommuMiscDevice> Send for Clearing<D> {}
// SAFETY: As above; all that changes is atomic.
unsafe impl<D: NommuMiscDevice> Sync for Clearing<D> {}

/// Stands in `meeting` for "the work is done".
fn done<D: NommuMiscDevice>() -> *mut Mapping<D> {
    ptr::dangling_mut()
}

impl<D: NommuMiscDevice> Clearing<D> {
    /// Whether all has been cleared.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.load(Acquire)
    }

    /// Leaves `mapping` to the task work if that is not done yet, else returns it.
    pub(super) fn hand_over(&self, mapping: KBox<Mapping<D>>) -> Option<KBox<Mapping<D>>> {
        let mapping = KBox::into_raw(mapping);
        if self.meeting.xchg(mapping, Full).is_null() {
            return None;
        }
        // SAFETY: The task work was here before, so it does not look again, and the box is owned
        // here as before.
        Some(unsafe { KBox::from_raw(mapping) })
    }
}

/// Has the pages of `mapping` from `first` on cleared before the current task returns to user
/// space. Returns what the mapping is to keep, or [`None`], and nothing happens, where that cannot
/// be done.
///
/// # Safety
///
/// `file` must be an open file of [`OpenFile<D>`], on which the caller holds a reference. The run
/// of `mapping` must stay allocated until [`Clearing::hand_over`] has returned it, or the work has.
pub(super) unsafe fn send<D: NommuMiscDevice>(
    mapping: &Mapping<D>,
    first: usize,
    file: *mut bindings::file,
) -> Option<Arc<Clearing<D>>> {
    let task = task_work::current()?;
    let run = mapping.run().raw();
    let clearing = Arc::new(
        Clearing {
            work: Opaque::new(bindings::callback_head {
                next: ptr::null_mut(),
                func: Some(clear::<D>),
            }),
            run,
            first,
            file,
            meeting: Atomic::new(ptr::null_mut()),
            complete: Atomic::new(false),
        },
        GFP_KERNEL | __GFP_NOWARN,
    )
    .ok()?;

    // SAFETY: By the requirements of this function the caller has a reference on `file`.
    unsafe { bindings::get_file(file) };
    let queued = Arc::into_raw(clearing.clone());
    // SAFETY: `queued` is a valid `Clearing<D>`.
    let work = unsafe { Opaque::cast_into(&raw const (*queued).work) };
    let mode = bindings::task_work_notify_mode_TWA_RESUME;
    // SAFETY: `current` is valid, and `work` stays where it is until `clear()` is called.
    if unsafe { bindings::task_work_add(task.as_ptr(), work, mode) } != 0 {
        // SAFETY: The work was not queued, so this is still the reference from above.
        drop(unsafe { Arc::from_raw(queued) });
        // SAFETY: This is the reference taken above, and the caller has another one.
        unsafe { bindings::fput(file) };
        return None;
    }
    Some(clearing)
}

/// The task work: clears, and takes the run home if it has been unmapped meanwhile.
///
/// # Safety
///
/// To be called by `task_work_run()` on the work of a [`Clearing<D>`] that [`send`] has queued.
unsafe extern "C" fn clear<D: NommuMiscDevice>(work: *mut bindings::callback_head) {
    let work: *mut Opaque<bindings::callback_head> = work.cast();
    // SAFETY: By the requirements of this function `work` is the field of a `Clearing<D>`.
    let clearing = unsafe { container_of!(work, Clearing<D>, work) };
    // SAFETY: `send()` has left a reference to this call.
    let clearing = unsafe { Arc::from_raw(clearing.cast_const()) };
    let file = clearing.file;

    // SAFETY: The run stays allocated until this work is done, by the requirements of `send()`.
    let cleared = unsafe { clearing.run.clear_until_killed(clearing.first) };
    if cleared >= clearing.run.pages() {
        clearing.complete.store(true, Release);
    }

    let mapping = clearing.meeting.xchg(done(), Full);
    drop(clearing);
    if !mapping.is_null() {
        // SAFETY: `hand_over()` has left the box there, for this exchange to take it out.
        let mapping = unsafe { KBox::from_raw(mapping) };
        // SAFETY: The file is an `OpenFile<D>`, and `send()` has taken a reference on it.
        unsafe { take_home(mapping, file) };
    }
    // SAFETY: This is the reference that `send()` has taken. The file is not used afterwards.
    unsafe { bindings::fput(file) };
}

/// Does what the task work of `deferred_return` has left to this one.
///
/// # Safety
///
/// `file` must be an open file of [`OpenFile<D>`].
unsafe fn take_home<D: NommuMiscDevice>(mut mapping: KBox<Mapping<D>>, file: *mut bindings::file) {
    let reference = mapping.loan.file;
    mapping.loan.file = ptr::null_mut();
    // SAFETY: By the requirements of this function.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    open_file.device().unmapped(mapping);
    // SAFETY: `deferred_return::send()` has taken this one.
    unsafe { bindings::fput(reference) };
}

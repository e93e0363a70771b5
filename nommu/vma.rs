// SPDX-License-Identifier: GPL-2.0

//! How a VMA gets its page run: from `mmap` to `close`.
//!
//! `mm/nommu.c` calls two hooks for a direct mapping, `get_unmapped_area` and then `mmap`, with
//! `nommu_region_sem` held for write from before the first until after the second. The run waits in
//! a [`Pending`] slot in between; then the VMA owns it.
//!
//! Ownership of a [`Mapping`]: driver -> [`Pending`] -> VMA (`vm_private_data`) ->
//! [`deferred_return`] -> driver.
//!
//! C source: [`mm/nommu.c`](srctree/mm/nommu.c)

use super::{
    compat,
    deferred_clear::{
        self,
        Clearing, //
    },
    deferred_return,
    mapping::{
        MapRequest,
        Mapping, //
    },
    misc_device::{
        NommuMiscDevice,
        OpenFile, //
    }, //
};
use core::{
    cell::UnsafeCell,
    ptr, //
};
use kernel::{
    bindings,
    page::PAGE_SHIFT,
    prelude::*,
    sync::Arc,
    types::Opaque, //
};

/// VMA flags by which `mm/nommu.c` takes a mapping for one that others may share:
/// `is_nommu_shared_mapping()` in `include/linux/mm.h`, and `VM_SHARED`.
const SHARING_FLAGS: bindings::vm_flags_t =
    bindings::VM_SHARED | compat::VM_MAYSHARE | VM_MAYOVERLAY;

const VM_MAYOVERLAY: bindings::vm_flags_t = 1 << bindings::VMA_MAYOVERLAY_BIT;

/// VMA flags of memory that a driver provides, as `remap_pfn_range()` of `mm/nommu.c` sets them.
const DRIVER_FLAGS: bindings::vm_flags_t = 1 << bindings::VMA_IO_BIT
    | 1 << bindings::VMA_PFNMAP_BIT
    | 1 << bindings::VMA_DONTEXPAND_BIT
    | 1 << bindings::VMA_DONTDUMP_BIT;

/// What it takes to get a run back from its VMA.
pub(super) struct Loan<D: NommuMiscDevice> {
    /// The task work of [`deferred_return`].
    pub(super) work: Opaque<bindings::callback_head>,
    /// The open file, pinned while `work` is queued; null at all other times.
    pub(super) file: *mut bindings::file,
    /// The clearing that was left for later.
    pub(super) clearing: Option<Arc<Clearing<D>>>,
}

// SAFETY: `work` and `file` are used by one owner of the run at a time. What `clearing` refers to
// is `Send` and `Sync`.
unsafe impl<D: NommuMiscDevice> Send for Loan<D> {}

impl<D: NommuMiscDevice> Loan<D> {
    /// Not lent.
    pub(super) fn new() -> Self {
        Self {
            work: Opaque::uninit(),
            file: ptr::null_mut(),
            clearing: None,
        }
    }

    /// Whether the clearing that was left for later came to its end, if there was one.
    #[cold]
    pub(super) fn was_cleared(&mut self) -> bool {
        self.clearing
            .take()
            .is_some_and(|clearing| clearing.is_complete())
    }
}

/// The mapping that `get_unmapped_area` has made and `mmap` has not yet taken.
///
/// Both hooks run with `nommu_region_sem` held for write, so one of them at a time.
pub(super) struct Pending<D: NommuMiscDevice>(UnsafeCell<Option<KBox<Mapping<D>>>>);

// SAFETY: The mapping is `Send`, and by the requirements of `replace()` it is reached by one thread
// at a time.
unsafe impl<D: NommuMiscDevice> Sync for Pending<D> {}

impl<D: NommuMiscDevice> Pending<D> {
    /// An empty slot.
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    /// Puts a mapping in, or nothing, and returns what was there before.
    ///
    /// # Safety
    ///
    /// The caller must hold `nommu_region_sem` for write, or the last reference on the file.
    #[inline]
    pub(super) unsafe fn replace(
        &self,
        mapping: Option<KBox<Mapping<D>>>,
    ) -> Option<KBox<Mapping<D>>> {
        // SAFETY: By the requirements of this function nobody else is in it.
        let slot = unsafe { &mut *self.0.get() };
        core::mem::replace(slot, mapping)
    }
}

/// `get_unmapped_area`: asks the driver for a run and answers with its address.
///
/// # Safety
///
/// To be called by `do_mmap()` of `mm/nommu.c` only, on a file of [`OpenFile<D>`], with
/// `nommu_region_sem` held for write.
pub(super) unsafe extern "C" fn get_unmapped_area<D: NommuMiscDevice>(
    file: *mut bindings::file,
    _addr: c_ulong,
    len: c_ulong,
    pgoff: c_ulong,
    flags: c_ulong,
) -> c_ulong {
    // SAFETY: By the requirements of this function the file is open, and is an `OpenFile<D>`.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    let request = MapRequest {
        pages: len >> PAGE_SHIFT,
        pgoff,
        flags: flags as u32,
    };
    match open_file.device().map(&request) {
        Ok(mapping) => {
            let base = mapping.run().base();
            // The slot is empty, since `do_mmap()` calls `mmap` whenever this call succeeds. Should
            // a later kernel give up in between, the run is not lost.
            //
            // SAFETY: By the requirements of this function.
            let stale = unsafe { open_file.pending.replace(Some(mapping)) };
            if let Some(stale) = stale {
                open_file.device().unmapped(stale);
            }
            base
        }
        // `do_mmap()` would make a copy, which others could share.
        Err(err) if err.to_errno() == compat::ENOSYS => ENODEV.to_errno() as c_ulong,
        Err(err) => err.to_errno() as c_ulong,
    }
}

/// `mmap`: gives the pending run to the VMA.
///
/// # Safety
///
/// To be called by `do_mmap()` of `mm/nommu.c` only, on a file of [`OpenFile<D>`] and a VMA that is
/// being set up, with `nommu_region_sem` held for write.
pub(super) unsafe extern "C" fn mmap<D: NommuMiscDevice>(
    file: *mut bindings::file,
    vma: *mut bindings::vm_area_struct,
) -> c_int {
    // SAFETY: By the requirements of this function the file is open, and is an `OpenFile<D>`.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    // SAFETY: The VMA is being set up by the caller, which has set the pointer. The region is new:
    // `do_mmap()` takes one that exists only if its flags say that it may be shared, and then calls
    // `mmap` only if it is no copy. Ours never say so (see below) or are copies
    // (`ask_for_a_copy()`).
    let region = unsafe { (*vma).vm_region };

    // SAFETY: By the requirements of this function.
    let pending = unsafe { open_file.pending.replace(None) };
    let Some(mut mapping) = pending else {
        // SAFETY: Both belong to a mapping that is being set up.
        unsafe { ask_for_a_copy(vma, region) };
        return compat::ENOSYS;
    };

    // SAFETY: The start and the end of a VMA that is being set up do not change meanwhile.
    let span = unsafe { (*vma).__bindgen_anon_1.__bindgen_anon_1 };
    if span.vm_start != mapping.run().base()
        || span.vm_end - span.vm_start != mapping.run().pages() << PAGE_SHIFT
    {
        open_file.device().unmapped(mapping);
        return EINVAL.to_errno();
    }

    // The memory of one mapping must never become that of another, which `do_mmap()` would arrange
    // for every overlapping offset of the same inode. It looks at the flags of the region, not at
    // those of the VMA.
    //
    // SAFETY: The region is new and `nommu_region_sem` is held for write.
    unsafe { (*region).vm_flags &= !SHARING_FLAGS };

    // Nobody may pin the pages: all but the first of a block have no reference count of their own,
    // so that a pin that ends would free one, and the run is used again as soon as its VMA is
    // closed. `get_user_pages()` passes over such a VMA (mm/gup.c).
    //
    // SAFETY: The VMA is being set up, so nobody else looks at its flags.
    unsafe { (*vma).__bindgen_anon_2.vm_flags |= DRIVER_FLAGS };

    if let Some(first) = mapping.clear_from {
        // SAFETY: The file is open, and is an `OpenFile<D>`. From here on the VMA owns the run, and
        // `deferred_return` hands it over before anybody else gets it.
        unsafe { clear_later(&mut mapping, first, file) };
    }

    // SAFETY: The VMA is being set up, so nobody else looks at it. The vtable is static.
    unsafe { (*vma).vm_ops = &VmOps::<D>::TABLE };
    // SAFETY: As above; `close()` takes the pointer back.
    unsafe { (*vma).vm_private_data = KBox::into_raw(mapping).cast() };
    0
}

/// Has the pages from `first` on cleared later, or, where that cannot be, now.
///
/// # Safety
///
/// As for [`deferred_clear::send`].
#[cold]
unsafe fn clear_later<D: NommuMiscDevice>(
    mapping: &mut Mapping<D>,
    first: usize,
    file: *mut bindings::file,
) {
    // SAFETY: By the requirements of this function.
    mapping.loan.clearing = unsafe { deferred_clear::send(mapping, first, file) };
    if mapping.loan.clearing.is_none() {
        let pages = mapping.run().pages();
        mapping.run_mut().clear(first..pages);
        mapping.clear_from = None;
    }
}

/// Prepares the only case in which `mmap` comes without `get_unmapped_area`: a private read-only
/// mapping of a task that is being traced. Its length cannot be known here, so it has to be a copy.
///
/// `do_mmap_private()` warns when `mmap` returns while the VMA does not look like one that may be
/// shared, although it was `do_mmap()` that did not set `VM_MAYOVERLAY` for a traced task. Setting
/// it avoids the warning. The copy inherits the flag and could then be found by others as a region
/// to share; an offset behind everything that can be mapped keeps it out of reach.
///
/// # Safety
///
/// Both pointers must belong to a mapping that is being set up by `do_mmap()`.
unsafe fn ask_for_a_copy(vma: *mut bindings::vm_area_struct, region: *mut bindings::vm_region) {
    // SAFETY: The VMA is being set up, so nobody else looks at its flags.
    unsafe { (*vma).__bindgen_anon_2.vm_flags |= VM_MAYOVERLAY };
    // SAFETY: The region is new and `nommu_region_sem` is held for write. The end of a mapping's
    // offsets does not wrap (`validate_mmap_request()`), so none reaches this one.
    unsafe { (*region).vm_pgoff = c_ulong::MAX };
}

/// The operations of a VMA with a run of `D`.
struct VmOps<D: NommuMiscDevice>(core::marker::PhantomData<D>);

impl<D: NommuMiscDevice> VmOps<D> {
    const TABLE: bindings::vm_operations_struct = bindings::vm_operations_struct {
        close: Some(close::<D>),
        ..pin_init::zeroed()
    };
}

/// `close`: sends the run on its way back. The region is still in the global tree.
///
/// # Safety
///
/// To be called by `vma_close()` on a VMA that [`mmap`] has set up, from process context, once.
unsafe extern "C" fn close<D: NommuMiscDevice>(vma: *mut bindings::vm_area_struct) {
    // SAFETY: By the requirements of this function `mmap()` has set the pointer.
    let private = unsafe { (*vma).vm_private_data };
    // SAFETY: `mmap()` took it from a `KBox<Mapping<D>>`, and this call is the only one to take it
    // back.
    let mapping = unsafe { KBox::<Mapping<D>>::from_raw(private.cast()) };
    // SAFETY: A VMA of a file holds a reference on that file until after `close`.
    let file = unsafe { (*vma).vm_file };
    // SAFETY: The file is open, and is an `OpenFile<D>` because `mmap()` was called for it.
    unsafe { deferred_return::send(mapping, file) };
}

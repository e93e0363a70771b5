// SPDX-License-Identifier: GPL-2.0

//! How VMAs get their page run: from `mmap` to the `close` of the last of them.
//!
//! A direct mapping gets all its pages at once: they are allocated and cleared anyway, so a fault
//! for each of them would only cost. The run is counted by the VMAs that map parts of it. fork(2),
//! a partial munmap(2) or mprotect(2), and mremap(2) make more of them, which `open` tells; when
//! the last one is closed, the run is the driver's again.
//!
//! It may be used again at that moment. munmap, exit and mremap call `close` (`remove_vma()`,
//! `vms_clean_up_area()` in `mm/vma.c`, `exit_mmap()` in `mm/mmap.c`) after they have taken the
//! pages out of the page tables and have flushed the TLBs (`unmap_region()`). Nobody else has a
//! reference: `VM_PFNMAP` keeps `get_user_pages()` away, and the entries of the page tables are
//! special ones, which its fast path passes over.
//!
//! Ownership of a [`Mapping`]: driver -> VMAs (`vm_private_data`) -> driver.
//!
//! C sources: [`mm/vma.c`](srctree/mm/vma.c), [`mm/memory.c`](srctree/mm/memory.c)

use super::{
    compat,
    debugger,
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
    marker::PhantomData,
    ptr, //
};
use kernel::{
    bindings,
    error::to_result,
    mm::virt::{
        VmaNew,
        VmaRef, //
    },
    page::PAGE_SHIFT,
    prelude::*,
    sync::Refcount, //
};

/// How many VMAs map parts of a run. Nobody counts while the driver has it.
pub(super) struct Loan<D: NommuMiscDevice> {
    vmas: Refcount,
    _device: PhantomData<D>,
}

impl<D: NommuMiscDevice> Loan<D> {
    /// Not lent.
    pub(super) fn new() -> Self {
        Self {
            vmas: Refcount::new(0),
            _device: PhantomData,
        }
    }

    /// Whether a clearing that was left for later came to its end. There is none: `mmap` fails if
    /// it has not cleared all.
    #[cold]
    pub(super) fn was_cleared(&mut self) -> bool {
        false
    }
}

impl<D: NommuMiscDevice> Mapping<D> {
    /// Clears what is still to be cleared. Only the caller's own `mmap_lock` is held meanwhile.
    ///
    /// # Errors
    ///
    /// `EINTR`: the task is being killed.
    fn clear_rest(&mut self) -> Result {
        let Some(first) = self.clear_from else {
            return Ok(());
        };
        if self.run_mut().clear_until_killed(first) < self.run().pages() {
            return Err(EINTR);
        }
        self.clear_from = None;
        Ok(())
    }

    /// Makes the page tables of `vma`, which is as long as the run, point to it.
    ///
    /// # Errors
    ///
    /// `ENOMEM`: no memory for page tables. They are empty then.
    fn map_into(&self, vma: &VmaNew) -> Result {
        let vma = vma.as_ptr();
        // SAFETY: The VMA is being set up, so nobody else looks at its protection.
        let protection = unsafe { (*vma).vm_page_prot };
        // SAFETY: As above.
        let start = unsafe { (*vma).__bindgen_anon_1.__bindgen_anon_1.vm_start };
        let size = self.run().pages() << PAGE_SHIFT;
        // SAFETY: The VMA is being set up with `mmap_lock` held for write. The range is all of it,
        // and the frames belong to the run, which by its invariants is as long as `size` says.
        to_result(unsafe {
            bindings::remap_pfn_range(vma, start, self.run().frame(), size, protection)
        })
    }
}

/// `mmap`: gives a run to the VMA, or leaves a private, writable mapping to the core.
pub(super) fn mmap<D: NommuMiscDevice>(open_file: &OpenFile<D>, vma: &VmaNew) -> Result {
    // SAFETY: The VMA is being set up, so nobody changes its offset.
    let pgoff = unsafe { (*vma.as_ptr()).vm_pgoff };
    if vma.flags() & (compat::VM_MAYSHARE | bindings::VM_WRITE) == bindings::VM_WRITE {
        return copy(open_file, vma, pgoff);
    }

    let device = open_file.device();
    let request = MapRequest {
        pages: (vma.end() - vma.start()) >> PAGE_SHIFT,
        pgoff,
        flags: 0,
    };
    let mut mapping = device.map(&request)?;
    let mapped = if mapping.run().pages() == request.pages {
        mapping.clear_rest().and_then(|()| mapping.map_into(vma))
    } else {
        Err(EINVAL)
    };
    if let Err(err) = mapped {
        device.unmapped(mapping);
        return Err(err);
    }

    mapping.loan.vmas.set(1);
    let vma = vma.as_ptr();
    // SAFETY: The VMA is being set up, so nobody else looks at it. The vtable is static.
    unsafe { (*vma).vm_ops = &VmOps::<D>::TABLE };
    // SAFETY: As above; the last `close()` takes the pointer back.
    unsafe { (*vma).vm_private_data = KBox::into_raw(mapping).cast() };
    Ok(())
}

/// Makes a private, writable mapping what it is of `/dev/zero`: anonymous memory, which is the
/// core's, zero, and copied when it is written to after a fork. Nothing is left in it that the
/// driver could allow to stay.
fn copy<D: NommuMiscDevice>(open_file: &OpenFile<D>, vma: &VmaNew, pgoff: usize) -> Result {
    open_file
        .device()
        .copy_may_stay((pgoff << PAGE_SHIFT) as i64)?;
    // SAFETY: The VMA is being set up, so nobody else looks at it. This is `vma_set_anonymous()`.
    unsafe { (*vma.as_ptr()).vm_ops = ptr::null() };
    Ok(())
}

/// The operations of a VMA with a run of `D`, or a part of one.
struct VmOps<D: NommuMiscDevice>(core::marker::PhantomData<D>);

impl<D: NommuMiscDevice> VmOps<D> {
    const TABLE: bindings::vm_operations_struct = bindings::vm_operations_struct {
        open: Some(open::<D>),
        close: Some(close::<D>),
        access: Some(debugger::access::<D>),
        ..pin_init::zeroed()
    };
}

/// The mapping that a VMA shows a part of.
///
/// # Safety
///
/// `vma` must be one that [`mmap`] has set up, or a copy of one, and not closed for all of `'a`.
pub(super) unsafe fn of_vma<'a, D: NommuMiscDevice>(vma: &VmaRef) -> &'a Mapping<D> {
    // SAFETY: By the requirements of this function `mmap()` has set the pointer.
    let private = unsafe { (*vma.as_ptr()).vm_private_data };
    // SAFETY: `mmap()` took it from a `KBox<Mapping<D>>`, which lives until the last VMA that is
    // counted in it has been closed. Until then nobody changes it but for the count.
    unsafe { &*private.cast::<Mapping<D>>() }
}

/// `open`: there is one more VMA.
///
/// # Safety
///
/// To be called by the core on a VMA that is a copy of one that [`mmap`] has set up, once.
unsafe extern "C" fn open<D: NommuMiscDevice>(vma: *mut bindings::vm_area_struct) {
    // SAFETY: The core holds the `mmap_lock` of the VMA.
    let vma = unsafe { VmaRef::from_raw(vma) };
    // SAFETY: By the requirements of this function. The VMA that this is a copy of is still open.
    unsafe { of_vma::<D>(vma) }.loan.vmas.inc();
}

/// `close`: there is one VMA less. After the last one the run is the driver's again.
///
/// # Safety
///
/// To be called by the core on a VMA that [`mmap`] has set up or [`open`] has seen, once, from
/// process context, when no page table and no TLB points to the pages of that VMA any more.
unsafe extern "C" fn close<D: NommuMiscDevice>(vma: *mut bindings::vm_area_struct) {
    // SAFETY: The VMA is being removed by the caller, so nobody else changes it.
    let private = unsafe { (*vma).vm_private_data };
    let mapping: *mut Mapping<D> = private.cast();
    // SAFETY: `mmap()` took it from a `KBox<Mapping<D>>`, and this VMA is still counted in it.
    if !unsafe { (*mapping).loan.vmas.dec_and_test() } {
        return;
    }
    // SAFETY: As above. That was the last VMA, so nobody else has the pointer.
    let mapping = unsafe { KBox::from_raw(mapping) };
    // SAFETY: A VMA of a file holds a reference on that file until after `close`.
    let file = unsafe { (*vma).vm_file };
    // SAFETY: The file is open, and is an `OpenFile<D>` because `mmap()` was called for it.
    let open_file = unsafe { OpenFile::<D>::from_file(file) };
    open_file.device().unmapped(mapping);
}

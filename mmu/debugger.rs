// SPDX-License-Identifier: GPL-2.0

//! How ptrace(2) and `/proc/PID/mem` reach the memory of a mapping.
//!
//! They pin the pages of a VMA to read or write them, which ours do not allow, and then ask
//! `vm_ops->access`. `generic_access_phys()` is of no use: it refuses RAM.
//!
//! C source: [`mm/memory.c`](srctree/mm/memory.c)

use super::{
    misc_device::NommuMiscDevice,
    vma::of_vma, //
};
use core::ptr;
use kernel::{
    bindings,
    mm::virt::VmaRef,
    page::{
        PAGE_SHIFT,
        PAGE_SIZE, //
    },
    prelude::*, //
};

/// `access`: copies up to `len` bytes between `buf` and the memory at `addr`, not beyond the end of
/// a page. Returns how many, or an error.
///
/// # Safety
///
/// To be called by `__access_remote_vm()` on a VMA of [`mmap`](super::vma::mmap) with an `addr` in
/// it, with its `mmap_lock` held for read. `buf` must be valid for `len` bytes.
pub(super) unsafe extern "C" fn access<D: NommuMiscDevice>(
    vma: *mut bindings::vm_area_struct,
    addr: c_ulong,
    buf: *mut c_void,
    len: c_int,
    write: c_int,
) -> c_int {
    let within = addr % PAGE_SIZE;
    let bytes = (PAGE_SIZE - within).min(usize::try_from(len).unwrap_or(0));

    let mut page = bindings::follow_pfnmap_args {
        vma,
        address: addr,
        ..Default::default()
    };
    // SAFETY: The VMA has `VM_PFNMAP` set, the address lies in it, and its `mmap_lock` is held.
    if unsafe { bindings::follow_pfnmap_start(&mut page) } != 0 {
        return EINVAL.to_errno();
    }
    // Where the core keeps it from being written to, it is a copy-on-write page: the copy would
    // have to be made first.
    let allowed = write == 0 || page.writable;
    if allowed {
        // SAFETY: By the requirements of this function.
        let vma = unsafe { VmaRef::from_raw(vma) };
        // SAFETY: The VMA was set up by `mmap()`, and is open.
        let run = unsafe { of_vma::<D>(vma) }.run();
        // A frame of the run, or of a copy that the core has made of one: RAM, like the run, and
        // all RAM is mapped in the kernel one frame after the other.
        let frames = page.pfn.wrapping_sub(run.frame());
        let first: *mut u8 = run.as_ptr().as_ptr();
        let memory = first
            .wrapping_add(frames << PAGE_SHIFT)
            .wrapping_add(within);
        let (from, to): (*const u8, *mut u8) = if write != 0 {
            (buf.cast(), memory)
        } else {
            (memory, buf.cast())
        };
        // SAFETY: `buf` is valid for `len` bytes by the requirements of this function, and
        // `memory` up to the end of its page, which stays where it is until the end of the walk.
        // Others may write to it meanwhile: they are programs, and this is a copy of bytes.
        unsafe { ptr::copy(from, to, bytes) };
    }
    // SAFETY: This is the end of the walk that was begun above.
    unsafe { bindings::follow_pfnmap_end(&mut page) };
    if allowed {
        bytes as c_int
    } else {
        EACCES.to_errno()
    }
}

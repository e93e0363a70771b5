// SPDX-License-Identifier: GPL-2.0

//! An open file of a device that hands out memory, and its operations.
//!
//! `kernel::miscdevice` sets neither `mmap_capabilities` nor `get_unmapped_area`, without which
//! every mapping of a character device is `ENODEV` on nommu. This file adds them, and takes
//! everything else (open, release, read, write, fdinfo) from there.
//!
//! C sources: [`drivers/char/misc.c`](srctree/drivers/char/misc.c),
//! [`mm/nommu.c`](srctree/mm/nommu.c)

use super::{
    deferred_return::Orphans,
    misc_device::{
        NommuMiscDevice,
        Registration, //
    },
    vma::{
        self,
        Pending, //
    }, //
};
use kernel::{
    bindings,
    fs::{
        File,
        Kiocb, //
    },
    iov::{
        IovIterDest,
        IovIterSource, //
    },
    miscdevice::{
        MiscDevice,
        MiscDeviceOptions,
        MiscDeviceRegistration, //
    },
    page::PAGE_SIZE,
    prelude::*,
    seq_file::SeqFile, //
};

/// What every mapping of such a device may be: direct or a copy, read, written and executed.
/// There is no MMU that could forbid any of the last three.
const CAPABILITIES: u32 = bindings::NOMMU_MAP_COPY
    | bindings::NOMMU_MAP_DIRECT
    | NOMMU_MAP_READ
    | NOMMU_MAP_WRITE
    | NOMMU_MAP_EXEC;

// include/linux/fs.h defines these three by the flags of a VMA.
const NOMMU_MAP_READ: u32 = bindings::VM_MAYREAD as u32;
const NOMMU_MAP_WRITE: u32 = bindings::VM_MAYWRITE as u32;
const NOMMU_MAP_EXEC: u32 = bindings::VM_MAYEXEC as u32;

/// An open file: the driver's state, and the mappings that are between two owners.
///
/// The type is private to `nommu/`, and [`Registration`] is the only one that registers a device
/// for it.
#[pin_data]
pub(super) struct OpenFile<D: NommuMiscDevice> {
    #[pin]
    pub(super) orphans: Orphans<D>,
    pub(super) pending: Pending<D>,
    device: D,
}

impl<D: NommuMiscDevice> OpenFile<D> {
    /// The open file behind a `struct file`.
    ///
    /// # Safety
    ///
    /// `file` must be a file of a device of [`Registration<D>`] that is open for all of `'a`.
    pub(super) unsafe fn from_file<'a>(file: *mut bindings::file) -> Pin<&'a Self> {
        // SAFETY: `MiscDevice` sets `private_data` when the file is opened, and it stays as it is.
        let private = unsafe { (*file).private_data };
        // SAFETY: `MiscDevice` has set it to the `into_foreign()` of a `Pin<KBox<OpenFile<D>>>`,
        // which lives until the file is released.
        unsafe { <Pin<KBox<Self>> as kernel::types::ForeignOwnable>::borrow(private) }
    }

    /// The operations of `kernel::miscdevice`, and those that it leaves out.
    pub(super) const OPERATIONS: bindings::file_operations = bindings::file_operations {
        mmap: Some(vma::mmap::<D>),
        get_unmapped_area: Some(vma::get_unmapped_area::<D>),
        mmap_capabilities: Some(mmap_capabilities),
        llseek: Some(bindings::noop_llseek),
        splice_read: Some(bindings::copy_splice_read),
        splice_write: Some(bindings::iter_file_splice_write),
        // SAFETY: `into_raw()` returns the address of a constant table.
        ..unsafe { *Self::OPTIONS.into_raw::<Self>().fops }
    };

    /// Only the operations are taken from these options.
    const OPTIONS: MiscDeviceOptions = MiscDeviceOptions { name: c"" };

    /// The driver's state.
    pub(super) fn device(&self) -> &D {
        &self.device
    }
}

#[vtable]
impl<D: NommuMiscDevice> MiscDevice for OpenFile<D> {
    type Ptr = Pin<KBox<Self>>;

    fn open(file: &File, misc: &MiscDeviceRegistration<Self>) -> Result<Self::Ptr> {
        // SAFETY: `misc_open()` calls this for a device that it was registered with, which by the
        // privacy of `OPERATIONS` was done by `Registration<D>`, and holds `misc_mtx`.
        let device = D::open(unsafe { Registration::<D>::data(misc) }, file)?;
        KBox::pin_init(
            pin_init!(Self {
                orphans <- Orphans::new(),
                pending: Pending::new(),
                device,
            }),
            GFP_KERNEL,
        )
    }

    fn release(open_file: Self::Ptr, _file: &File) {
        let mut waiting = open_file.orphans.take_all();
        // SAFETY: No mapping is being made any more, since that takes a reference on the file. So
        // nobody else is in there, as if `nommu_region_sem` was held.
        if let Some(mapping) = unsafe { open_file.pending.replace(None) } {
            waiting.push(mapping);
        }
        while let Some(mapping) = waiting.pop() {
            open_file.device.unmapped(mapping);
        }
    }

    fn read_iter(kiocb: Kiocb<'_, Self::Ptr>, dest: &mut IovIterDest<'_>) -> Result<usize> {
        let device = &kiocb.file().device;
        if !is_mapping_copy(dest) {
            return device.read_iter(dest);
        }
        // An answer of zero bytes makes the core clear all of it.
        if !device.copy_may_stay(kiocb.ki_pos())? {
            return Ok(0);
        }
        let claimed = dest.len();
        dest.advance(claimed);
        Ok(claimed)
    }

    fn write_iter(kiocb: Kiocb<'_, Self::Ptr>, source: &mut IovIterSource<'_>) -> Result<usize> {
        kiocb.file().device.write_iter(source)
    }

    fn show_fdinfo(open_file: Pin<&Self>, m: &SeqFile, _file: &File) {
        open_file.get_ref().device.show_fdinfo(m);
    }
}

/// `mmap_capabilities`: the same for every file.
extern "C" fn mmap_capabilities(_file: *mut bindings::file) -> c_uint {
    CAPABILITIES
}

/// Whether this is `do_mmap_private()` of `mm/nommu.c`, which reads the contents of a private
/// mapping into pages that it has just allocated.
///
/// It calls `kernel_read()`: one kernel buffer, here of whole pages. read(2), splice(2) and
/// sendfile(2) have iterators of other types. The few others that call `kernel_read()` on a file
/// that user space has given them (9p over a file descriptor) read into the middle of a structure.
fn is_mapping_copy(dest: &mut IovIterDest<'_>) -> bool {
    let iov = dest.as_raw();
    // SAFETY: By the type invariants of `IovIterDest` this is a valid iterator.
    let iter_type = unsafe { (*iov).iter_type };
    if u32::from(iter_type) != bindings::iter_type_ITER_KVEC {
        return false;
    }
    // SAFETY: As above; this member of the union is the one that the kernel itself uses for it.
    let list = unsafe { (*iov).__bindgen_anon_1.__bindgen_anon_1.as_ref() };
    if list.count == 0 {
        return false;
    }
    // SAFETY: An iterator of this type has a list of `kvec`.
    let first = unsafe { list.__bindgen_anon_1.kvec };
    // SAFETY: The list of an iterator that has bytes left has a member.
    let buffer = unsafe { *first };

    buffer.iov_len == list.count
        && list.count % PAGE_SIZE == 0
        && buffer.iov_base.addr() % PAGE_SIZE == 0
}

static_assert!(PAGE_SIZE.is_power_of_two());

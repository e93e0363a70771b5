// SPDX-License-Identifier: GPL-2.0

//! An open file of a device that hands out memory, and its operations.
//!
//! `kernel::miscdevice` has all of them but seeking and splicing, which are added here.
//!
//! C source: [`drivers/char/misc.c`](srctree/drivers/char/misc.c)

use super::{
    misc_device::{
        NommuMiscDevice,
        Registration, //
    },
    vma, //
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
    mm::virt::VmaNew,
    prelude::*,
    seq_file::SeqFile, //
};

/// An open file: the driver's state.
///
/// The type is private to `mmu/`, and [`Registration`] is the only one that registers a device for
/// it.
pub(super) struct OpenFile<D: NommuMiscDevice> {
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
        // SAFETY: `misc_open()` calls this for a device that was registered with `OPERATIONS`,
        // which only `Registration<D>` does. It holds `misc_mtx`, which `misc_deregister()` needs,
        // so the registration stays until this call has returned.
        let data = unsafe { Registration::<D>::data(misc) };
        let device = D::open(data, file)?;
        Ok(KBox::new(Self { device }, GFP_KERNEL)?.into())
    }

    fn mmap(open_file: Pin<&Self>, _file: &File, vma: &VmaNew) -> Result {
        vma::mmap(open_file.get_ref(), vma)
    }

    fn read_iter(kiocb: Kiocb<'_, Self::Ptr>, dest: &mut IovIterDest<'_>) -> Result<usize> {
        kiocb.file().device.read_iter(dest)
    }

    fn write_iter(kiocb: Kiocb<'_, Self::Ptr>, source: &mut IovIterSource<'_>) -> Result<usize> {
        kiocb.file().device.write_iter(source)
    }

    fn show_fdinfo(open_file: Pin<&Self>, m: &SeqFile, _file: &File) {
        open_file.get_ref().device.show_fdinfo(m);
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Misc devices that hand out memory on a kernel without an MMU.
//!
//! `kernel::miscdevice` sets neither `mmap_capabilities` nor `get_unmapped_area`, without which
//! every mapping of a character device is `ENODEV` on nommu. This file adds them, and takes
//! everything else (open, release, read, write, fdinfo) from there.
//!
//! C sources: [`drivers/char/misc.c`](srctree/drivers/char/misc.c),
//! [`mm/nommu.c`](srctree/mm/nommu.c)

use super::{
    compat,
    deferred_return::Orphans,
    mapping::{
        self,
        MapRequest,
        Mapping,
        Pending, //
    },
    task, //
};
use kernel::{
    bindings,
    container_of,
    error::to_result,
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
    prelude::*,
    seq_file::SeqFile,
    types::Opaque, //
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

/// The state of an open file of a device that hands out memory.
pub(crate) trait NommuMiscDevice: Sized + Send + Sync + 'static {
    /// What the device keeps while it is registered.
    type Data: Send + Sync;

    /// What the driver notes on a run while it has it.
    type Tag: Send;

    /// Called when the device is opened.
    fn open(data: &Self::Data, file: &File) -> Result<Self>;

    /// Answers read(2), and fills a private mapping with what is at its offset.
    ///
    /// `pos` is in bytes. [`is_mapping_copy`](super::iov::is_mapping_copy) tells the two apart.
    fn read_iter(&self, pos: i64, dest: &mut IovIterDest<'_>) -> Result<usize>;

    /// Answers write(2).
    fn write_iter(&self, source: &mut IovIterSource<'_>) -> Result<usize>;

    /// Writes the device's lines of `/proc/PID/fdinfo/FD`.
    fn show_fdinfo(&self, m: &SeqFile);

    /// Provides the run for a direct mapping.
    ///
    /// The run must have exactly as many pages as the request, and `ENOSYS` is no answer. Called
    /// with `mmap_lock` and `nommu_region_sem` held for write: every other `mmap` in the system
    /// waits.
    fn map(&self, request: &MapRequest) -> Result<KBox<Mapping<Self>>>;

    /// Takes back the run of a mapping that is gone, or that has come to nothing. Called once for
    /// each that [`Self::map`] has returned; in the second case with the same locks held.
    fn unmapped(&self, mapping: KBox<Mapping<Self>>);
}

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

    /// The driver's state.
    pub(super) fn device(&self) -> &D {
        &self.device
    }
}

// `kernel::miscdevice` casts a `miscdevice` to this type when a file is opened.
static_assert!(
    size_of::<MiscDeviceRegistration<()>>() == size_of::<bindings::miscdevice>()
        && align_of::<MiscDeviceRegistration<()>>() == align_of::<bindings::miscdevice>()
);

#[vtable]
impl<D: NommuMiscDevice> MiscDevice for OpenFile<D> {
    type Ptr = Pin<KBox<Self>>;

    fn open(file: &File, misc: &MiscDeviceRegistration<Self>) -> Result<Self::Ptr> {
        let misc: *mut Opaque<bindings::miscdevice> = misc.as_raw().cast();
        // SAFETY: `misc_open()` has passed on the address with which `misc_register()` was called,
        // and `kernel::miscdevice` has taken it for that of a `MiscDeviceRegistration`, which is
        // nothing but the `miscdevice` (`static_assert!` below). `Registration::new()` is the only
        // one that registers a device with these operations, so this is the field of a
        // `Registration<D>`.
        let registration = unsafe { container_of!(misc, Registration<D>, misc) };
        // SAFETY: `misc_open()` holds `misc_mtx`, which `misc_deregister()` needs; so the
        // registration stays until this call has returned.
        let data = unsafe { &(*registration).data };

        let device = D::open(data, file)?;
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
        kiocb.file().device.read_iter(kiocb.ki_pos(), dest)
    }

    fn write_iter(kiocb: Kiocb<'_, Self::Ptr>, source: &mut IovIterSource<'_>) -> Result<usize> {
        kiocb.file().device.write_iter(source)
    }

    fn show_fdinfo(open_file: Pin<&Self>, m: &SeqFile, _file: &File) {
        open_file.get_ref().device.show_fdinfo(m);
    }
}

/// A registered device that hands out memory.
///
/// # Invariants
///
/// `misc` is registered by `misc_register()` for as long as this value lives.
#[pin_data(PinnedDrop)]
pub(crate) struct Registration<D: NommuMiscDevice> {
    data: D::Data,
    #[pin]
    misc: Opaque<bindings::miscdevice>,
}

// SAFETY: `misc_deregister()` may be called by another thread than `misc_register()`, and the data
// is `Send`.
unsafe impl<D: NommuMiscDevice> Send for Registration<D> {}
// SAFETY: A shared reference gives no access to `misc`, and the data is `Sync`.
unsafe impl<D: NommuMiscDevice> Sync for Registration<D> {}

impl<D: NommuMiscDevice> Registration<D> {
    /// The operations of `kernel::miscdevice`, and those that it leaves out.
    const FOPS: bindings::file_operations = bindings::file_operations {
        mmap: Some(mapping::mmap::<D>),
        get_unmapped_area: Some(mapping::get_unmapped_area::<D>),
        mmap_capabilities: Some(mmap_capabilities),
        llseek: Some(bindings::noop_llseek),
        splice_read: Some(bindings::copy_splice_read),
        splice_write: Some(bindings::iter_file_splice_write),
        // SAFETY: `into_raw()` returns the address of a constant table.
        ..unsafe { *Self::OPTIONS.into_raw::<OpenFile<D>>().fops }
    };

    /// Only the operations are taken from these options.
    const OPTIONS: MiscDeviceOptions = MiscDeviceOptions { name: c"" };

    /// Registers the device `name`, whose node has the permissions `mode`.
    ///
    /// # Errors
    ///
    /// Those of `misc_register()`: `EBUSY` if no minor is left, `ENOMEM`, `EEXIST` if there is such
    /// a device. Nothing stays behind then.
    pub(crate) fn new(name: &'static CStr, mode: u16, data: D::Data) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            data,
            // `open()` may come as soon as this field is there, so it has to be the last one.
            misc <- Opaque::try_ffi_init(move |slot: *mut bindings::miscdevice| {
                let device = bindings::miscdevice {
                    fops: const {
                        &bindings::file_operations {
                            owner: compat::OWNER,
                            ..Self::FOPS
                        }
                    },
                    mode,
                    ..MiscDeviceOptions { name }.into_raw::<OpenFile<D>>()
                };
                // SAFETY: The initialiser may write to its slot.
                unsafe { slot.write(device) };
                // SAFETY: The slot holds a complete `miscdevice`, and is pinned until the
                // destructor has deregistered it.
                // INVARIANT: On success it is registered.
                to_result(unsafe { bindings::misc_register(slot) })
            }),
        })
    }
}

#[pinned_drop]
impl<D: NommuMiscDevice> PinnedDrop for Registration<D> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariants the device is registered.
        unsafe { bindings::misc_deregister(self.misc.get()) };
        task::wait_for_stragglers();
    }
}

/// `mmap_capabilities`: the same for every file.
extern "C" fn mmap_capabilities(_file: *mut bindings::file) -> c_uint {
    CAPABILITIES
}

// SPDX-License-Identifier: GPL-2.0

//! Misc devices that hand out memory: what a driver provides, and its registration.
//!
//! Open, release, read, write and fdinfo are those of `kernel::miscdevice`. It leaves out some file
//! operations that such a device needs; `OpenFile` adds them, each kind of kernel its own.
//!
//! C source: [`drivers/char/misc.c`](srctree/drivers/char/misc.c)

pub(super) use super::open_file::OpenFile;
use super::{
    compat,
    mapping::{
        MapRequest,
        Mapping, //
    },
    task, //
};
use kernel::{
    bindings,
    container_of,
    error::to_result,
    fs::File,
    iov::{
        IovIterDest,
        IovIterSource, //
    },
    miscdevice::{
        MiscDeviceOptions,
        MiscDeviceRegistration, //
    },
    prelude::*,
    seq_file::SeqFile,
    types::Opaque, //
};

/// The state of an open file of a device that hands out memory.
pub(crate) trait NommuMiscDevice: Sized + Send + Sync + 'static {
    /// What the device keeps while it is registered.
    type Data: Send + Sync;

    /// What the driver notes on a run while it has it.
    type Tag: Send;

    /// Called when the device is opened.
    fn open(data: &Self::Data, file: &File) -> Result<Self>;

    /// Answers read(2).
    fn read_iter(&self, dest: &mut IovIterDest<'_>) -> Result<usize>;

    /// Answers write(2).
    fn write_iter(&self, source: &mut IovIterSource<'_>) -> Result<usize>;

    /// Writes the device's lines of `/proc/PID/fdinfo/FD`.
    fn show_fdinfo(&self, m: &SeqFile);

    /// Whether a private, writable mapping, which gets memory of the core's, may show what is in
    /// that memory already. If not, it shows zeros. `pos` is its offset in bytes.
    ///
    /// # Errors
    ///
    /// The mapping fails.
    fn copy_may_stay(&self, pos: i64) -> Result<bool>;

    /// Provides the run for a direct mapping.
    ///
    /// The run must have exactly as many pages as the request, and `ENOSYS` is no answer. Called
    /// with `mmap_lock` held for write and, without an MMU, `nommu_region_sem`, for which every
    /// other `mmap` in the system waits.
    fn map(&self, request: &MapRequest) -> Result<KBox<Mapping<Self>>>;

    /// Takes back the run of a mapping that is gone, or that has come to nothing. Called once for
    /// each that [`Self::map`] has returned; in the second case with the same locks held.
    fn unmapped(&self, mapping: KBox<Mapping<Self>>);
}

// `kernel::miscdevice` casts a `miscdevice` to this type when a file is opened.
static_assert!(
    size_of::<MiscDeviceRegistration<()>>() == size_of::<bindings::miscdevice>()
        && align_of::<MiscDeviceRegistration<()>>() == align_of::<bindings::miscdevice>()
);

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
    /// What the registered device keeps.
    ///
    /// # Safety
    ///
    /// `misc` must be what `kernel::miscdevice` has made of the device of a [`Registration<D>`],
    /// and that must stay registered for all of `'a`.
    pub(super) unsafe fn data<'a>(misc: &'a MiscDeviceRegistration<OpenFile<D>>) -> &'a D::Data {
        let misc: *mut Opaque<bindings::miscdevice> = misc.as_raw().cast();
        // SAFETY: `misc_open()` has passed on the address with which `misc_register()` was called,
        // and `kernel::miscdevice` has taken it for that of a `MiscDeviceRegistration`, which is
        // nothing but the `miscdevice` (`static_assert!` above). By the requirements of this
        // function this is the field of a `Registration<D>`.
        let registration = unsafe { container_of!(misc, Registration<D>, misc) };
        // SAFETY: By the requirements of this function the registration stays.
        unsafe { &(*registration).data }
    }

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
                            ..OpenFile::<D>::OPERATIONS
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

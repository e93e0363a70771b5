// SPDX-License-Identifier: GPL-2.0

//! What differs between the kernels that this source builds for: 7.2 has it in another way than
//! 7.3, or not at all. All of it goes away with 7.2.

use core::borrow::Borrow;
use kernel::bindings;

/// The module that this is a part of, for `owner` in a table of operations: it stays as long as
/// there are open files of it.
///
/// `kernel::miscdevice` of 7.3 does this by itself. With 7.2 a driver could be unloaded under an
/// open file.
#[cfg(MODULE)]
pub(super) const OWNER: *mut bindings::module = {
    use kernel::types::Opaque;

    // Not "expect": whether C would know the type depends on the kernel's configuration.
    #[allow(improper_ctypes)]
    extern "C" {
        static __this_module: Opaque<bindings::module>;
    }
    // Only the address is taken.
    (&raw const __this_module).cast_mut().cast()
};

/// What is built in stays.
#[cfg(not(MODULE))]
pub(super) const OWNER: *mut bindings::module = core::ptr::null_mut();

/// The error number, negative. `kernel::error` of 7.2 has no name for it.
#[cfg(not(CONFIG_MMU))]
pub(super) const ENOSYS: kernel::ffi::c_int = -(bindings::ENOSYS as kernel::ffi::c_int);

/// The VMA flag. The bindings of 7.2 have that of `VM_MAYEXEC` under this name.
pub(super) const VM_MAYSHARE: bindings::vm_flags_t = 1 << bindings::VMA_MAYSHARE_BIT;

/// What `value()` of a module parameter returns: in 7.3 the value, in 7.2 a reference to it.
pub(crate) fn value_of<T: Copy>(value: impl Borrow<T>) -> T {
    *value.borrow()
}

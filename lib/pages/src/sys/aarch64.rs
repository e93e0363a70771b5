// SPDX-License-Identifier: MIT OR Apache-2.0

//! System calls on aarch64.

/// Numbers of system calls.
pub(super) mod number {
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const EXIT_GROUP: usize = 94;
    pub(crate) const FUTEX: usize = 98;
    pub(crate) const KILL: usize = 129;
    pub(crate) const GETPID: usize = 172;
    pub(crate) const SYSINFO: usize = 179;
    pub(crate) const MUNMAP: usize = 215;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const STATX: usize = 291;
}

/// Makes a system call.
///
/// # Safety
///
/// The arguments must be such that the kernel does nothing to memory in use: see the manual page of
/// the call.
#[inline]
pub(super) unsafe fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: By the requirements of this function; the registers are those of the calling
    // convention of the kernel.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") arguments[0] => result,
            in("x1") arguments[1],
            in("x2") arguments[2],
            in("x3") arguments[3],
            in("x4") arguments[4],
            in("x5") arguments[5],
            options(nostack),
        );
    }
    result
}

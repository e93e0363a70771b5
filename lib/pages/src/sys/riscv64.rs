// SPDX-License-Identifier: MIT OR Apache-2.0

//! System calls on riscv64.

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
            "ecall",
            in("a7") number,
            inlateout("a0") arguments[0] => result,
            in("a1") arguments[1],
            in("a2") arguments[2],
            in("a3") arguments[3],
            in("a4") arguments[4],
            in("a5") arguments[5],
            options(nostack),
        );
    }
    result
}

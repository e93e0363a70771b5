// SPDX-License-Identifier: MIT OR Apache-2.0

//! System calls on x86_64.

/// Numbers of system calls.
pub(super) mod number {
    pub(crate) const WRITE: usize = 1;
    pub(crate) const CLOSE: usize = 3;
    pub(crate) const MMAP: usize = 9;
    pub(crate) const MUNMAP: usize = 11;
    pub(crate) const GETPID: usize = 39;
    pub(crate) const KILL: usize = 62;
    pub(crate) const SYSINFO: usize = 99;
    pub(crate) const FUTEX: usize = 202;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const STATX: usize = 332;
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
            "syscall",
            inlateout("rax") number => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

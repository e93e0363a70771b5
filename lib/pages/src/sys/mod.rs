// SPDX-License-Identifier: MIT OR Apache-2.0

//! System calls: the only unsafe code of this crate.
//!
//! Every call is the kernel's own, without a C library in between, so that an allocator can stand
//! on it. Numbers and flags are those of `include/uapi/asm-generic` of Linux, or of the
//! architecture where it differs.

use core::{ffi::CStr, ptr::NonNull};

#[cfg_attr(target_arch = "riscv64", path = "riscv64.rs")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod arch;

use arch::{number, syscall};

const AT_FDCWD: usize = -100_isize as usize;
const AT_EMPTY_PATH: usize = 0x1000;
const STATX_TYPE: usize = 1;
const O_RDWR: usize = 2;
const O_CLOEXEC: usize = 0o2_000_000;
const PROT_READ_WRITE: usize = 3;
const MAP_SHARED: usize = 1;
const MAP_PRIVATE: usize = 2;
const MAP_FIXED: usize = 0x10;
const MAP_ANONYMOUS: usize = 0x20;
const EINVAL: i32 = 22;
const FUTEX_WAIT_PRIVATE: usize = 128;
const FUTEX_WAKE_PRIVATE: usize = 129;
const SIGABRT: usize = 6;

/// The result of a system call: what it returned, or the error number.
fn checked(result: isize) -> Result<usize, i32> {
    match result {
        // The last page of the address space stands for error numbers.
        -4095..=-1 => Err(-result as i32),
        value => Ok(value as usize),
    }
}

/// An open file.
///
/// # Invariants
///
/// The number is that of a file that this value has opened.
#[derive(Debug)]
pub struct Fd(usize);

impl Fd {
    /// Opens a file for reading and writing; it is closed on exec.
    ///
    /// # Errors
    ///
    /// Those of open(2).
    pub fn open(path: &CStr) -> Result<Self, i32> {
        let path = path.as_ptr() as usize;
        // SAFETY: The path is a string that ends in a zero byte and lives during the call.
        let fd = unsafe {
            syscall(
                number::OPENAT,
                [AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0, 0, 0],
            )
        };
        // INVARIANT: It was just opened.
        checked(fd).map(Self)
    }

    /// Which device the file is; 0 if it is none, or if somebody has closed it.
    pub fn device_number(&self) -> u64 {
        // struct statx has 256 bytes; its field for the number of the device is at byte 128.
        let mut statx = [0_u64; 32];
        let at = statx.as_mut_ptr() as usize;
        let empty = c"".as_ptr() as usize;
        let arguments = [self.0, empty, AT_EMPTY_PATH, STATX_TYPE, at, 0];
        // SAFETY: The array is as long as the structure, and the path is a string.
        match checked(unsafe { syscall(number::STATX, arguments) }) {
            Ok(_) => statx[16],
            Err(_) => 0,
        }
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: By the type invariants this value has opened it, and nobody closes it twice.
        unsafe { syscall(number::CLOSE, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// A mapping.
///
/// # Invariants
///
/// `len` bytes from `start` are mapped for reading and writing and belong to this value.
#[derive(Debug)]
pub struct Map {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: Memory may be used by any thread, and the value owns it.
unsafe impl Send for Map {}
// SAFETY: A shared reference only reads.
unsafe impl Sync for Map {}

impl Map {
    /// Maps a file, shared.
    ///
    /// # Errors
    ///
    /// Those of mmap(2).
    pub fn shared(fd: &Fd, len: usize, offset: u64) -> Result<Self, i32> {
        Self::new(len, MAP_SHARED, fd.0, offset as usize)
    }

    /// Maps anonymous memory, private.
    ///
    /// # Errors
    ///
    /// Those of mmap(2).
    pub fn anonymous(len: usize) -> Result<Self, i32> {
        Self::new(len, MAP_PRIVATE | MAP_ANONYMOUS, usize::MAX, 0)
    }

    fn new(len: usize, flags: usize, fd: usize, offset: usize) -> Result<Self, i32> {
        // SAFETY: Without MAP_FIXED the kernel chooses memory that is not in use.
        let start = unsafe { syscall(number::MMAP, [0, len, PROT_READ_WRITE, flags, fd, offset]) };
        let start = checked(start)?;
        let start = NonNull::new(start as *mut u8).ok_or(EINVAL)?;
        // INVARIANT: The kernel has just mapped it for this caller.
        Ok(Self { start, len })
    }

    /// Takes back what [`Map::into_raw`] has given away.
    ///
    /// # Safety
    ///
    /// Both must come from one call of that function, and nothing may use the memory any more.
    pub unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Self {
        // INVARIANT: By the requirements of this function.
        Self { start, len }
    }

    /// Gives the memory away: its address and its length in bytes.
    pub fn into_raw(self) -> (NonNull<u8>, usize) {
        let map = core::mem::ManuallyDrop::new(self);
        (map.start, map.len)
    }

    /// The memory.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: By the type invariants it is mapped and belongs to this value; the kernel has put
        // some value into each byte.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// The memory.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: As in `bytes`, and the reference to this value is exclusive.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        let start = self.start.as_ptr() as usize;
        // SAFETY: By the type invariants the mapping belongs to this value. Whole mappings can
        // always be unmapped.
        unsafe { syscall(number::MUNMAP, [start, self.len, 0, 0, 0, 0]) };
    }
}

/// Whether the kernel has an MMU.
///
/// Without one it refuses every mapping at a fixed address with `EINVAL`
/// (`validate_mmap_request()` in `mm/nommu.c`). With one this address is out of reach: `ENOMEM`.
pub fn has_mmu() -> bool {
    let nowhere = usize::MAX - 0xfff;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    // SAFETY: No user memory is in the last page of the address space.
    let result = unsafe { syscall(number::MMAP, [nowhere, 4096, 0, flags, usize::MAX, 0]) };
    checked(result) != Err(EINVAL)
}

/// Bytes of memory that the kernel has to give, all in all; 0 if it does not say.
pub fn total_memory() -> usize {
    // struct sysinfo: uptime, three load averages, totalram at index 4, ..., mem_unit at byte 104.
    let mut info = [0_u64; 16];
    let at = info.as_mut_ptr() as usize;
    // SAFETY: The array is longer than struct sysinfo of a 64-bit system, which has 112 bytes.
    let result = unsafe { syscall(number::SYSINFO, [at, 0, 0, 0, 0, 0]) };
    match checked(result) {
        Ok(_) => (info[4] as usize).saturating_mul((info[13] as u32).max(1) as usize),
        Err(_) => 0,
    }
}

/// Waits until `word` is no longer `value`, or for no reason.
pub fn futex_wait(word: &core::sync::atomic::AtomicU32, value: u32) {
    let at = word.as_ptr() as usize;
    // SAFETY: The word lives during the call, and there is no time limit to point to.
    unsafe {
        syscall(
            number::FUTEX,
            [at, FUTEX_WAIT_PRIVATE, value as usize, 0, 0, 0],
        )
    };
}

/// Wakes one of those that wait for `word`.
pub fn futex_wake(word: &core::sync::atomic::AtomicU32) {
    let at = word.as_ptr() as usize;
    // SAFETY: The kernel only compares the address.
    unsafe { syscall(number::FUTEX, [at, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0]) };
}

/// Says `line` on standard error and ends the process by `SIGABRT`.
pub fn abort(line: &str) -> ! {
    // SAFETY: The bytes live during the call.
    unsafe {
        syscall(
            number::WRITE,
            [2, line.as_ptr() as usize, line.len(), 0, 0, 0],
        )
    };
    // SAFETY: It has no arguments.
    let pid = unsafe { syscall(number::GETPID, [0; 6]) } as usize;
    // SAFETY: The signal goes to this process.
    unsafe { syscall(number::KILL, [pid, SIGABRT, 0, 0, 0, 0]) };
    // The signal is blocked, or has a handler that returned.
    loop {
        // SAFETY: It ends the process.
        unsafe { syscall(number::EXIT_GROUP, [134, 0, 0, 0, 0, 0]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_an_mmu_and_memory() {
        assert!(has_mmu());
        assert!(total_memory() > 1 << 24);
    }

    #[test]
    fn results_near_zero_are_errors() {
        assert_eq!(checked(-12), Err(12));
        assert_eq!(checked(-4095), Err(4095));
        assert_eq!(checked(0), Ok(0));
        assert!(checked(isize::MIN).is_ok());
    }
}

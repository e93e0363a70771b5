// SPDX-License-Identifier: MIT OR Apache-2.0

//! The malloc family with the C ABI: ISO C, POSIX, and what musl has beside these.
//!
//! Linked before the C library it takes the place of the library's own. The functions do what
//! malloc(3), posix_memalign(3) and malloc_usable_size(3) say; where these leave a choice, what
//! musl does.

use super::{block::Block, pool::MIN_ALIGN, shared::with_heap};
use core::{
    ffi::{c_int, c_void},
    ptr::{null_mut, NonNull},
};
use pages::PAGE_SIZE;

const EINVAL: c_int = 22;
const ENOMEM: c_int = 12;

extern "C" {
    fn __errno_location() -> *mut c_int;
}

fn set_errno(errno: c_int) {
    // SAFETY: The C library has this function, which has no arguments.
    let at = unsafe { __errno_location() };
    // SAFETY: It returned where errno of this thread is.
    unsafe { *at = errno };
}

/// The address of a block; without one, null and `ENOMEM`.
#[inline]
fn raw(block: Option<Block>) -> *mut c_void {
    match block {
        Some(block) => block.into_raw().as_ptr().cast(),
        None => {
            set_errno(ENOMEM);
            null_mut()
        }
    }
}

/// malloc(3).
#[no_mangle]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    raw(with_heap(|heap| heap.allocate(size, MIN_ALIGN)))
}

/// calloc(3).
#[no_mangle]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    raw(count
        .checked_mul(size)
        .and_then(|size| with_heap(|heap| heap.allocate_zeroed(size, MIN_ALIGN))))
}

/// free(3). It leaves errno alone.
///
/// # Safety
///
/// Nothing may use the block any more.
#[no_mangle]
pub unsafe extern "C" fn free(block: *mut c_void) {
    let Some(start) = NonNull::new(block.cast()) else {
        return;
    };
    // SAFETY: By the requirements of this function.
    let block = unsafe { Block::from_raw(start) };
    if let Err(misuse) = with_heap(|heap| heap.free(block)) {
        misuse.abort();
    }
}

/// realloc(3). A size of 0 makes a block of the least size.
///
/// # Safety
///
/// Nothing may use the block any more if the call succeeds.
#[no_mangle]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    let Some(start) = NonNull::new(block.cast()) else {
        return malloc(size);
    };
    // SAFETY: By the requirements of this function.
    let block = unsafe { Block::from_raw(start) };
    match with_heap(|heap| heap.reallocate(block, size, MIN_ALIGN)) {
        Ok(block) => raw(block),
        Err(misuse) => misuse.abort(),
    }
}

/// reallocarray(3).
///
/// # Safety
///
/// As for [`realloc`].
#[no_mangle]
pub unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: By the requirements of this function.
        Some(size) => unsafe { realloc(block, size) },
        None => raw(None),
    }
}

/// aligned_alloc(3).
#[no_mangle]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    if !align.is_power_of_two() {
        set_errno(EINVAL);
        return null_mut();
    }
    raw(with_heap(|heap| heap.allocate(size, align)))
}

/// memalign(3).
#[no_mangle]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    aligned_alloc(align, size)
}

/// valloc(3).
#[no_mangle]
pub extern "C" fn valloc(size: usize) -> *mut c_void {
    aligned_alloc(PAGE_SIZE, size)
}

/// pvalloc(3) of glibc: whole pages.
#[no_mangle]
pub extern "C" fn pvalloc(size: usize) -> *mut c_void {
    match size.max(1).checked_next_multiple_of(PAGE_SIZE) {
        Some(size) => valloc(size),
        None => raw(None),
    }
}

/// posix_memalign(3). It leaves errno alone.
///
/// # Safety
///
/// `to` must be where the address can be written.
#[no_mangle]
pub unsafe extern "C" fn posix_memalign(to: *mut *mut c_void, align: usize, size: usize) -> c_int {
    if !align.is_power_of_two() || align < core::mem::size_of::<usize>() {
        return EINVAL;
    }
    match with_heap(|heap| heap.allocate(size, align)) {
        Some(block) => {
            // SAFETY: By the requirements of this function.
            unsafe { *to = block.into_raw().as_ptr().cast() };
            0
        }
        None => ENOMEM,
    }
}

/// malloc_usable_size(3).
///
/// # Safety
///
/// It must be null or a block.
#[no_mangle]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    let Some(start) = NonNull::new(block.cast()) else {
        return 0;
    };
    // SAFETY: It is only looked at, not given back.
    let block = unsafe { Block::from_raw(start) };
    match with_heap(|heap| heap.usable_size(&block)) {
        Ok(size) => size,
        Err(misuse) => misuse.abort(),
    }
}

/// malloc_trim(3) of glibc: gives back what is kept for the next caller. The argument is ignored.
/// Returns 1 if there was something, else 0.
#[no_mangle]
pub extern "C" fn malloc_trim(_pad: usize) -> c_int {
    with_heap(|heap| heap.trim()).into()
}

/// Nothing here panics; should it, there is no one to tell but the user.
#[cfg(not(test))]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    pages::sys::abort("malloc: the allocator has found itself broken\n")
}

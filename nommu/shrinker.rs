// SPDX-License-Identifier: GPL-2.0

//! Caches that give memory back when the system needs it.
//!
//! C header: [`include/linux/shrinker.h`](srctree/include/linux/shrinker.h)

use core::ptr::NonNull;
use kernel::{
    bindings,
    prelude::*,
    sync::Arc, //
};

/// The answer of `scan_objects` that ends a round: `include/linux/shrinker.h`.
const SHRINK_STOP: c_ulong = c_ulong::MAX;

/// A cache of pages that can be emptied.
///
/// Both calls come from reclaim, hence from inside of memory allocations of any task: they must not
/// allocate, and take only locks under which nothing is allocated.
pub(crate) trait Shrink: Send + Sync + 'static {
    /// Pages that could be given back.
    fn count(&self) -> usize;

    /// Gives back all of them, and returns how many they were.
    ///
    /// Not a part: without an MMU there is no compaction, so that a part of the pages does not make
    /// the block that somebody waits for, and reclaim tries once.
    fn empty(&self) -> usize;
}

/// A registered shrinker of a cache.
///
/// # Invariants
///
/// `shrinker` is registered, and its private data is the pointer to `cache`.
pub(crate) struct Shrinker<T: Shrink> {
    shrinker: NonNull<bindings::shrinker>,
    _cache: Arc<T>,
}

// SAFETY: `shrinker_free()` may be called by any thread, and the cache is `Send` and `Sync`.
unsafe impl<T: Shrink> Send for Shrinker<T> {}
// SAFETY: A shared reference gives access to nothing.
unsafe impl<T: Shrink> Sync for Shrinker<T> {}

impl<T: Shrink> Shrinker<T> {
    /// Lets reclaim ask `cache` for memory until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(name: &CStr, cache: Arc<T>) -> Result<Self> {
        // SAFETY: The format string and its argument are null-terminated.
        let shrinker =
            unsafe { bindings::shrinker_alloc(0, c"%s".as_char_ptr(), name.as_char_ptr()) };
        let shrinker = NonNull::new(shrinker).ok_or(ENOMEM)?;
        let raw = shrinker.as_ptr();
        // SAFETY: The shrinker is not registered yet, so it belongs to this function.
        unsafe { (*raw).count_objects = Some(count::<T>) };
        // SAFETY: As above.
        unsafe { (*raw).scan_objects = Some(scan::<T>) };
        // SAFETY: As above.
        unsafe { (*raw).private_data = Arc::as_ptr(&cache).cast_mut().cast() };
        // The contents cost nothing to make again, so reclaim is to ask at once and for all of it.
        //
        // SAFETY: As above.
        unsafe { (*raw).seeks = 0 };
        // SAFETY: As above.
        unsafe { (*raw).batch = 1 };
        // SAFETY: The shrinker is complete.
        unsafe { bindings::shrinker_register(raw) };
        // INVARIANT: It is registered, and its private data points to `cache`.
        Ok(Self {
            shrinker,
            _cache: cache,
        })
    }
}

impl<T: Shrink> Drop for Shrinker<T> {
    fn drop(&mut self) {
        // SAFETY: By the type invariants it is registered. The call returns after the last
        // callback, and the cache is dropped after it.
        unsafe { bindings::shrinker_free(self.shrinker.as_ptr()) };
    }
}

/// The cache behind a shrinker.
///
/// # Safety
///
/// `shrinker` must be registered by a [`Shrinker<T>`] that lives for all of `'a`.
unsafe fn cache_of<'a, T: Shrink>(shrinker: *mut bindings::shrinker) -> &'a T {
    // SAFETY: By the requirements of this function.
    let cache = unsafe { (*shrinker).private_data };
    // SAFETY: By the invariants of `Shrinker` it points to a `T` that lives as long as it does.
    unsafe { &*cache.cast::<T>() }
}

/// `count_objects`.
///
/// # Safety
///
/// To be called by reclaim on a shrinker of [`Shrinker<T>`].
unsafe extern "C" fn count<T: Shrink>(
    shrinker: *mut bindings::shrinker,
    _control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: `shrinker_free()` waits for this call, so the `Shrinker` lives.
    match unsafe { cache_of::<T>(shrinker) }.count() {
        // Reclaim asks for half of what there is, rounded down (`do_shrink_slab()`).
        1 => 2,
        pages => pages,
    }
}

/// `scan_objects`.
///
/// # Safety
///
/// To be called by reclaim on a shrinker of [`Shrinker<T>`].
unsafe extern "C" fn scan<T: Shrink>(
    shrinker: *mut bindings::shrinker,
    _control: *mut bindings::shrink_control,
) -> c_ulong {
    // SAFETY: `shrinker_free()` waits for this call, so the `Shrinker` lives.
    let freed = unsafe { cache_of::<T>(shrinker) }.empty();
    if freed == 0 {
        return SHRINK_STOP;
    }
    account_reclaimed(freed);
    freed
}

/// `mm_account_reclaimed_pages()`: tells reclaim that these pages are progress.
///
/// Without progress the page allocator gives up at once, and does not look at what was freed.
fn account_reclaimed(pages: usize) {
    // SAFETY: `current` is valid, and the field is its own.
    let state = unsafe { (*bindings::get_current()).reclaim_state };
    // SAFETY: Null, or a variable of a function that is running in this task.
    if let Some(state) = unsafe { state.as_mut() } {
        state.reclaimed += pages;
    }
}

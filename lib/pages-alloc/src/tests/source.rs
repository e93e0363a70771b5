// SPDX-License-Identifier: MIT OR Apache-2.0

//! A source that fills what it gives with garbage, keeps count, and runs out when told.

use crate::{Memory, Source};
use core::ptr::NonNull;
use std::{
    alloc::{alloc, dealloc, Layout},
    cell::Cell,
    rc::Rc,
};

/// What has been taken and not given back.
#[derive(Default)]
pub(super) struct Count {
    pub(super) bytes: Cell<usize>,
    pub(super) pieces: Cell<usize>,
    /// How often something was taken.
    pub(super) taken: Cell<usize>,
    /// What may be taken at most.
    pub(super) limit: Cell<usize>,
}

thread_local! {
    /// The counter of this test.
    static COUNT: Rc<Count> = {
        let count = Count::default();
        count.limit.set(usize::MAX);
        Rc::new(count)
    };
}

pub(super) fn count() -> Rc<Count> {
    COUNT.with(Rc::clone)
}

pub(super) struct Piece {
    start: NonNull<u8>,
    len: usize,
}

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len, pages::PAGE_SIZE).unwrap()
}

impl Memory for Piece {
    fn into_raw(self) -> (NonNull<u8>, usize) {
        let piece = core::mem::ManuallyDrop::new(self);
        (piece.start, piece.len)
    }

    unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Self {
        Self { start, len }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let count = count();
        count.bytes.set(count.bytes.get() - self.len);
        count.pieces.set(count.pieces.get() - 1);
        // SAFETY: `take` has allocated it with this layout.
        unsafe { dealloc(self.start.as_ptr(), layout(self.len)) };
    }
}

pub(super) struct Counting {
    pub(super) may_keep: usize,
}

impl Counting {
    fn take(&mut self, len: usize, value: u8) -> Option<Piece> {
        assert!(len > 0 && len % pages::PAGE_SIZE == 0);
        let count = count();
        if len > count.limit.get() - count.bytes.get().min(count.limit.get()) {
            return None;
        }
        count.bytes.set(count.bytes.get() + len);
        count.pieces.set(count.pieces.get() + 1);
        count.taken.set(count.taken.get() + 1);
        // SAFETY: The length is not 0.
        let start = NonNull::new(unsafe { alloc(layout(len)) }).unwrap();
        // SAFETY: It was just allocated.
        unsafe { start.as_ptr().write_bytes(value, len) };
        Some(Piece { start, len })
    }
}

impl Source for Counting {
    type Memory = Piece;

    fn zeroed(&mut self, len: usize) -> Option<Piece> {
        self.take(len, 0)
    }

    fn uncleared(&mut self, len: usize) -> Option<Piece> {
        self.take(len, 0xa5)
    }

    fn may_keep(&mut self) -> usize {
        self.may_keep
    }
}

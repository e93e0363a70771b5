// SPDX-License-Identifier: GPL-2.0

//! Stacks of mappings, linked through the mappings themselves.
//!
//! Pushing allocates nothing, so it can be done where nothing may fail, and with a spinlock held.

use super::{
    mapping::Mapping,
    misc_device::NommuMiscDevice, //
};
use core::mem::{
    self,
    ManuallyDrop, //
};
use kernel::prelude::*;

/// Where the next mapping is, if there is one.
pub(super) type Link<D> = Option<KBox<Mapping<D>>>;

/// Mappings, the newest on top.
///
/// The link has no destructor of its own: [`Drop`] leaves it empty.
pub(crate) struct Stack<D: NommuMiscDevice> {
    top: ManuallyDrop<Link<D>>,
}

impl<D: NommuMiscDevice> Stack<D> {
    /// An empty stack.
    pub(crate) const fn new() -> Self {
        Self {
            top: ManuallyDrop::new(None),
        }
    }

    /// Whether there is nothing on it.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.top.is_none()
    }

    /// The one on top.
    #[inline]
    pub(crate) fn top(&self) -> Option<&Mapping<D>> {
        self.top.as_deref()
    }

    /// Puts a mapping on top.
    #[inline]
    pub(crate) fn push(&mut self, mut mapping: KBox<Mapping<D>>) {
        let below = self.top.take();
        set(&mut mapping.next, below);
        set(&mut self.top, Some(mapping));
    }

    /// Takes the top one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Link<D> {
        unlink(&mut self.top)
    }

    /// Takes the one with `depth` others above it.
    pub(crate) fn remove(&mut self, depth: usize) -> Link<D> {
        let mut link = &mut *self.top;
        for _ in 0..depth {
            link = &mut link.as_mut()?.next;
        }
        unlink(link)
    }

    /// All of them, from the top down.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping<D>> {
        core::iter::successors(self.top(), |mapping| mapping.next.as_deref())
    }

    /// Drops all of them, one by one: a chain of boxes that drops itself needs a stack frame for
    /// each.
    #[cold]
    fn clear(&mut self) {
        while self.pop().is_some() {}
    }
}

impl<D: NommuMiscDevice> Drop for Stack<D> {
    #[inline]
    fn drop(&mut self) {
        if !self.is_empty() {
            self.clear();
        }
    }
}

/// Takes the mapping that `link` leads to out of its list.
#[inline]
fn unlink<D: NommuMiscDevice>(link: &mut Link<D>) -> Link<D> {
    let mut mapping = link.take()?;
    let below = mapping.next.take();
    set(link, below);
    Some(mapping)
}

/// Sets a link that leads nowhere.
///
/// Without the test the compiler calls the destructor of the old value, which it cannot know to be
/// [`None`].
#[inline]
fn set<D: NommuMiscDevice>(link: &mut Link<D>, value: Link<D>) {
    let old = mem::replace(link, value);
    if old.is_none() {
        mem::forget(old);
    }
}

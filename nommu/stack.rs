// SPDX-License-Identifier: GPL-2.0

//! Stacks of mappings, linked through the mappings themselves.
//!
//! Pushing allocates nothing, so it can be done where nothing may fail, and with a spinlock held.

use super::{
    mapping::Mapping,
    misc_device::NommuMiscDevice, //
};
use kernel::prelude::*;

/// Mappings, the newest on top.
pub(crate) struct Stack<D: NommuMiscDevice> {
    top: Option<KBox<Mapping<D>>>,
}

impl<D: NommuMiscDevice> Stack<D> {
    /// An empty stack.
    pub(crate) const fn new() -> Self {
        Self { top: None }
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
        mapping.next = self.top.take();
        self.top = Some(mapping);
    }

    /// Takes the top one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<KBox<Mapping<D>>> {
        self.remove(0)
    }

    /// Takes the one with `depth` others above it.
    #[inline]
    pub(crate) fn remove(&mut self, depth: usize) -> Option<KBox<Mapping<D>>> {
        let mut link = &mut self.top;
        for _ in 0..depth {
            link = &mut link.as_mut()?.next;
        }
        let mut mapping = link.take()?;
        *link = mapping.next.take();
        Some(mapping)
    }

    /// All of them, from the top down.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping<D>> {
        core::iter::successors(self.top(), |mapping| mapping.next.as_deref())
    }
}

impl<D: NommuMiscDevice> Drop for Stack<D> {
    #[inline]
    fn drop(&mut self) {
        // One by one: a chain of boxes that drops itself needs a stack frame for each.
        while self.pop().is_some() {}
    }
}

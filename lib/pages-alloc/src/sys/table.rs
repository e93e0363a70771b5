// SPDX-License-Identifier: MIT OR Apache-2.0

//! Which mapping belongs to which large block.
//!
//! A hash table with open addressing, in a mapping of its own; at most half of it is in use.

use super::{block::Block, memory::Memory};
use crate::source::Source;
use core::{marker::PhantomData, ptr::NonNull};

/// A large block: where it begins, where its mapping begins, and how long that is.
///
/// All of it is zero where no block is.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    block: usize,
    base: Option<NonNull<u8>>,
    len: usize,
}

const ENTRY: usize = core::mem::size_of::<Entry>();
const SHORTEST: usize = pages::PAGE_SIZE;

/// The mappings of large blocks.
///
/// # Invariants
///
/// - `slots` is null or a mapping of type `M` of `len` bytes that belongs to this value and
///   consists of entries.
/// - The mappings in the entries belong to this value.
/// - `used` entries are not empty: fewer than there are.
pub(crate) struct Table<M: Memory> {
    slots: Option<NonNull<u8>>,
    len: usize,
    used: usize,
    memory: PhantomData<M>,
}

// SAFETY: A table is memory and owns it.
unsafe impl<M: Memory + Send> Send for Table<M> {}

impl<M: Memory> Table<M> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: None,
            len: 0,
            used: 0,
            memory: PhantomData,
        }
    }

    fn entries(&mut self) -> &mut [Entry] {
        match self.slots {
            // SAFETY: By the type invariants.
            Some(slots) => unsafe {
                core::slice::from_raw_parts_mut(slots.cast().as_ptr(), self.len / ENTRY)
            },
            None => &mut [],
        }
    }

    /// Where the search for a block begins.
    fn home(block: usize, slots: usize) -> usize {
        // Blocks begin on pages; the multiplier is 2^64 by the golden ratio.
        let hash = ((block >> 12) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (hash >> 32) as usize % slots
    }

    /// The slot of a block, or the empty one where it would be.
    fn slot(entries: &[Entry], block: usize) -> usize {
        let mut at = Self::home(block, entries.len());
        while entries[at].block != block && entries[at].block != 0 {
            at = (at + 1) % entries.len();
        }
        at
    }

    /// Makes room for one more block; whether it could.
    pub(crate) fn reserve<S: Source<Memory = M>>(&mut self, source: &mut S) -> bool {
        if (self.used + 1) * 2 <= self.len / ENTRY {
            return true;
        }
        let Some(memory) = source.zeroed((self.len * 2).max(SHORTEST)) else {
            return false;
        };
        let (slots, len) = memory.into_raw();
        // INVARIANT: Zeros are empty entries; all others move there below.
        let mut new = Self {
            slots: Some(slots),
            len,
            used: 0,
            memory: PhantomData,
        };
        for entry in self.entries() {
            if entry.block != 0 {
                new.put(*entry);
                *entry = Entry {
                    block: 0,
                    base: None,
                    len: 0,
                };
            }
        }
        self.used = 0;
        *self = new;
        true
    }

    fn put(&mut self, entry: Entry) {
        let entries = self.entries();
        let at = Self::slot(entries, entry.block);
        entries[at] = entry;
        self.used += 1;
    }

    /// Makes a block of a mapping that begins on a page: it begins at the first multiple of
    /// `align`, which must be within the mapping. [`Table::reserve`] has made room.
    pub(crate) fn insert(&mut self, memory: M, align: usize) -> Block {
        let (base, len) = memory.into_raw();
        let padding = (base.as_ptr() as usize).wrapping_neg() & (align - 1);
        // SAFETY: The padding is within the mapping.
        let start = unsafe { base.add(padding) };
        let block = Block::new(start);
        // INVARIANT: The mapping belongs to the table from now on.
        self.put(Entry {
            block: block.addr(),
            base: Some(base),
            len,
        });
        block
    }

    /// The bytes from the beginning of a block to the end of its mapping.
    pub(crate) fn usable_size(&mut self, block: usize) -> Option<usize> {
        let entries = self.entries();
        if entries.is_empty() || block == 0 {
            return None;
        }
        let entry = entries[Self::slot(entries, block)];
        let base = entry.base?.as_ptr() as usize;
        Some(base + entry.len - block)
    }

    /// The mapping of a block, and how long it is.
    pub(crate) fn remove(&mut self, block: &Block) -> Option<(M, usize)> {
        let entries = self.entries();
        if entries.is_empty() {
            return None;
        }
        let mut hole = Self::slot(entries, block.addr());
        let Entry { base, len, .. } = entries[hole];
        let base = base?;
        // What was put behind the hole because there was no room must be found without it.
        let mut at = hole;
        loop {
            at = (at + 1) % entries.len();
            if entries[at].block == 0 {
                break;
            }
            let home = Self::home(entries[at].block, entries.len());
            let from_home = (at + entries.len() - home) % entries.len();
            let from_hole = (at + entries.len() - hole) % entries.len();
            if from_home >= from_hole {
                entries[hole] = entries[at];
                hole = at;
            }
        }
        entries[hole] = Entry {
            block: 0,
            base: None,
            len: 0,
        };
        self.used -= 1;
        // SAFETY: By the type invariants the mapping belongs to the table, which has just forgotten
        // it; by those of `Block` nobody uses it.
        Some((unsafe { M::from_raw(base, len) }, len))
    }
}

impl<M: Memory> Drop for Table<M> {
    fn drop(&mut self) {
        for entry in self.entries() {
            if let Some(base) = entry.base {
                // SAFETY: By the type invariants the mapping belongs to the table.
                drop(unsafe { M::from_raw(base, entry.len) });
            }
        }
        if let Some(slots) = self.slots {
            // SAFETY: As above.
            drop(unsafe { M::from_raw(slots, self.len) });
        }
    }
}

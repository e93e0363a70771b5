// SPDX-License-Identifier: MIT OR Apache-2.0

//! The heap: which block comes from where.

use crate::{
    source::Source,
    sys::{
        bins::{self, Bins},
        block::Block,
        pool::{align_of, len_for, Pool, MIN_ALIGN},
        table::Table,
    },
};
use core::alloc::Layout;
use pages::PAGE_SIZE;

/// The longest block, in bytes and with its alignment, that comes from a pool. Longer ones are a
/// mapping each: what that costs is little beside the use of so much memory, and a part of a page
/// at the end is an eighth at most.
pub const SMALL_MAX: usize = 32 << 10;

/// How many pools there can be.
const POOLS: usize = 64;

/// The shortest pool, in bytes.
const SHORTEST_POOL: usize = 32 << 10;

/// The longest pool that is made for more than one block.
const LONGEST_POOL: usize = 4 << 20;

/// Which part of what may be kept pools without blocks may be.
const SPARE_PART: usize = 16;

/// An address that is not that of a block: it was given back before, or never was one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse;

impl Misuse {
    /// Says so on standard error and ends the process by `SIGABRT`.
    pub fn abort(self) -> ! {
        pages::sys::abort("free: no block begins at this address, or it was freed before\n")
    }
}

/// A heap that takes its memory from `S`.
pub struct Heap<S: Source> {
    source: S,
    /// Small blocks that were freed last.
    bins: Bins,
    table: Table<S::Memory>,
    /// The mapping that was freed last. Whoever frees and allocates in turn gets it back.
    kept: Option<(S::Memory, usize)>,
    pools: [Option<Pool<S::Memory>>; POOLS],
    /// How many pools there are: the first ones.
    count: usize,
    /// Bytes in all of them.
    len_of_pools: usize,
    /// The pool that served last.
    current: usize,
}

impl<S: Source> Heap<S> {
    /// An empty heap. It takes nothing before it is asked.
    pub const fn new(source: S) -> Self {
        Self {
            source,
            bins: Bins::new(),
            table: Table::new(),
            kept: None,
            pools: [const { None }; POOLS],
            count: 0,
            len_of_pools: 0,
            current: 0,
        }
    }

    /// Takes a block of at least `size` bytes of any value. `align` is a power of two.
    #[inline]
    pub fn allocate(&mut self, size: usize, align: usize) -> Option<Block> {
        if size <= SMALL_MAX && align <= MIN_ALIGN {
            if let Some(block) = self.bins.take(size) {
                self.pool_with(block.addr())?.reuse(&block);
                return Some(block);
            }
        }
        self.allocate_new(size, align)
    }

    #[inline(never)]
    fn allocate_new(&mut self, size: usize, align: usize) -> Option<Block> {
        if size > SMALL_MAX || align > PAGE_SIZE {
            return self.allocate_large(size, align, false);
        }
        let layout = Layout::from_size_align(size.max(1), align.max(MIN_ALIGN)).ok()?;
        if let Some(block) = self.allocate_in(self.current, layout) {
            return Some(block);
        }
        self.allocate_elsewhere(layout)
    }

    /// Takes a block of at least `size` bytes, the first `size` of which are zero.
    pub fn allocate_zeroed(&mut self, size: usize, align: usize) -> Option<Block> {
        if size <= SMALL_MAX && align <= PAGE_SIZE {
            let mut block = self.allocate(size, align)?;
            block.clear(size);
            return Some(block);
        }
        self.allocate_large(size, align, true)
    }

    /// Gives a block back.
    ///
    /// # Errors
    ///
    /// [`Misuse`]: it is none. Nothing has happened then.
    #[inline]
    pub fn free(&mut self, block: Block) -> Result<(), Misuse> {
        let Some(pool) = self.pool_with(block.addr()) else {
            return self.free_large(&block);
        };
        if !pool.has_block(block.addr()) {
            return Err(Misuse);
        }
        pool.set_aside(&block);
        let unused = pool.is_unused();
        let len = pool.usable_size(&block);
        if align_of(&block) == MIN_ALIGN && len <= bins::LONGEST {
            self.bins.put(block, len);
            while let Some(block) = self.bins.evict() {
                self.give_back(block);
            }
        } else {
            self.give_back(block);
        }
        if unused && self.len_of_others() > self.source.may_keep() / SPARE_PART {
            self.release_others();
        }
        Ok(())
    }

    /// Gives a small block that was set aside back to its pool.
    #[inline(never)]
    fn give_back(&mut self, block: Block) {
        if let Some(pool) = self.pool_with(block.addr()) {
            pool.free(block);
        }
    }

    /// The bytes that a block has.
    ///
    /// # Errors
    ///
    /// [`Misuse`].
    pub fn usable_size(&mut self, block: &Block) -> Result<usize, Misuse> {
        match self.pool_with(block.addr()) {
            Some(pool) if pool.has_block(block.addr()) => Ok(pool.usable_size(block)),
            Some(_) => Err(Misuse),
            None => self.table.usable_size(block.addr()).ok_or(Misuse),
        }
    }

    /// Makes a block longer or shorter; it may move. [`None`]: there is no memory, and the block is
    /// what and where it was.
    ///
    /// # Errors
    ///
    /// [`Misuse`].
    pub fn reallocate(
        &mut self,
        block: Block,
        size: usize,
        align: usize,
    ) -> Result<Option<Block>, Misuse> {
        let has = self.usable_size(&block)?;
        let mut block = block;
        let mut wanted = size;
        match self.pool_with(block.addr()) {
            Some(pool) if size <= SMALL_MAX && align <= MIN_ALIGN => {
                match pool.reallocate(block, size.max(1)) {
                    Ok(block) => return Ok(Some(block)),
                    Err(same) => block = same,
                }
            }
            Some(_) => {}
            // A mapping cannot become shorter; a new one is worth it only if that saves half.
            None if size <= has && size > has / 2 => return Ok(Some(block)),
            // Who asks for more asks again: an eighth on top bounds what is copied in the end.
            None if size > has => wanted = size.max(has.saturating_add(has / 8)),
            None => {}
        }
        let new = match self.allocate(wanted, align) {
            None if wanted > size => self.allocate(size, align),
            new => new,
        };
        let Some(mut new) = new else {
            // It need not become shorter.
            return Ok((size <= has).then_some(block));
        };
        new.copy_from(&block, size.min(has));
        self.free(block)?;
        Ok(Some(new))
    }

    /// Gives back what is kept for the next caller; whether there was something.
    pub fn trim(&mut self) -> bool {
        let mut found = self.kept.take().is_some();
        self.empty_bins();
        for index in (0..self.count).rev() {
            if self.is_unused(index) {
                self.release(index);
                found = true;
            }
        }
        found
    }

    /// The pool in which an address is.
    #[inline]
    fn pool_with(&mut self, addr: usize) -> Option<&mut Pool<S::Memory>> {
        let has = |pool: &Option<Pool<_>>| pool.as_ref().is_some_and(|pool| pool.has(addr));
        let index = if self.pools.get(self.current).is_some_and(has) {
            self.current
        } else {
            self.pools[..self.count].iter().position(has)?
        };
        self.pools[index].as_mut()
    }

    fn is_unused(&self, index: usize) -> bool {
        self.pools[index].as_ref().is_some_and(Pool::is_unused)
    }

    /// A block from a pool that is not the current one, which becomes the current one.
    #[cold]
    fn allocate_elsewhere(&mut self, layout: Layout) -> Option<Block> {
        if let Some(block) = self.allocate_anywhere(layout) {
            return Some(block);
        }
        // What waits may be what is missing.
        if self.empty_bins() {
            if let Some(block) = self.allocate_anywhere(layout) {
                return Some(block);
            }
        }
        if let Some(index) = self.new_pool(layout) {
            return self.allocate_in(index, layout);
        }
        // There are as many pools as there can be, or there is no run of memory for one.
        self.allocate_large(layout.size(), layout.align(), false)
    }

    fn allocate_anywhere(&mut self, layout: Layout) -> Option<Block> {
        // The newest is the longest.
        (0..self.count)
            .rev()
            .find_map(|index| self.allocate_in(index, layout))
    }

    /// Gives all that waits back to the pools; whether there was something.
    fn empty_bins(&mut self) -> bool {
        let mut found = false;
        while let Some(block) = self.bins.any() {
            self.give_back(block);
            found = true;
        }
        found
    }

    fn allocate_in(&mut self, index: usize, layout: Layout) -> Option<Block> {
        let block = self.pools[index].as_mut()?.allocate(layout)?;
        self.current = index;
        Some(block)
    }

    /// Makes a pool that can serve `layout`: half as long as all others together, so that there are
    /// few; shorter where memory is scarce.
    fn new_pool(&mut self, layout: Layout) -> Option<usize> {
        if self.count == POOLS {
            return None;
        }
        let least = len_for(layout.size(), layout.align()).next_multiple_of(PAGE_SIZE);
        let mut len = (self.len_of_pools / 2)
            .clamp(SHORTEST_POOL, LONGEST_POOL)
            .max(least)
            .next_power_of_two();
        let memory = loop {
            if let Some(memory) = self.source.uncleared(len) {
                break memory;
            }
            if len == least {
                return None;
            }
            len = (len / 2).max(least);
        };
        self.pools[self.count] = Some(Pool::new(memory));
        self.count += 1;
        self.len_of_pools += len;
        self.bins.suit(self.len_of_pools);
        Some(self.count - 1)
    }

    /// Bytes in the pools that are not the current one.
    #[inline]
    fn len_of_others(&self) -> usize {
        let current = self.pools.get(self.current).and_then(Option::as_ref);
        self.len_of_pools - current.map_or(0, Pool::len)
    }

    /// One pool without blocks is kept for the next caller, the current one if it is among them;
    /// so are others as long as they are short together. If they are not, all others go back at
    /// once: who takes and frees again and again would otherwise map and unmap as often.
    #[cold]
    fn release_others(&mut self) {
        let pools = || self.pools[..self.count].iter().flatten();
        let unused: usize = pools().filter(|p| p.is_unused()).map(Pool::len).sum();
        let mut keep = self.current;
        if !self.is_unused(keep) {
            keep = (0..self.count).find(|i| self.is_unused(*i)).unwrap_or(0);
        }
        let kept = self.pools[keep].as_ref().map_or(0, Pool::len);
        if unused.saturating_sub(kept) <= self.source.may_keep() / SPARE_PART {
            return;
        }
        self.empty_bins();
        for index in (0..self.count).rev() {
            if self.is_unused(index) && index != keep {
                self.release(index);
            }
        }
    }

    fn release(&mut self, index: usize) {
        self.count -= 1;
        self.pools.swap(index, self.count);
        if let Some(pool) = self.pools[self.count].take() {
            self.len_of_pools -= pool.len();
            drop(pool.into_memory());
        }
        self.bins.suit(self.len_of_pools);
        if self.current == index {
            self.current = 0;
        } else if self.current == self.count {
            self.current = index;
        }
    }

    fn allocate_large(&mut self, size: usize, align: usize, zeroed: bool) -> Option<Block> {
        // Mappings begin on pages.
        let padding = align.saturating_sub(PAGE_SIZE);
        let len = size
            .max(1)
            .checked_add(padding)?
            .checked_next_multiple_of(PAGE_SIZE)?;
        let room = self.table.reserve(&mut self.source)
            || (self.trim() && self.table.reserve(&mut self.source));
        if !room {
            return None;
        }
        let memory = match self.kept.take() {
            Some((memory, kept)) if kept >= len && kept - len <= len / 8 && !zeroed => memory,
            // A zeroed one of this size is cheaper from the system, which has use for this one.
            Some((_, kept)) if kept == len => self.map(len, zeroed)?,
            other => {
                self.kept = other;
                self.map(len, zeroed)?
            }
        };
        Some(self.table.insert(memory, align.max(1)))
    }

    /// A new mapping; if there is no memory, once more without what is kept.
    fn map(&mut self, len: usize, zeroed: bool) -> Option<S::Memory> {
        let map = |source: &mut S| {
            if zeroed {
                source.zeroed(len)
            } else {
                source.uncleared(len)
            }
        };
        if let Some(memory) = map(&mut self.source) {
            return Some(memory);
        }
        if !self.trim() {
            return None;
        }
        map(&mut self.source)
    }

    #[inline(never)]
    fn free_large(&mut self, block: &Block) -> Result<(), Misuse> {
        let (memory, len) = self.table.remove(block).ok_or(Misuse)?;
        if len <= self.source.may_keep() {
            self.kept = Some((memory, len));
        }
        Ok(())
    }
}

impl<S: Source> Drop for Heap<S> {
    fn drop(&mut self) {
        while self.bins.any().is_some() {}
        for pool in self.pools.iter_mut().filter_map(Option::take) {
            drop(pool.into_memory());
        }
    }
}

// SPDX-License-Identifier: MIT OR Apache-2.0

//! A pool: a mapping that is given out in small blocks.
//!
//! It begins with the records of `rlsf` and with one bit for every 16 bytes of the mapping, which
//! is set where a block begins. The bits tell a block from an address that is none, or is one no
//! more.

use super::{block::Block, memory::Memory};
use core::{alloc::Layout, marker::PhantomData, ptr::NonNull};
use rlsf::{Tlsf, GRANULARITY};

/// Free blocks are sorted by size: 20 powers of two from 32 bytes on, each in 16 steps.
type Records = Tlsf<'static, u32, u16, 20, 16>;

/// The alignment of every block.
pub(crate) const MIN_ALIGN: usize = 16;

/// Bytes for which there is one bit.
const BYTES_A_BIT: usize = 16;
const BITS: usize = usize::BITS as usize;

/// What a pool begins with.
struct Head {
    records: Records,
    /// Blocks in use.
    used: usize,
}

/// Bytes of `Head`, up to where the bits begin.
const HEAD: usize = core::mem::size_of::<Head>().next_multiple_of(GRANULARITY);

/// Bytes of the bits of a pool of `len` bytes.
const fn bits_len(len: usize) -> usize {
    len.div_ceil(BYTES_A_BIT * BITS) * (BITS / 8)
}

/// The length from which on a pool can serve a block of `size` bytes at `align`.
pub(crate) const fn len_for(size: usize, align: usize) -> usize {
    // The search of rlsf rounds up to the next step, which is up to a sixteenth away; there are a
    // header and a padding, and a block of its own that marks the end.
    let block = size + size / 16 + align + 8 * GRANULARITY;
    let sum = HEAD + block + GRANULARITY;
    sum + sum / 64 + GRANULARITY
}

/// A pool.
///
/// # Invariants
///
/// - `base` and `len` are a mapping of type `M` that belongs to this value.
/// - It begins with a `Head`, behind which are the bits, behind which is the memory of `records`.
/// - A bit is set if and only if a block of `records` begins there that is in use. Those that were
///   set aside are not: they belong to the heap.
pub(crate) struct Pool<M: Memory> {
    base: NonNull<u8>,
    len: usize,
    memory: PhantomData<M>,
}

// SAFETY: A pool is memory and owns it.
unsafe impl<M: Memory + Send> Send for Pool<M> {}

impl<M: Memory> Pool<M> {
    /// Makes a pool. The memory is at least [`len_for`] some block, and page-aligned.
    pub(crate) fn new(memory: M) -> Self {
        let (base, len) = memory.into_raw();
        let bits = bits_len(len);
        let head = base.cast::<Head>();
        let empty = Head {
            records: Records::new(),
            used: 0,
        };
        // SAFETY: The mapping is longer than a head, aligned to pages, and belongs to this
        // function.
        unsafe { head.write(empty) };
        // SAFETY: The bits are within the mapping.
        let first_bit = unsafe { base.add(HEAD) };
        // SAFETY: As above.
        unsafe { first_bit.write_bytes(0, bits) };
        let start = (HEAD + bits).next_multiple_of(GRANULARITY);
        // SAFETY: There is room for blocks behind the bits.
        let rest = unsafe { base.add(start) };
        let rest = NonNull::slice_from_raw_parts(rest, len - start);
        // INVARIANT: The head has been written, and no bit is set as there is no block.
        let mut pool = Self {
            base,
            len,
            memory: PhantomData,
        };
        // SAFETY: The rest of the mapping belongs to the records from now on, which are part of it.
        unsafe { pool.head().records.insert_free_block_ptr(rest) };
        pool
    }

    #[inline]
    fn head(&mut self) -> &mut Head {
        // SAFETY: By the type invariants a head is there, and this value owns it.
        unsafe { self.base.cast().as_mut() }
    }

    /// The word of bits in which that of `addr` is, and the bit. The address is in the pool.
    #[inline]
    fn bit(&self, addr: usize) -> (NonNull<usize>, usize) {
        let number = (addr - self.start()) / BYTES_A_BIT;
        // SAFETY: The address is in the pool, so its bit is among the bits.
        let word = unsafe { self.base.add(HEAD).cast::<usize>().add(number / BITS) };
        (word, 1 << (number % BITS))
    }

    #[inline]
    fn start(&self) -> usize {
        self.base.as_ptr() as usize
    }

    /// Bytes in the pool, records and all.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether no block is in use.
    #[inline]
    pub(crate) fn is_unused(&self) -> bool {
        // SAFETY: By the type invariants a head is there, and this value owns it.
        unsafe { self.base.cast::<Head>().as_ref() }.used == 0
    }

    /// Whether this address is in the pool.
    #[inline]
    pub(crate) fn has(&self, addr: usize) -> bool {
        addr.wrapping_sub(self.start()) < self.len
    }

    /// Whether a block in use begins at this address, which is in the pool.
    #[inline]
    pub(crate) fn has_block(&self, addr: usize) -> bool {
        let (word, bit) = self.bit(addr);
        // SAFETY: By the type invariants the bits are there, and this value owns them.
        addr % MIN_ALIGN == 0 && unsafe { word.read() } & bit != 0
    }

    /// Notes that a block begins at this address, or that none does any more.
    #[inline]
    fn set_block(&mut self, addr: usize, begins: bool) {
        let (mut word, bit) = self.bit(addr);
        // SAFETY: As in `has_block`, and the reference to this value is exclusive.
        let word = unsafe { word.as_mut() };
        // INVARIANT: The callers have just taken the block, or are about to give it back.
        if begins {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }

    /// Takes a block of at least `layout.size()` bytes. The alignment is at least [`MIN_ALIGN`].
    #[inline]
    pub(crate) fn allocate(&mut self, layout: Layout) -> Option<Block> {
        let start = self.head().records.allocate(layout)?;
        let block = Block::new(start);
        self.reuse(&block);
        Some(block)
    }

    /// Notes that a block which was in use is waiting to be used again. It stays in one piece.
    #[inline]
    pub(crate) fn set_aside(&mut self, block: &Block) {
        self.set_block(block.addr(), false);
        self.head().used -= 1;
    }

    /// Notes that a new block, or one that was set aside, is in use.
    #[inline]
    pub(crate) fn reuse(&mut self, block: &Block) {
        self.set_block(block.addr(), true);
        self.head().used += 1;
    }

    /// Gives back a block that was set aside.
    pub(crate) fn free(&mut self, block: Block) {
        let records = &mut self.head().records;
        // SAFETY: The block came from `allocate`; for its alignment see `align_of`. By the
        // invariants of `Block` nobody uses it.
        unsafe { records.deallocate(block.start(), align_of(&block)) };
    }

    /// The bytes of a block for which [`Pool::has_block`]: at least what was asked for.
    pub(crate) fn usable_size(&self, block: &Block) -> usize {
        // SAFETY: The block came from `allocate` and is in use.
        unsafe { Records::allocation_usable_size(block.start()) }
    }

    /// Makes a block, for which [`Pool::has_block`], shorter or longer, with its contents, in this
    /// pool. If that cannot be, the block is returned as it was.
    pub(crate) fn reallocate(&mut self, block: Block, size: usize) -> Result<Block, Block> {
        let Ok(layout) = Layout::from_size_align(size, align_of(&block)) else {
            return Err(block);
        };
        // SAFETY: The block came from `allocate`; for its alignment see `align_of`. Whoever has the
        // `Block` owns its contents.
        let moved = unsafe { self.head().records.reallocate(block.start(), layout) };
        let Some(start) = moved else {
            return Err(block);
        };
        self.set_aside(&block);
        let block = Block::new(start);
        self.reuse(&block);
        Ok(block)
    }

    /// The mapping, once more. No block is in use, and none is set aside.
    pub(crate) fn into_memory(self) -> M {
        // SAFETY: By the type invariants; the caller has seen to it that no block is in use.
        unsafe { M::from_raw(self.base, self.len) }
    }
}

/// What `rlsf` has to be told of the alignment of a block: whether it is at least [`GRANULARITY`].
///
/// Where it is less, `rlsf` puts the header of half that size right before the block, so that its
/// address is never a multiple of [`GRANULARITY`] (`tests::alignment_is_seen_in_the_address`).
#[inline]
pub(crate) fn align_of(block: &Block) -> usize {
    if block.addr() % GRANULARITY == 0 {
        GRANULARITY
    } else {
        MIN_ALIGN
    }
}

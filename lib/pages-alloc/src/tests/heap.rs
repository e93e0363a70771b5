// SPDX-License-Identifier: MIT OR Apache-2.0

//! One behaviour each.

use super::{
    memory,
    source::{count, Counting},
};
use crate::{Block, Heap, Misuse, SMALL_MAX};
use core::ptr::NonNull;
use std::vec::Vec;

const MIB: usize = 1 << 20;

fn heap() -> Heap<Counting> {
    Heap::new(Counting { may_keep: 16 * MIB })
}

/// The same block once more, to do with it what must not be done.
fn again(block: &Block) -> Block {
    // SAFETY: The tests give it to the heap only.
    unsafe { Block::from_raw(NonNull::new(block.addr() as *mut u8).unwrap()) }
}

fn bytes(block: &Block, len: usize) -> &'static mut [u8] {
    memory(block.addr(), len)
}

#[test]
fn nothing_is_taken_before_it_is_needed() {
    let heap = heap();
    assert_eq!(count().taken.get(), 0);
    drop(heap);
}

#[test]
fn all_comes_back() {
    let mut heap = heap();
    let mut blocks = Vec::new();
    for size in [
        0,
        1,
        16,
        17,
        1000,
        4096,
        SMALL_MAX,
        SMALL_MAX + 1,
        5 * MIB + 12_345,
    ] {
        for _ in 0..20 {
            blocks.push(heap.allocate(size, 16).unwrap());
        }
    }
    for block in blocks {
        assert_eq!(heap.free(block), Ok(()));
    }
    heap.trim();
    // What is left is the table of mappings.
    assert_eq!(count().pieces.get(), 1);
    drop(heap);
    assert_eq!(count().bytes.get(), 0);
}

#[test]
fn blocks_are_aligned() {
    let mut heap = heap();
    for align in (0..=22).map(|log2| 1_usize << log2) {
        for size in [0, 1, 40, 5000, 40_000, 3 * MIB] {
            let block = heap.allocate(size, align).unwrap();
            assert_eq!(block.addr() % align.max(16), 0, "{size} at {align}");
            assert!(heap.usable_size(&block).unwrap() >= size);
            bytes(&block, size).fill(1);
            heap.free(block).unwrap();
        }
    }
}

// `align_of()` in sys/pool.rs stands on this.
#[test]
fn alignment_is_seen_in_the_address() {
    let mut heap = heap();
    for size in 1..2000 {
        let plain = heap.allocate(size, 16).unwrap();
        assert_eq!(plain.addr() % 32, 16);
        let aligned = heap.allocate(size, 32).unwrap();
        assert_eq!(aligned.addr() % 32, 0);
        if size % 3 == 0 {
            heap.free(plain).unwrap();
            heap.free(aligned).unwrap();
        }
    }
}

#[test]
fn zeroed_blocks_are_zero() {
    let mut heap = heap();
    for size in [1, 100, 4000, SMALL_MAX, SMALL_MAX + 1, MIB] {
        for _ in 0..3 {
            let block = heap.allocate_zeroed(size, 16).unwrap();
            assert!(bytes(&block, size).iter().all(|byte| *byte == 0), "{size}");
            bytes(&block, size).fill(0xff);
            heap.free(block).unwrap();
            let block = heap.allocate(size, 16).unwrap();
            bytes(&block, size).fill(0xee);
            heap.free(block).unwrap();
        }
    }
}

#[test]
fn a_block_is_freed_once() {
    let mut heap = heap();
    for size in [1, 300, 20_000, 40_000, 2 * MIB] {
        let block = heap.allocate(size, 16).unwrap();
        let other = heap.allocate(size, 16).unwrap();
        let twice = again(&block);
        assert_eq!(heap.free(block), Ok(()));
        assert_eq!(heap.usable_size(&twice), Err(Misuse));
        assert_eq!(heap.reallocate(again(&twice), 1, 16), Err(Misuse));
        assert_eq!(heap.free(twice), Err(Misuse));
        heap.free(other).unwrap();
    }
}

#[test]
fn what_is_no_block_is_not_freed() {
    let mut heap = heap();
    let small = heap.allocate(1000, 16).unwrap();
    let large = heap.allocate(MIB, 16).unwrap();
    let local = 0_u64;
    for addr in [
        small.addr() + 16,
        small.addr() + 1,
        small.addr() - 16,
        large.addr() + 4096,
        large.addr() + 1,
        core::ptr::from_ref(&local) as usize,
        16,
        usize::MAX - 15,
    ] {
        // SAFETY: It goes to the heap only, which refuses it.
        let block = unsafe { Block::from_raw(NonNull::new(addr as *mut u8).unwrap()) };
        assert_eq!(heap.free(block), Err(Misuse), "{addr:x}");
    }
    heap.free(small).unwrap();
    heap.free(large).unwrap();
}

#[test]
fn sizes_that_wrap_are_refused() {
    let mut heap = heap();
    for size in [usize::MAX, usize::MAX - 4095, isize::MAX as usize + 1] {
        count().limit.set(64 * MIB);
        assert_eq!(heap.allocate(size, 16), None);
        assert_eq!(heap.allocate_zeroed(size, 1 << 20), None);
    }
    let block = heap.allocate(100, 16).unwrap();
    bytes(&block, 100).fill(3);
    let same = again(&block);
    assert_eq!(heap.reallocate(block, usize::MAX - 100, 16), Ok(None));
    assert!(bytes(&same, 100).iter().all(|byte| *byte == 3));
    heap.free(same).unwrap();
}

#[test]
fn reallocating_keeps_the_contents() {
    let mut heap = heap();
    let sizes = [
        1,
        30,
        2000,
        100,
        SMALL_MAX,
        40_000,
        41_000,
        3 * MIB,
        MIB,
        500,
        70_000,
        10,
    ];
    let mut block = heap.allocate(1, 16).unwrap();
    bytes(&block, 1)[0] = 0;
    let mut had = 1;
    for (round, size) in sizes.into_iter().enumerate() {
        block = heap.reallocate(block, size, 16).unwrap().unwrap();
        let kept = had.min(size);
        assert!(
            bytes(&block, kept).iter().all(|byte| *byte == round as u8),
            "{size}"
        );
        bytes(&block, size).fill(round as u8 + 1);
        had = size;
    }
    heap.free(block).unwrap();
}

#[test]
fn a_large_block_that_was_freed_serves_the_next() {
    let mut heap = heap();
    let block = heap.allocate(4 * MIB, 16).unwrap();
    heap.free(block).unwrap();
    let before = count().taken.get();
    for _ in 0..10 {
        let block = heap.allocate(4 * MIB - 1000, 16).unwrap();
        heap.free(block).unwrap();
    }
    assert_eq!(count().taken.get(), before);
    // But not one that is much shorter, and only one waits.
    let short = heap.allocate(MIB, 16).unwrap();
    assert_eq!(count().taken.get(), before + 1);
    heap.free(short).unwrap();
    assert!(count().bytes.get() < 2 * MIB);
}

#[test]
fn what_waits_is_given_up_before_memory_runs_out() {
    let mut heap = heap();
    count().limit.set(8 * MIB);
    let block = heap.allocate(5 * MIB, 16).unwrap();
    heap.free(block).unwrap();
    let block = heap.allocate(7 * MIB, 16).unwrap();
    heap.free(block).unwrap();
    let blocks: Vec<_> = (0..2000).map(|_| heap.allocate(3000, 16)).collect();
    assert!(blocks.iter().all(Option::is_some));
    for block in blocks.into_iter().flatten() {
        heap.free(block).unwrap();
    }
    let block = heap.allocate(7 * MIB, 16).unwrap();
    heap.free(block).unwrap();
}

#[test]
fn pools_that_are_unused_go_back() {
    let mut heap = Heap::new(Counting { may_keep: 0 });
    let blocks: Vec<_> = (0..10_000)
        .map(|_| heap.allocate(1000, 16).unwrap())
        .collect();
    assert!(count().bytes.get() > 10 * MIB);
    for block in blocks {
        heap.free(block).unwrap();
    }
    // One may be kept.
    assert!(count().pieces.get() <= 1);
    assert!(count().bytes.get() <= 4 * MIB);
}

#[test]
fn few_bytes_in_unused_pools_wait_for_the_next() {
    let mut heap = heap();
    let mut taken = Vec::new();
    for count_of_blocks in [200, 200, 200, 10_000, 10_000] {
        let before = count().taken.get();
        let blocks: Vec<_> = (0..count_of_blocks)
            .map(|_| heap.allocate(1000, 16).unwrap())
            .collect();
        for block in blocks {
            heap.free(block).unwrap();
        }
        // A sixteenth of what may be kept, and one more pool.
        assert!(count().bytes.get() <= 5 * MIB);
        taken.push(count().taken.get() - before);
    }
    assert_eq!(taken[1..3], [0, 0]);
    heap.trim();
    assert_eq!(count().bytes.get(), 0);
}

#[test]
fn what_waits_serves_other_sizes_before_more_is_taken() {
    let fill = |heap: &mut Heap<Counting>, blocks: usize| -> Vec<Block> {
        (0..blocks)
            .map(|_| heap.allocate(1000, 16).unwrap())
            .collect()
    };
    // How many blocks there are when six pools are full.
    let mut heap = heap();
    let mut full = 0;
    let before = count().taken.get();
    while count().taken.get() - before < 7 {
        fill(&mut heap, 1);
        full += 1;
    }
    drop(heap);

    let mut heap = self::heap();
    let mut blocks = fill(&mut heap, full - 1);
    let before = count().taken.get();
    for block in blocks.drain(40..80) {
        heap.free(block).unwrap();
    }
    for _ in 0..10 {
        blocks.push(heap.allocate(3000, 16).unwrap());
    }
    assert_eq!(count().taken.get(), before);
    for block in blocks {
        heap.free(block).unwrap();
    }
}

// Else what was mapped for a block would not serve it.
#[test]
fn a_first_pool_serves_what_it_was_made_for() {
    for align in (4..=12).map(|log2| 1_usize << log2) {
        for size in (0..=SMALL_MAX).step_by(61).chain([SMALL_MAX]) {
            let mut heap = heap();
            assert!(heap.allocate(size, align).is_some(), "{size} at {align}");
            // No table of mappings beside it.
            assert_eq!(count().pieces.get(), 1, "{size} at {align}");
        }
    }
}

#[test]
fn memory_that_runs_out_is_no_memory() {
    let mut heap = heap();
    count().limit.set(MIB);
    let mut blocks = Vec::new();
    while let Some(block) = heap.allocate(500, 16) {
        blocks.push(block);
    }
    let got: usize = blocks.len() * 500;
    assert!(got > MIB * 8 / 10, "{got}");
    assert_eq!(heap.allocate(MIB, 16), None);
    for block in blocks {
        heap.free(block).unwrap();
    }
    assert!(heap.allocate(500, 16).is_some());
}

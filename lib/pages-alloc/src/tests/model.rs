// SPDX-License-Identifier: MIT OR Apache-2.0

//! Random calls against a model: blocks never overlap and keep what was written.

use super::{
    memory,
    source::{count, Counting},
};
use crate::{Block, Heap};
use proptest::prelude::*;
use std::vec::Vec;

#[derive(Clone, Debug)]
enum Call {
    Allocate {
        size: usize,
        align: usize,
        zeroed: bool,
    },
    Free(usize),
    Reallocate(usize, usize),
    Trim,
    Limit(usize),
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0_usize..200,
        3 => 0_usize..5000,
        2 => 0_usize..70_000,
        1 => 0_usize..300_000,
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let align = prop_oneof![8 => Just(4_u32), 2 => 0_u32..14];
    prop_oneof![
        8 => (size(), align, any::<bool>()).prop_map(|(size, align, zeroed)| Call::Allocate {
            size,
            align: 1 << align,
            zeroed
        }),
        6 => any::<usize>().prop_map(Call::Free),
        3 => (any::<usize>(), size()).prop_map(|(which, size)| Call::Reallocate(which, size)),
        1 => Just(Call::Trim),
        1 => (0_usize..4_000_000).prop_map(Call::Limit),
    ]
}

/// A block in use, what it was asked to be, and the stamp it bears.
struct Used {
    block: Block,
    size: usize,
    stamp: u8,
}

impl Used {
    fn check(&self, len: usize) {
        let stamped = memory(self.block.addr(), len);
        assert!(stamped.iter().all(|byte| *byte == self.stamp));
    }

    fn stamp(&mut self, stamp: u8) {
        self.stamp = stamp;
        memory(self.block.addr(), self.size).fill(stamp);
    }
}

fn run(calls: Vec<Call>, may_keep: usize) {
    let mut heap = Heap::new(Counting { may_keep });
    let mut used: Vec<Used> = Vec::new();
    count().limit.set(usize::MAX);
    for (number, call) in calls.into_iter().enumerate() {
        let stamp = number as u8 | 1;
        match call {
            Call::Allocate {
                size,
                align,
                zeroed,
            } => {
                let block = if zeroed {
                    heap.allocate_zeroed(size, align)
                } else {
                    heap.allocate(size, align)
                };
                let Some(block) = block else { continue };
                assert_eq!(block.addr() % align, 0);
                let usable = heap.usable_size(&block).unwrap();
                assert!(usable >= size);
                for other in &used {
                    let (a, b) = (block.addr(), other.block.addr());
                    assert!(a + size <= b || b + other.size <= a);
                }
                if zeroed {
                    assert!(memory(block.addr(), size).iter().all(|byte| *byte == 0));
                }
                let mut new = Used { block, size, stamp };
                new.stamp(stamp);
                used.push(new);
            }
            Call::Free(which) if !used.is_empty() => {
                let one = used.swap_remove(which % used.len());
                one.check(one.size);
                heap.free(one.block).unwrap();
            }
            Call::Reallocate(which, size) if !used.is_empty() => {
                let one = used.swap_remove(which % used.len());
                let same = core::ptr::NonNull::new(one.block.addr() as *mut u8).unwrap();
                let mut one = one;
                // SAFETY: The old value is not used any more.
                let old = core::mem::replace(&mut one.block, unsafe { Block::from_raw(same) });
                if let Some(block) = heap.reallocate(old, size, 16).unwrap() {
                    one.block = block;
                    one.check(one.size.min(size));
                    one.size = size;
                    one.stamp(stamp);
                }
                used.push(one);
            }
            Call::Trim => {
                heap.trim();
            }
            Call::Limit(limit) => count().limit.set(limit),
            _ => {}
        }
    }
    for one in &used {
        one.check(one.size);
    }
    for one in used {
        heap.free(one.block).unwrap();
    }
    heap.trim();
    assert!(count().pieces.get() <= 1);
    drop(heap);
    assert_eq!(count().bytes.get(), 0);
}

proptest! {
    // The file of failed cases would be written beside the sources.
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn blocks_keep_their_contents(
        calls in prop::collection::vec(call(), 1..400),
        may_keep in prop_oneof![Just(0), Just(1 << 20)],
    ) {
        run(calls, may_keep);
    }
}

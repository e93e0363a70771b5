// SPDX-License-Identifier: MIT OR Apache-2.0

//! An ordinary Rust program, whose memory comes from `/dev/pages`.
//!
//! It makes a text of some mebibytes, counts its words, and prints the most frequent ones. The one
//! line that is about memory is the global allocator.
//!
//! Before `main` the runtime of `std` sets up a guard page for the stack, which needs an MMU. So
//! this `main` is the one that the C library calls, and the runtime stays out; all else of `std` is
//! there.

#![no_main]

use pages_alloc::PagesAlloc;
use std::collections::HashMap;

#[global_allocator]
static ALLOCATOR: PagesAlloc = PagesAlloc;

const WORDS: [&str; 8] = [
    "page", "frame", "run", "order", "region", "mapping", "zero", "map",
];

/// A text of `count` words, always the same one.
fn text(count: usize) -> String {
    let mut text = String::new();
    let mut state = 1_u32;
    for _ in 0..count {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        // Two numbers below eight: small words are more frequent than large ones.
        let word = (state >> 16 & 7).min(state >> 20 & 7);
        text.push_str(WORDS[word as usize]);
        text.push(' ');
    }
    text
}

#[no_mangle]
extern "C" fn main() -> i32 {
    let text = text(1_000_000);
    let mut count = HashMap::new();
    for word in text.split_whitespace() {
        *count.entry(word).or_insert(0_u32) += 1;
    }
    let mut sorted: Vec<_> = count.into_iter().collect();
    sorted.sort_by_key(|(word, times)| (std::cmp::Reverse(*times), *word));
    println!("{} bytes of text", text.len());
    for (word, times) in sorted {
        println!("{times:7} {word}");
    }
    0
}

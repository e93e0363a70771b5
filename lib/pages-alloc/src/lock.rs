// SPDX-License-Identifier: MIT OR Apache-2.0

//! A lock that needs no C library.
//!
//! The word is 0 when free, 1 when taken, 2 when taken and somebody may wait: the third mutex of
//! Ulrich Drepper's "Futexes Are Tricky".

use core::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};
use pages::sys::{futex_wait, futex_wake};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
const CONTENDED: u32 = 2;

/// How often a free word is looked for before the kernel is asked to wait.
const SPINS: usize = 100;

/// A lock without contents.
pub(crate) struct Lock {
    word: AtomicU32,
}

impl Lock {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU32::new(FREE),
        }
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if self
            .word
            .compare_exchange(FREE, TAKEN, Acquire, Relaxed)
            .is_err()
        {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..SPINS {
            if self.word.load(Relaxed) == FREE {
                break;
            }
            core::hint::spin_loop();
        }
        while self.word.swap(CONTENDED, Acquire) != FREE {
            futex_wait(&self.word, CONTENDED);
        }
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        if self.word.swap(FREE, Release) == CONTENDED {
            futex_wake(&self.word);
        }
    }
}

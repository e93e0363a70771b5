// SPDX-License-Identifier: GPL-2.0

//! Clearing in the background, so that a zeroed mapping finds zeros.
//!
//! When nothing has been mapped for a while, the runs that wait and are not zero are cleared, a
//! step at a time. A run that is being cleared is out of the cache for that step only; how far it
//! has come is noted on it. The share of a CPU that this takes is bounded by the time that a turn
//! may last and the pause after it.

use super::{
    contents::Contents,
    engine::Engine,
    open_file::OpenFile, //
};
use crate::memory::{
    mapping::Mapping,
    page_run::CLEAR_STEP,
    task,
    worker::Background, //
};
use kernel::time::{
    msecs_to_jiffies,
    Delta,
    Instant,
    Jiffies,
    Monotonic, //
};

/// Milliseconds without a new mapping after which clearing begins.
const IDLE_MS: u32 = 20;

/// Microseconds that a turn may last.
const TURN_US: i64 = 500;

/// Jiffies between two turns.
const PAUSE: Jiffies = 1;

/// How long the worker waits before it looks for the first time.
pub(crate) fn idle_time() -> Jiffies {
    msecs_to_jiffies(IDLE_MS)
}

impl Background for Engine {
    fn step(&self) -> Option<Jiffies> {
        let turn = Instant::<Monotonic>::now();
        loop {
            let mut pool = self.pool.lock();
            if pool.counters.made != pool.seen_by_worker {
                pool.seen_by_worker = pool.counters.made;
                return Some(idle_time());
            }
            let dirty = pool.cache.take_dirty();
            let Some(mut mapping) = dirty.or_else(|| pool.reserve_cache.take_dirty()) else {
                pool.worker_asked = false;
                return None;
            };
            pool.cleaning = mapping.run().pages();
            drop(pool);

            let cleared = clear_step(&mut mapping);
            let mut pool = self.pool.lock();
            pool.counters.cleared += cleared as u64;
            pool.cleaning = 0;
            let evicted = pool.put(mapping);
            drop(pool);
            drop(evicted);

            task::cond_resched();
            if turn.elapsed() > Delta::from_micros(TURN_US) {
                return Some(PAUSE);
            }
        }
    }
}

/// Clears the next step of a run, and returns how many pages these were.
fn clear_step(mapping: &mut Mapping<OpenFile>) -> usize {
    let start = mapping.tag().cleared;
    let pages = mapping.run().pages();
    let end = pages.min(start + CLEAR_STEP);
    mapping.run_mut().clear(start..end);
    if end == pages {
        mapping.tag_mut().set(Contents::Zeros);
    } else {
        mapping.tag_mut().cleared = end;
    }
    end - start
}

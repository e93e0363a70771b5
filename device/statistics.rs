// SPDX-License-Identifier: GPL-2.0

//! The figures in debugfs, `/sys/kernel/debug/pages/`: one value a file, in bytes unless it is a
//! number of something.

use super::{
    engine::Engine,
    pool::Pool, //
};
use kernel::{
    debugfs::Scope,
    fmt,
    page::PAGE_SHIFT,
    prelude::*,
    sync::Arc, //
};

/// What has happened since the module was loaded. Pages, unless said otherwise.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counters {
    /// Mappings made, as a number.
    pub(crate) made: u64,
    /// Cleared, for a mapping or in the background.
    pub(crate) cleared: u64,
    /// Given to mappings that opted out, with the contents they had.
    pub(crate) uncleared: u64,
    /// Given to mappings out of a cache.
    pub(crate) recycled: u64,
    /// Mappings refused for want of memory, or given up because of a fatal signal, as a number.
    pub(crate) failures: u64,
    /// The most that was mapped at a time.
    pub(crate) peak: usize,
}

/// Everything that is shown, as of one moment.
pub(crate) struct Snapshot {
    pub(crate) counters: Counters,
    pub(crate) mappings: usize,
    pub(crate) mapped: usize,
    pub(crate) cached_clean: usize,
    pub(crate) cached_dirty: usize,
    pub(crate) reserve: usize,
    pub(crate) reserve_free: usize,
}

impl Snapshot {
    /// Reads the figures of `pool`; the reserve has `reserve` pages.
    pub(crate) fn new(pool: &Pool, reserve: usize) -> Self {
        let usage = pool.total.usage();
        Self {
            counters: pool.counters,
            mappings: usage.mappings,
            mapped: usage.pages,
            cached_clean: pool.clean_pages(),
            cached_dirty: pool.dirty_pages(),
            reserve,
            reserve_free: reserve - pool.total.reserved_pages(),
        }
    }
}

/// Writes pages as bytes.
fn bytes(f: &mut fmt::Formatter<'_>, pages: u64) -> fmt::Result {
    writeln!(f, "{}", pages << PAGE_SHIFT)
}

/// Makes the files. They are removed when the returned scope is dropped.
pub(crate) fn show(engine: Arc<Engine>) -> impl PinInit<Scope<Arc<Engine>>> {
    Scope::dir(engine, c"pages", |engine, dir| {
        macro_rules! files {
            ($($name:literal: |$now:ident, $f:ident| $write:expr;)*) => {$(
                dir.read_callback_file(
                    $name,
                    engine,
                    &|engine: &Arc<Engine>, $f: &mut fmt::Formatter<'_>| {
                        let $now = engine.snapshot();
                        $write
                    },
                );
            )*};
        }
        files! {
            c"mappings": |now, f| writeln!(f, "{}", now.mappings);
            c"mapped_bytes": |now, f| bytes(f, now.mapped as u64);
            c"peak_bytes": |now, f| bytes(f, now.counters.peak as u64);
            c"cached_clean_bytes": |now, f| bytes(f, now.cached_clean as u64);
            c"cached_dirty_bytes": |now, f| bytes(f, now.cached_dirty as u64);
            c"reserve_bytes": |now, f| bytes(f, now.reserve as u64);
            c"reserve_free_bytes": |now, f| bytes(f, now.reserve_free as u64);
            c"cleared_bytes": |now, f| bytes(f, now.counters.cleared);
            c"uncleared_bytes": |now, f| bytes(f, now.counters.uncleared);
            c"recycled_bytes": |now, f| bytes(f, now.counters.recycled);
            c"failures": |now, f| writeln!(f, "{}", now.counters.failures);
        }
    })
}

// SPDX-License-Identifier: GPL-2.0

//! What the lock of the engine guards: the cache and the accounts.

use super::{
    account::Total,
    cache::Cache,
    open_file::OpenFile,
    parameters::Parameters, //
};

/// The shared state of the device.
pub(crate) struct Pool {
    /// Runs that wait to be used again.
    pub(crate) cache: Cache<OpenFile>,
    /// What is mapped.
    pub(crate) total: Total,
}

impl Pool {
    /// An empty pool with the limits of `parameters`.
    pub(crate) fn new(parameters: &Parameters) -> Self {
        Self {
            cache: Cache::new(parameters.cache_pages),
            total: Total::new(parameters.max_pages),
        }
    }
}

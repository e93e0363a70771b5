// SPDX-License-Identifier: GPL-2.0

//! The device while it is registered: the engine, and those who look after it from outside.

use super::{
    engine::Engine,
    parameters::Parameters,
    statistics,
    supply::Supply, //
};
use crate::memory::{
    shrinker::Shrinker,
    worker::Worker, //
};
use kernel::{
    debugfs::Scope,
    prelude::*,
    sync::Arc, //
};

/// What all open files share.
#[pin_data]
pub(crate) struct Service {
    /// The memory.
    pub(crate) engine: Arc<Engine>,
    /// Clears what waits.
    #[pin]
    pub(crate) cleaner: Worker<Engine>,
    #[pin]
    _statistics: Scope<Arc<Engine>>,
    _shrinker: Shrinker<Engine>,
}

impl Service {
    /// Starts what `parameters` ask for.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(parameters: &Parameters) -> Result<Arc<Self>> {
        let supply = Supply::new(parameters).inspect_err(|_| {
            pr_err!("reserve_bytes: no run of that length is free; use less, or load earlier\n");
        })?;
        let engine = Arc::pin_init(Engine::new(parameters, supply), GFP_KERNEL)?;
        Arc::pin_init(
            try_pin_init!(Self {
                _shrinker: Shrinker::new(c"pages", engine.clone())?,
                _statistics <- statistics::show(engine.clone()),
                cleaner <- Worker::new(engine.clone()),
                engine,
            }),
            GFP_KERNEL,
        )
    }
}

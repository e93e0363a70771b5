// SPDX-License-Identifier: GPL-2.0

//! An open `/dev/pages`: its file operations.
//!
//! Reads, writes and seeks are those of `/dev/zero` ([`drivers/char/mem.c`]). The mappings are what
//! the device is for; they come in two kinds:
//!
//! - A direct mapping (`MAP_SHARED`, or `MAP_PRIVATE` without `PROT_WRITE`) asks
//!   [`OpenFile::map`] for the memory itself.
//! - A writable `MAP_PRIVATE` one gets memory of the core's. All that can be decided here is
//!   whether that may stay as it is.
//!
//! [`drivers/char/mem.c`]: srctree/drivers/char/mem.c

use super::{
    account::Account,
    cleaner,
    contents::Tag,
    request::Wish,
    service::Service, //
};
use crate::memory::{
    iov,
    mapping::{
        MapRequest,
        Mapping, //
    },
    misc_device::NommuMiscDevice,
    task, //
};
use kernel::{
    fs::File,
    iov::{
        IovIterDest,
        IovIterSource, //
    },
    page::{
        PAGE_SHIFT,
        PAGE_SIZE, //
    },
    prelude::*,
    seq_file::SeqFile,
    seq_print,
    sync::Arc, //
};

/// Bytes that read(2) fills between two looks at the signals.
const READ_STEP: usize = 16 * PAGE_SIZE;

/// An open file: the unit to which the policy "own" refers.
pub(crate) struct OpenFile {
    service: Arc<Service>,
    account: Account,
}

impl NommuMiscDevice for OpenFile {
    type Data = Arc<Service>;
    type Tag = Tag;

    fn open(service: &Arc<Service>, _file: &File) -> Result<Self> {
        Ok(Self {
            account: service.engine.open_account(),
            service: service.clone(),
        })
    }

    #[inline(always)]
    fn map(&self, request: &MapRequest) -> Result<KBox<Mapping<Self>>> {
        let wish = Wish::decode(request.pgoff, request.flags)?;
        let service = &self.service;
        service
            .engine
            .map(&self.account, request.pages, wish, &service.cleaner)
    }

    fn unmapped(&self, mapping: KBox<Mapping<Self>>) {
        if self.service.engine.unmapped(&self.account, mapping) {
            self.service.cleaner.ask(cleaner::idle_time());
        }
    }

    fn copy_may_stay(&self, pos: i64) -> Result<bool> {
        let wish = Wish::at_position(pos)?;
        Ok(self.service.engine.copy_may_stay(&self.account, wish))
    }

    fn read_iter(&self, dest: &mut IovIterDest<'_>) -> Result<usize> {
        let mut done = 0;
        while !dest.is_empty() {
            let wanted = dest.len().min(READ_STEP);
            let filled = iov::fill_zero(dest, wanted);
            done += filled;
            if filled < wanted {
                return if done > 0 { Ok(done) } else { Err(EFAULT) };
            }
            if task::signal_pending() {
                break;
            }
            task::cond_resched();
        }
        Ok(done)
    }

    fn write_iter(&self, source: &mut IovIterSource<'_>) -> Result<usize> {
        let swallowed = source.len();
        source.advance(swallowed);
        Ok(swallowed)
    }

    fn show_fdinfo(&self, m: &SeqFile) {
        let usage = self.service.engine.usage(&self.account);
        seq_print!(m, "mappings:\t{}\n", usage.mappings);
        seq_print!(m, "mapped_bytes:\t{}\n", usage.pages << PAGE_SHIFT);
    }
}

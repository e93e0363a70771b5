// SPDX-License-Identifier: GPL-2.0

//! What is mapped: by each open file, and by all of them together against the limit.
//!
//! Everything here is guarded by the lock of the [`Pool`], so that the figures agree.

use super::{
    contents::Owner,
    pool::Pool, //
};
use kernel::{
    prelude::*,
    sync::LockedBy, //
};

/// Direct mappings that are live.
#[derive(Clone, Copy, Default)]
pub(crate) struct Usage {
    /// How many there are.
    pub(crate) mappings: usize,
    /// Pages in all of them.
    pub(crate) pages: usize,
}

impl Usage {
    #[inline]
    fn add(&mut self, pages: usize) {
        self.mappings += 1;
        self.pages += pages;
    }

    #[inline]
    fn remove(&mut self, pages: usize) {
        self.mappings -= 1;
        self.pages -= pages;
    }
}

/// The account of one open file.
pub(crate) struct Account {
    /// Who it is.
    pub(crate) owner: Owner,
    /// What it has mapped.
    pub(crate) usage: LockedBy<Usage, Pool>,
}

/// The sum of all accounts.
pub(crate) struct Total {
    usage: Usage,
    /// Pages of it that are parts of the reserve.
    reserved: usize,
    /// Pages that may be mapped at a time.
    limit: usize,
}

impl Total {
    /// Nothing mapped, and room for `limit` pages.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            usage: Usage::default(),
            reserved: 0,
            limit,
        }
    }

    /// What all open files have mapped.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Pages of the reserve that are mapped.
    pub(crate) fn reserved_pages(&self) -> usize {
        self.reserved
    }

    /// Notes that `pages` of what is charged are parts of the reserve.
    pub(crate) fn add_reserved(&mut self, pages: usize) {
        self.reserved += pages;
    }

    /// Notes that they are not, or no longer mapped.
    pub(crate) fn remove_reserved(&mut self, pages: usize) {
        self.reserved -= pages;
    }
}

impl Pool {
    /// Charges a mapping of `pages` pages to `account`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`: it would exceed the limit. Nothing is charged then.
    #[inline]
    pub(crate) fn charge(&mut self, account: &Account, pages: usize) -> Result {
        let left = self.total.limit.saturating_sub(self.total.usage.pages);
        if pages > left {
            self.counters.failures += 1;
            return Err(ENOMEM);
        }
        self.total.usage.add(pages);
        self.counters.made += 1;
        self.counters.peak = self.counters.peak.max(self.total.usage.pages);
        account.usage.access_mut(self).add(pages);
        Ok(())
    }

    /// Takes back a charge of `pages` pages.
    #[inline]
    pub(crate) fn discharge(&mut self, account: &Account, pages: usize) {
        self.total.usage.remove(pages);
        account.usage.access_mut(self).remove(pages);
    }
}

#[kunit_tests(rust_uncleared_account)]
mod tests {
    use super::*;

    #[test]
    fn usage_counts_mappings_and_pages() {
        let mut usage = Usage::default();
        usage.add(3);
        usage.add(5);
        assert_eq!((usage.mappings, usage.pages), (2, 8));
        usage.remove(3);
        assert_eq!((usage.mappings, usage.pages), (1, 5));
    }
}

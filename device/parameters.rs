// SPDX-License-Identifier: GPL-2.0

//! The module parameters, checked: what the administrator has set.

use super::policy::{
    Ineffective,
    Policy, //
};
use kernel::{
    fmt,
    page::PAGE_SHIFT,
    prelude::*, //
};

/// Stands for "as the device sees fit" where a parameter is a number of bytes.
pub(crate) const AUTOMATIC: i64 = -1;

/// Permission bits that a device node can have.
const MODE_MASK: u16 = 0o777;

/// The parameters as they were given.
pub(crate) struct Given {
    /// 0 never, 1 own, 2 any.
    pub(crate) policy: u32,
    /// Permissions of the device node.
    pub(crate) mode: u16,
    /// Bytes that may be mapped at a time, or [`AUTOMATIC`].
    pub(crate) max_bytes: i64,
    /// Bytes that may wait in the cache, or [`AUTOMATIC`].
    pub(crate) cache_bytes: i64,
    /// Bytes to take at once for large mappings.
    pub(crate) reserve_bytes: i64,
}

/// What the machine is like.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// Pages of RAM.
    pub(crate) pages: usize,
    /// Whether the page allocator hands out zeros only.
    pub(crate) hardened: bool,
}

impl Machine {
    /// Pages in three quarters of RAM.
    fn three_quarters(self) -> usize {
        self.pages / 4 * 3
    }
}

/// The parameters in force.
#[derive(Debug, PartialEq)]
pub(crate) struct Parameters {
    pub(crate) policy: Policy,
    /// Why no opt-out has an effect, if so.
    pub(crate) ineffective: Option<Ineffective>,
    pub(crate) mode: u16,
    pub(crate) max_pages: usize,
    pub(crate) cache_pages: usize,
    pub(crate) reserve_pages: usize,
    pub(crate) hardened: bool,
}

/// A parameter with a value that makes no sense, and what would.
#[derive(Debug, PartialEq)]
pub(crate) struct Senseless {
    name: &'static str,
    value: i64,
    expected: &'static str,
}

impl fmt::Display for Senseless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}: {}", self.name, self.value, self.expected)
    }
}

impl Parameters {
    /// Checks the given values for this machine.
    pub(crate) fn check(given: &Given, machine: Machine) -> Result<Self, Senseless> {
        let policy = Policy::try_from(given.policy).map_err(|_| Senseless {
            name: "policy",
            value: given.policy.into(),
            expected: "use 0 (never), 1 (own) or 2 (any)",
        })?;
        let (policy, ineffective) = policy.in_force(machine.hardened);

        // The driver core takes 0 for "not set", and would make the node 0600.
        if given.mode == 0 || given.mode & !MODE_MASK != 0 {
            return Err(Senseless {
                name: "mode",
                value: given.mode.into(),
                expected: "use permission bits, 01 to 0777",
            });
        }

        let max_pages = match pages_of(given.max_bytes) {
            None if given.max_bytes == AUTOMATIC => machine.three_quarters(),
            Some(pages) if pages > 0 => pages,
            _ => {
                return Err(Senseless {
                    name: "max_bytes",
                    value: given.max_bytes,
                    expected: "use at least one page, or -1 for three quarters of RAM",
                })
            }
        };
        let cache_pages = match none_or_pages(given.cache_bytes) {
            None if given.cache_bytes == AUTOMATIC => machine.three_quarters(),
            Some(pages) => pages,
            None => {
                return Err(Senseless {
                    name: "cache_bytes",
                    value: given.cache_bytes,
                    expected:
                        "use 0 for no cache, at least one page, or -1 for three quarters of RAM",
                })
            }
        };
        let reserve_pages = none_or_pages(given.reserve_bytes)
            .filter(|pages| *pages < machine.pages)
            .ok_or(Senseless {
                name: "reserve_bytes",
                value: given.reserve_bytes,
                expected: "use 0 for none, or at least one page and less than there is RAM",
            })?;

        Ok(Self {
            policy,
            ineffective,
            mode: given.mode,
            max_pages,
            // Where the page allocator clears, a run that waits in a cache would either show what
            // the administrator wants cleared, or be cleared a second time.
            cache_pages: if machine.hardened { 0 } else { cache_pages },
            reserve_pages,
            hardened: machine.hardened,
        })
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "policy {}, limit {} KiB, cache {} KiB, reserve {} KiB",
            self.policy.name(),
            kib(self.max_pages),
            kib(self.cache_pages),
            kib(self.reserve_pages),
        )?;
        match self.ineffective {
            None => Ok(()),
            Some(Ineffective::NotBuilt) => {
                write!(f, "; opt-out not effective (RUST_UNCLEARED_OPT_OUT=n)")
            }
            Some(Ineffective::Hardened) => {
                write!(f, "; opt-out not effective (init_on_alloc or init_on_free)")
            }
            Some(Ineffective::Policy) => write!(f, "; opt-out not effective (policy=0)"),
        }
    }
}

/// Pages as KiB, for the log.
fn kib(pages: usize) -> usize {
    pages.saturating_mul(1 << (PAGE_SHIFT - 10))
}

/// Whole pages in `bytes`, or [`None`] if it is negative.
fn pages_of(bytes: i64) -> Option<usize> {
    usize::try_from(bytes).ok().map(|bytes| bytes >> PAGE_SHIFT)
}

/// As [`pages_of`], but less than a page is nothing, which nobody can mean who does not say 0.
fn none_or_pages(bytes: i64) -> Option<usize> {
    pages_of(bytes).filter(|pages| *pages > 0 || bytes == 0)
}

#[kunit_tests(rust_uncleared_parameters)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine {
        pages: 1000,
        hardened: false,
    };

    fn given() -> Given {
        Given {
            policy: 1,
            mode: 0o600,
            max_bytes: AUTOMATIC,
            cache_bytes: AUTOMATIC,
            reserve_bytes: 0,
        }
    }

    fn senseless(given: Given) -> Option<&'static str> {
        Parameters::check(&given, MACHINE)
            .err()
            .map(|senseless| senseless.name)
    }

    #[test]
    fn defaults_follow_the_machine() {
        let checked = Parameters::check(&given(), MACHINE);
        assert!(checked.is_ok());
        if let Ok(parameters) = checked {
            assert_eq!(parameters.max_pages, 750);
            assert_eq!(parameters.cache_pages, 750);
        }
    }

    #[test]
    fn sizes_are_whole_pages() {
        let bytes = (3 << PAGE_SHIFT) + 1;
        let checked = Parameters::check(
            &Given {
                max_bytes: bytes,
                cache_bytes: bytes,
                ..given()
            },
            MACHINE,
        );
        assert!(checked.is_ok());
        if let Ok(parameters) = checked {
            assert_eq!(parameters.max_pages, 3);
            assert_eq!(parameters.cache_pages, 3);
        }
    }

    #[test]
    fn hardened_machine_keeps_nothing() {
        let machine = Machine {
            hardened: true,
            ..MACHINE
        };
        let checked = Parameters::check(&given(), machine);
        assert!(checked.is_ok());
        if let Ok(parameters) = checked {
            assert_eq!(parameters.cache_pages, 0);
            assert_eq!(parameters.policy, Policy::Never);
            assert!(parameters.ineffective.is_some());
        }
    }

    #[test]
    fn senseless_values_are_named() {
        for policy in [3, u32::MAX] {
            assert_eq!(senseless(Given { policy, ..given() }), Some("policy"));
        }
        for mode in [0, 0o1000, u16::MAX] {
            assert_eq!(senseless(Given { mode, ..given() }), Some("mode"));
        }
        for max_bytes in [0, 1, (1 << PAGE_SHIFT) - 1, -2, i64::MIN] {
            assert_eq!(
                senseless(Given {
                    max_bytes,
                    ..given()
                }),
                Some("max_bytes")
            );
        }
        for cache_bytes in [-2, i64::MIN, 1, (1 << PAGE_SHIFT) - 1] {
            assert_eq!(
                senseless(Given {
                    cache_bytes,
                    ..given()
                }),
                Some("cache_bytes")
            );
        }
    }

    #[test]
    fn reserve_is_smaller_than_the_machine() {
        let machine_bytes = 1000 << PAGE_SHIFT;
        for (reserve_bytes, name) in [
            (0, None),
            (1, Some("reserve_bytes")),
            ((1 << PAGE_SHIFT) - 1, Some("reserve_bytes")),
            (1 << PAGE_SHIFT, None),
            (machine_bytes - 1, None),
            (machine_bytes, Some("reserve_bytes")),
            (i64::MAX, Some("reserve_bytes")),
            (-1, Some("reserve_bytes")),
        ] {
            assert_eq!(
                senseless(Given {
                    reserve_bytes,
                    ..given()
                }),
                name
            );
        }
    }

    #[test]
    fn huge_and_empty_sizes_make_sense() {
        for max_bytes in [1 << PAGE_SHIFT, i64::MAX] {
            assert_eq!(
                senseless(Given {
                    max_bytes,
                    ..given()
                }),
                None
            );
        }
        for cache_bytes in [0, 1 << PAGE_SHIFT, i64::MAX] {
            assert_eq!(
                senseless(Given {
                    cache_bytes,
                    ..given()
                }),
                None
            );
        }
    }
}

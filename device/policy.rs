// SPDX-License-Identifier: GPL-2.0

//! Who may see memory that was not cleared.

use super::{
    contents::{
        Contents,
        Owner, //
    },
    request::Wish, //
};
use kernel::prelude::*;

/// Whether this kernel was built with the opt-out (`RUST_UNCLEARED_OPT_OUT`, which needs !MMU).
const OPT_OUT_BUILT: bool = cfg!(all(CONFIG_RUST_UNCLEARED_OPT_OUT, not(CONFIG_MMU)));

/// How well memory suits a mapping.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) enum Fit {
    /// It has to be cleared first.
    MustClear,
    /// It can be used as it is, but would suit another mapping better.
    Usable,
    /// It can be used as it is.
    Best,
}

/// What an opt-out is worth: the module parameter `policy`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Policy {
    /// Nothing: every mapping is zeroed.
    Never,
    /// It shows what the same open file wrote before, or zeros.
    Own,
    /// It shows anything, as `MAP_UNINITIALIZED` of 2009 does.
    Any,
}

/// Why no opt-out has an effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ineffective {
    /// The kernel was built without it.
    NotBuilt,
    /// The administrator wants all memory cleared: `init_on_alloc=1` or `init_on_free=1`.
    Hardened,
    /// `policy=0`.
    Policy,
}

impl TryFrom<u32> for Policy {
    type Error = Error;

    /// Reads the module parameter; `EINVAL` above 2.
    fn try_from(value: u32) -> Result<Self> {
        match value {
            0 => Ok(Self::Never),
            1 => Ok(Self::Own),
            2 => Ok(Self::Any),
            _ => Err(EINVAL),
        }
    }
}

impl Policy {
    /// The policy in force on a kernel that clears all memory anyway (`hardened`), or not, and why
    /// it differs from one under which an opt-out has an effect.
    pub(crate) fn in_force(self, hardened: bool) -> (Self, Option<Ineffective>) {
        self.resolve(OPT_OUT_BUILT, hardened)
    }

    fn resolve(self, built: bool, hardened: bool) -> (Self, Option<Ineffective>) {
        let reason = if !built {
            Ineffective::NotBuilt
        } else if hardened {
            Ineffective::Hardened
        } else if self == Self::Never {
            Ineffective::Policy
        } else {
            return (self, None);
        };
        (Self::Never, Some(reason))
    }

    /// The name for the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Own => "own",
            Self::Any => "any",
        }
    }
}

/// Under which terms a mapping gets memory.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    /// The policy in force.
    pub(crate) policy: Policy,
    /// Who asks.
    pub(crate) owner: Owner,
    /// What for.
    pub(crate) wish: Wish,
}

impl Terms {
    /// How well memory with these contents suits.
    ///
    /// Zeros suit everybody, but whoever wants zeros should find them: a mapping that opts out
    /// leaves them for later where it can.
    #[inline]
    pub(crate) fn fit(self, contents: Contents) -> Fit {
        match (self.wish, contents) {
            (Wish::Zeroed, Contents::Zeros) => Fit::Best,
            (Wish::Zeroed, _) => Fit::MustClear,
            (Wish::Uncleared, Contents::Zeros) => Fit::Usable,
            (Wish::Uncleared, Contents::WrittenBy(writer)) => match self.policy {
                Policy::Own if writer == self.owner => Fit::Best,
                Policy::Any => Fit::Best,
                Policy::Own | Policy::Never => Fit::MustClear,
            },
            (Wish::Uncleared, Contents::Unknown) => match self.policy {
                Policy::Any => Fit::Best,
                Policy::Own | Policy::Never => Fit::MustClear,
            },
        }
    }
}

#[kunit_tests(rust_uncleared_policy)]
mod tests {
    use super::*;

    const ME: Owner = Owner(7);
    const OTHER: Owner = Owner(8);
    const POLICIES: [Policy; 3] = [Policy::Never, Policy::Own, Policy::Any];

    fn fit(policy: Policy, wish: Wish, contents: Contents) -> Fit {
        let terms = Terms {
            policy,
            owner: ME,
            wish,
        };
        terms.fit(contents)
    }

    #[test]
    fn parameter_values() {
        assert_eq!(Policy::try_from(0), Ok(Policy::Never));
        assert_eq!(Policy::try_from(1), Ok(Policy::Own));
        assert_eq!(Policy::try_from(2), Ok(Policy::Any));
        assert_eq!(Policy::try_from(3), Err(EINVAL));
        assert_eq!(Policy::try_from(u32::MAX), Err(EINVAL));
    }

    #[test]
    fn zeros_suit_everybody() {
        for policy in POLICIES {
            assert_eq!(fit(policy, Wish::Zeroed, Contents::Zeros), Fit::Best);
            assert_eq!(fit(policy, Wish::Uncleared, Contents::Zeros), Fit::Usable);
        }
    }

    #[test]
    fn zeroed_mapping_gets_zeros_only() {
        for policy in POLICIES {
            for contents in [
                Contents::WrittenBy(ME),
                Contents::WrittenBy(OTHER),
                Contents::Unknown,
            ] {
                assert_eq!(fit(policy, Wish::Zeroed, contents), Fit::MustClear);
            }
        }
    }

    #[test]
    fn opt_out_by_policy() {
        let seen = |policy: Policy, contents| fit(policy, Wish::Uncleared, contents) == Fit::Best;
        assert!(!seen(Policy::Never, Contents::WrittenBy(ME)));
        assert!(!seen(Policy::Never, Contents::Unknown));
        assert!(seen(Policy::Own, Contents::WrittenBy(ME)));
        assert!(!seen(Policy::Own, Contents::WrittenBy(OTHER)));
        assert!(!seen(Policy::Own, Contents::Unknown));
        assert!(seen(Policy::Any, Contents::WrittenBy(OTHER)));
        assert!(seen(Policy::Any, Contents::Unknown));
    }

    #[test]
    fn hardening_and_build_overrule() {
        for policy in POLICIES {
            let (in_force, reason) = policy.resolve(false, true);
            assert_eq!(in_force, Policy::Never);
            assert_eq!(reason, Some(Ineffective::NotBuilt));
            let (in_force, reason) = policy.resolve(true, true);
            assert_eq!(in_force, Policy::Never);
            assert_eq!(reason, Some(Ineffective::Hardened));
        }
        assert_eq!(Policy::Own.resolve(true, false), (Policy::Own, None));
        assert_eq!(Policy::Any.resolve(true, false), (Policy::Any, None));
        assert_eq!(
            Policy::Never.resolve(true, false),
            (Policy::Never, Some(Ineffective::Policy))
        );
    }
}

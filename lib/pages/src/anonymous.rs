// SPDX-License-Identifier: MIT OR Apache-2.0

//! Memory of the kernel's own, for where there is no device.

use crate::{mapping::Mapping, sys, Error};

/// Maps `len` bytes of anonymous private memory, all zero.
///
/// Without an MMU the kernel warns on the console when it is asked for more than 4 MiB.
///
/// # Errors
///
/// [`Error::BadLength`] for 0; [`Error::NoMemory`].
pub fn map_anonymous(len: usize) -> Result<Mapping, Error> {
    sys::Map::anonymous(len)
        .map(Mapping::new)
        .map_err(Error::from_errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_memory_is_zero() {
        let mapping = map_anonymous(12_288).unwrap();
        assert!(mapping.iter().all(|byte| *byte == 0));
        assert_eq!(map_anonymous(0).unwrap_err(), Error::BadLength);
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Which mapping a caller asks for: the offset and the flags of mmap(2), decoded.
//!
//! UAPI header: [`include/uapi/linux/pages.h`](srctree/include/uapi/linux/pages.h)

use kernel::{
    page::PAGE_SHIFT,
    prelude::*, //
};

/// `PAGES_OFFSET_UNCLEARED` of the UAPI header, in bytes.
const OFFSET_UNCLEARED: u64 = 1 << 43;

/// The same in pages, as mmap(2) passes it on.
const PGOFF_UNCLEARED: usize = (OFFSET_UNCLEARED >> PAGE_SHIFT) as usize;

/// `MAP_UNINITIALIZED` of `include/uapi/asm-generic/mman-common.h`.
const MAP_UNINITIALIZED: u32 = 0x400_0000;

/// `MAP_HUGETLB` of the same header: bits 26 to 31 are a page size then.
const MAP_HUGETLB: u32 = 0x4_0000;

/// Bits 26 to 31: `MAP_HUGE_MASK << MAP_HUGE_SHIFT` of `asm-generic/hugetlb_encode.h`.
const MAP_HUGE_FIELD: u32 = 0x3f << 26;

static_assert!(MAP_UNINITIALIZED == 1 << 26);
static_assert!((PGOFF_UNCLEARED as u64) << PAGE_SHIFT == OFFSET_UNCLEARED);

/// What the memory of a new mapping may contain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wish {
    /// Zeros.
    Zeroed,
    /// Whatever is there: the caller has opted out of the clearing.
    Uncleared,
}

impl Wish {
    /// Decodes the offset, in pages, and the flags of mmap(2).
    ///
    /// `MAP_UNINITIALIZED` shares its bit with the sizes of huge pages, of which `MAP_HUGE_2MB` for
    /// one has it set. So it counts only if it is alone in that field and `MAP_HUGETLB` is clear.
    ///
    /// # Errors
    ///
    /// `EINVAL`: an offset that means nothing.
    pub(crate) fn decode(pgoff: usize, flags: u32) -> Result<Self> {
        match pgoff {
            PGOFF_UNCLEARED => Ok(Self::Uncleared),
            0 if flags & MAP_HUGETLB == 0 && flags & MAP_HUGE_FIELD == MAP_UNINITIALIZED => {
                Ok(Self::Uncleared)
            }
            0 => Ok(Self::Zeroed),
            _ => Err(EINVAL),
        }
    }

    /// Decodes the position, in bytes, at which the contents of a private mapping are read.
    ///
    /// # Errors
    ///
    /// `EINVAL`: an offset that means nothing.
    pub(crate) fn at_position(pos: i64) -> Result<Self> {
        match u64::try_from(pos) {
            Ok(OFFSET_UNCLEARED) => Ok(Self::Uncleared),
            Ok(0) => Ok(Self::Zeroed),
            _ => Err(EINVAL),
        }
    }
}

#[kunit_tests(rust_uncleared_request)]
mod tests {
    use super::*;

    /// `MAP_SHARED`, which has no influence here.
    const SHARED: u32 = 1;

    #[test]
    fn plain_mapping_is_zeroed() {
        assert_eq!(Wish::decode(0, SHARED), Ok(Wish::Zeroed));
        assert_eq!(Wish::decode(0, 0), Ok(Wish::Zeroed));
    }

    #[test]
    fn flag_opts_out() {
        assert_eq!(
            Wish::decode(0, SHARED | MAP_UNINITIALIZED),
            Ok(Wish::Uncleared)
        );
    }

    #[test]
    fn offset_opts_out_whatever_the_flags() {
        for bit in 0..32 {
            assert_eq!(Wish::decode(PGOFF_UNCLEARED, 1 << bit), Ok(Wish::Uncleared));
        }
    }

    #[test]
    fn huge_page_sizes_never_opt_out() {
        for size in 0..64u32 {
            let flags = SHARED | MAP_HUGETLB | size << 26;
            assert_eq!(Wish::decode(0, flags), Ok(Wish::Zeroed));
            if size != 1 {
                let flags = SHARED | size << 26;
                assert_eq!(Wish::decode(0, flags), Ok(Wish::Zeroed));
            }
        }
    }

    #[test]
    fn other_flags_change_nothing() {
        for bit in 0..26 {
            let flags = 1 << bit;
            assert_eq!(Wish::decode(0, flags), Ok(Wish::Zeroed));
            if flags != MAP_HUGETLB {
                assert_eq!(
                    Wish::decode(0, flags | MAP_UNINITIALIZED),
                    Ok(Wish::Uncleared)
                );
            }
        }
    }

    #[test]
    fn other_offsets_are_refused() {
        for bit in 0..usize::BITS {
            let pgoff = 1 << bit;
            if pgoff != PGOFF_UNCLEARED {
                assert_eq!(Wish::decode(pgoff, SHARED), Err(EINVAL));
            }
            if pgoff != 1 {
                assert_eq!(Wish::decode(pgoff + 1, SHARED), Err(EINVAL));
                assert_eq!(Wish::decode(pgoff - 1, SHARED), Err(EINVAL));
            }
        }
        assert_eq!(Wish::decode(usize::MAX, SHARED), Err(EINVAL));
    }

    #[test]
    fn positions_are_offsets_in_bytes() {
        assert_eq!(Wish::at_position(0), Ok(Wish::Zeroed));
        assert_eq!(Wish::at_position(1 << 43), Ok(Wish::Uncleared));
        for pos in [1, (1 << 43) - 1, (1 << 43) + 1, i64::MAX, i64::MIN, -1] {
            assert_eq!(Wish::at_position(pos), Err(EINVAL));
        }
    }
}

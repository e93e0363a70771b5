// SPDX-License-Identifier: GPL-2.0

//! `/dev/pages`: a `/dev/zero` whose mappings are fresh, physically contiguous pages, zeroed unless
//! the mapping opts out.
//!
//! On a kernel without an MMU every mapping is cleared in full before mmap(2) returns, and freed
//! page by page afterwards. This device does neither where it need not. It has two parts:
//!
//! - `device` decides: which mapping is asked for, who may see what, where the memory comes from.
//! - `nommu`, or `mmu` where there is one, carries out: it holds all unsafe code, behind safe
//!   types.
//!
//! UAPI header: [`include/uapi/linux/pages.h`](srctree/include/uapi/linux/pages.h)

#![deny(unsafe_code)]

mod device;
#[cfg(CONFIG_MMU)]
#[expect(unsafe_code)]
mod mmu;
#[cfg(not(CONFIG_MMU))]
#[expect(unsafe_code)]
mod nommu;

// Where the mappings come from. `device` knows it by this name only.
#[cfg(CONFIG_MMU)]
use mmu as memory;
#[cfg(not(CONFIG_MMU))]
use nommu as memory;

use device::{
    open_file::OpenFile,
    parameters::{
        Given,
        Machine,
        Parameters, //
    },
    service::Service, //
};
use kernel::prelude::*;
use memory::{
    compat::value_of,
    misc_device::Registration,
    system, //
};

module! {
    type: RustUncleared,
    name: "rust_uncleared",
    authors: ["The rust_uncleared authors"],
    description: "/dev/pages: physically contiguous pages, zeroed unless the mapping opts out",
    license: "GPL",
    params: {
        policy: u32 {
            default: 1,
            description: "Opt-outs show: 0 zeros, 1 what that file wrote, 2 anything (default 1)",
        },
        mode: u16 {
            default: 0o600,
            description: "Permissions of /dev/pages (default 0600)",
        },
        max_bytes: i64 {
            default: -1,
            description: "Bytes that may be mapped at a time (default -1: three quarters of RAM)",
        },
        cache_bytes: i64 {
            default: -1,
            description: "Bytes kept for reuse, 0 for none (default -1: three quarters of RAM)",
        },
        reserve_bytes: i64 {
            default: 0,
            description: "Bytes taken at load time, for mappings from 64 KiB on (default 0)",
        },
    },
}

/// The module.
#[pin_data]
struct RustUncleared {
    #[pin]
    _device: Registration<OpenFile>,
}

impl kernel::InPlaceModule for RustUncleared {
    fn init(_module: &'static ThisModule) -> impl PinInit<Self, Error> {
        pin_init::pin_init_scope(|| {
            let parameters = parameters()?;
            let service = Service::new(&parameters)?;
            Ok(try_pin_init!(Self {
                _device <- Registration::new(c"pages", parameters.mode, service),
                _: { pr_info!("/dev/pages: {parameters}\n") },
            }))
        })
    }
}

/// Reads and checks the module parameters.
fn parameters() -> Result<Parameters> {
    let given = Given {
        policy: value_of(module_parameters::policy.value()),
        mode: value_of(module_parameters::mode.value()),
        max_bytes: value_of(module_parameters::max_bytes.value()),
        cache_bytes: value_of(module_parameters::cache_bytes.value()),
        reserve_bytes: value_of(module_parameters::reserve_bytes.value()),
    };
    let machine = Machine {
        pages: system::total_pages(),
        hardened: system::allocator_clears(),
    };
    Parameters::check(&given, machine).map_err(|senseless| {
        pr_err!("{senseless}\n");
        EINVAL
    })
}

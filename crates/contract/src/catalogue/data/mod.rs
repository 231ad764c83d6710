//! The rows. They are edited by hand; `index` puts them in order and the tests check them.

/// The address of one of Microsoft's pages about AKS error codes.
macro_rules! learn {
    ($page:literal) => {
        concat!(
            "https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/",
            $page
        )
    };
}

mod agent;
mod history;
mod image_build;
mod linux_dormant;
mod linux_node;
mod linux_past;
mod linux_raw;
mod proposed;
mod windows;

pub(super) use agent::AGENT;
pub(super) use history::HISTORY;
pub(super) use image_build::IMAGE_BUILD;
pub(super) use linux_dormant::LINUX_DORMANT;
pub(super) use linux_node::LINUX_NODE;
pub(super) use linux_past::LINUX_PAST;
pub(super) use linux_raw::LINUX_RAW;
pub(super) use proposed::LINUX_PROPOSED;
pub(super) use windows::WINDOWS;

//! The live page of a cluster: rendered on the server, updated by events, read-only.
//!
//! | module | contents |
//! |---|---|
//! | `snapshot` | [`Snapshot`]: the facts that a page shows |
//! | `view` | [`PageView`]: the part of them that an address names |
//! | `model` | nodes, rates and times of a view |
//! | `series` | failed and joined nodes over time |
//! | `render` | HTML, section by section |
//! | `server` | [`Live`] snapshots, and [`serve`]: HTTP, JSON and events |
//!
//! Rendering does no I/O and reads no clock. Text of other systems is escaped in `html`, and commands contain only names
//! that are quoted for a shell.

#[cfg(test)]
#[path = "../tests/common/fixture.rs"]
mod fixture;
mod html;
mod model;
mod render;
mod series;
mod server;
mod view;

pub use model::{ControllerDetails, PageMode, Snapshot};
pub use render::{render, render_loading};
pub use server::{
    Connect, Connecting, Live, MAX_STREAMS, PageAccess, PageKey, serve, serve_forwarded,
    serve_texts,
};
pub use view::{PageView, Route, TimeRange};

/// The stylesheet, with the colors of all pages.
pub fn stylesheet() -> String {
    format!("{}{}", mooring_trace::page::COLORS, include_str!("page.css"))
}

/// The script. The page works without it.
pub const SCRIPT: &str = include_str!("page.js");

pub const ICON: &str = include_str!("icon.svg");

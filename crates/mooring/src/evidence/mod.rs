//! Files of a node: `bundle` collects them, `trace` shows them as a timeline.

pub(crate) mod bundle;
mod path;
pub(crate) mod trace;

pub(crate) mod list;
pub(crate) mod selectors;
mod stale;
pub(crate) mod watch;

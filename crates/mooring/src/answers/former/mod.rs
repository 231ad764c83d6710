//! Documents of the release before, printed with `--schema` for one release: mooring.why/v1 and mooring.fleet/v1.

mod fleet;
mod query;
mod why;

pub(crate) use fleet::fleet;
pub(crate) use why::why;

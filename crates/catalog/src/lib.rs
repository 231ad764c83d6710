//! Catalog of error codes: what they mean for a node, its pool or its cluster.
//!
//! `data/` has one row per code. A row names a class, which has the owner, the stage, the expected result of a retry and
//! the usual next step. The node's agent does not link this crate; it reads exit codes only.
//!
//! ```
//! let row = mooring_catalog::find("agentpoolapisnotsupported").unwrap();
//! assert_eq!((row.name, row.owner.as_str()), ("AgentPoolAPIsNotSupported", "operator"));
//! ```

mod class;
mod table;

pub use table::{find, page, pages, rows};

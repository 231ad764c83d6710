//! Rows of a catalog of error codes. The catalog itself is a crate of its own, which the node's agent does not link.

use mooring_codes::{Owner, Transient};

use crate::cause::stage::Stage;
use crate::cause::subject::TextSubject;

/// What an error code of Azure, Entra ID or Karpenter means for a node, its pool or its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// Spelled as Azure spells it.
    pub name: &'static str,
    pub owner: Owner,
    pub stage: Stage,
    pub retry: Transient,
    /// Required subject of a text with the code: other resources have the same codes.
    pub about: TextSubject,
    pub meaning: &'static str,
    pub next: &'static str,
}

/// Returns the row of a code in any case. The rows are sorted by name in lowercase.
pub(crate) fn find_row(rows: &'static [CatalogRow], name: &str) -> Option<&'static CatalogRow> {
    let name = name.to_ascii_lowercase();
    let at = rows.binary_search_by(|row| row.name.to_ascii_lowercase().cmp(&name)).ok()?;
    rows.get(at)
}

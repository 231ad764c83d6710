//! Lookup by name, in any spelling that Azure uses.

use std::collections::BTreeSet;
use std::iter;

use crate::{ExitCode, Meanings, Os, Status, tables};

/// The prefix (in older texts the suffix) of names in AKS.
const AKS: &str = "VMExtensionError";

/// Returns the meanings of a name: a constant (`ERR_OUTBOUND_CONN_FAIL`, with or without `ERR_`), a Windows
/// constant, or the AKS name of a Linux constant (`VMExtensionError_OutboundConnFail`,
/// `OutboundConnFailVMExtensionError`, `OutBoundConnFail`). Case, `_` and `-` do not matter.
///
/// A name that moved to another number returns both, the current one first. Raw codes have no names.
pub fn by_name(name: &str) -> Meanings {
    let name = name.trim();
    let core = core(name);
    if letters(core).next().is_none() {
        return iter::empty().collect();
    }
    let rows = tables::all().filter(|row| row.status != Status::Raw);
    let mut named: Vec<&ExitCode> = rows.filter(|row| is_named(row, name, core)).collect();
    named.sort_by_key(|row| row.rank());
    named.into_iter().collect()
}

/// Returns the names of all constants, without duplicates. Raw codes have no names.
pub fn code_names() -> impl Iterator<Item = &'static str> {
    let names = tables::all().filter(|row| row.status != Status::Raw).map(|row| row.name);
    names.collect::<BTreeSet<_>>().into_iter()
}

fn is_named(row: &ExitCode, name: &str, core: &str) -> bool {
    match row.os {
        Os::Linux => {
            let own = row.name.strip_prefix("ERR_").unwrap_or(row.name);
            same(own, core) || row.aks_names.iter().any(|alias| same(alias, name))
        }
        Os::Windows => same(row.name, name),
    }
}

/// Removes the affixes that mark an error.
fn core(name: &str) -> &str {
    strip_prefix(name, AKS)
        .or_else(|| strip_suffix(name, AKS))
        .or_else(|| strip_prefix(name, "ERR_"))
        .unwrap_or(name)
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn strip_suffix<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let (rest, tail) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
    tail.eq_ignore_ascii_case(suffix).then_some(rest)
}

fn same(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

fn letters(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|b| !matches!(b, b'_' | b'-')).map(|b| b.to_ascii_lowercase())
}

//! Numbers and lists that may be incomplete.

use std::fmt;
use std::ops::Deref;

use mooring_workflow::Reading;
use serde::{Serialize, Serializer};

/// A number of nodes, as far as its sources were read. There is no number to take without a look at the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exact(usize),
    /// One source has these, and another one was not read.
    AtLeast(usize),
    Unknown,
}

impl Count {
    /// Returns the count of what was read. Nothing found is nothing known, unless all was read.
    pub fn of(found: usize, is_complete: bool) -> Self {
        match found {
            _ if is_complete => Self::Exact(found),
            0 => Self::Unknown,
            _ => Self::AtLeast(found),
        }
    }

    /// Returns the number; none if it is not known, or only its minimum is.
    pub fn exact(self) -> Option<usize> {
        match self {
            Self::Exact(count) => Some(count),
            Self::AtLeast(_) | Self::Unknown => None,
        }
    }

    /// Returns what is known to exist; none if nothing is known.
    pub fn found(self) -> Option<usize> {
        match self {
            Self::Exact(count) | Self::AtLeast(count) => Some(count),
            Self::Unknown => None,
        }
    }

    /// Returns the number of those that should exist: at least `wanted`.
    #[must_use]
    pub fn max_with(self, wanted: usize) -> Self {
        match self {
            Self::Exact(count) => Self::Exact(count.max(wanted)),
            Self::AtLeast(_) | Self::Unknown => Self::Exact(wanted),
        }
    }

    /// Returns true if it is known that there is none.
    pub fn is_none(self) -> bool {
        self == Self::Exact(0)
    }

    /// Returns true if it is known that there is one.
    pub fn is_some(self) -> bool {
        self.found().is_some_and(|count| count > 0)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(count) => f.pad(&count.to_string()),
            Self::AtLeast(count) => f.pad(&format!("{count}+")),
            Self::Unknown => f.pad("?"),
        }
    }
}

impl Serialize for Count {
    /// Unknown is null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.found().serialize(serializer)
    }
}

/// A list, as far as its sources were read. An empty one that may be incomplete is null in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    items: Vec<T>,
    is_complete: bool,
}

impl<T> Listed<T> {
    pub fn of(items: Vec<T>, is_complete: bool) -> Self {
        Self { items, is_complete }
    }

    /// Returns the items; none if nothing is known.
    pub fn known(&self) -> Option<&[T]> {
        Some(&*self.items).filter(|items| self.is_complete || !items.is_empty())
    }

    pub fn retain(&mut self, is_kept: impl FnMut(&T) -> bool) {
        self.items.retain(is_kept);
    }
}

impl<T> Deref for Listed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> IntoIterator for Listed<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Listed<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.known().serialize(serializer)
    }
}

/// The sources of an inventory, without their content. The default is that nothing was asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reads {
    /// NodeClaims; not found without Karpenter.
    pub claims: Reading<()>,
    pub nodes: Reading<()>,
    /// The failure record and the counts; not found without a controller.
    pub record: Reading<()>,
    /// AKS pools as Azure shows them.
    pub aks_pools: Reading<()>,
    /// The journals of `mooring repair`.
    pub runs: Reading<()>,
}

impl Reads {
    /// Returns the reads of a cluster in which nothing was denied.
    pub fn complete() -> Self {
        let known = || Reading::Known(());
        Self { claims: known(), nodes: known(), record: known(), aks_pools: known(), runs: known() }
    }

    /// Returns true if no node that exists can be missing.
    pub fn has_all_nodes(&self) -> bool {
        self.claims.is_read() && self.nodes.is_read()
    }
}

/// An AKS pool as Azure shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AksPool {
    pub name: String,
    /// Nodes that it should have; none if unknown.
    pub wanted: Option<usize>,
    /// `provisioningState`; none if Azure does not show it.
    pub state: Option<String>,
}

impl AksPool {
    /// Returns true if its last operation failed, or if it has ended and nodes are missing.
    pub(crate) fn is_degraded(&self, nodes: Count) -> bool {
        match self.state.as_deref() {
            Some("Failed") => true,
            Some("Succeeded") => self.lacks_nodes(nodes),
            _ => false,
        }
    }

    /// Returns true if it is known that nodes are missing.
    pub(crate) fn lacks_nodes(&self, nodes: Count) -> bool {
        let lacking = |nodes: usize| self.wanted.is_some_and(|wanted| nodes < wanted);
        nodes.exact().is_some_and(lacking)
    }

    /// Returns true if so many nodes that exist are all that it should have.
    pub(crate) fn has_all(&self, existing: usize, reads: &Reads) -> bool {
        self.is_whole(Count::of(existing, reads.nodes.is_read()))
    }

    /// Returns true if it is known that no node is missing.
    pub(crate) fn is_whole(&self, nodes: Count) -> bool {
        let has_all = |nodes: usize| self.wanted.is_some_and(|wanted| nodes >= wanted);
        nodes.found().is_some_and(has_all)
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Listed};

    #[test]
    fn nothing_found_is_none_only_if_all_was_read() {
        for (found, is_complete, text, json) in [
            (0, true, "0", "0"),
            (3, true, "3", "3"),
            (0, false, "?", "null"),
            (3, false, "3+", "3"),
        ] {
            let count = Count::of(found, is_complete);
            let shown = (count.to_string(), serde_json::to_string(&count).ok());
            assert_eq!(shown, (text.to_owned(), Some(json.to_owned())));
            assert_eq!((count.is_none(), count.is_some()), (text == "0", found > 0));
            let list = serde_json::to_string(&Listed::of(vec![1; found], is_complete)).unwrap();
            assert_eq!(
                list.as_str(),
                if json == "null" { "null" } else { ["[]", "[1,1,1]"][found / 3] }
            );
        }
    }
}

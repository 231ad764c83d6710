//! The nodes of an inventory.

use std::cmp::Ordering;
use std::iter::Map;
use std::slice;
use std::sync::Arc;

use crate::node::Node;

/// Nodes that inventories share: a filtered inventory copies none of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Nodes(Vec<Arc<Node>>);

type Iter<'a> = Map<slice::Iter<'a, Arc<Node>>, fn(&'a Arc<Node>) -> &'a Node>;

impl Nodes {
    pub fn iter<'a>(&'a self) -> Iter<'a> {
        let as_node: fn(&'a Arc<Node>) -> &'a Node = AsRef::as_ref;
        self.0.iter().map(as_node)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn first(&self) -> Option<&Node> {
        self.iter().next()
    }

    pub fn push(&mut self, node: Node) {
        self.0.push(Arc::new(node));
    }

    pub fn retain(&mut self, mut is_kept: impl FnMut(&Node) -> bool) {
        self.0.retain(|node| is_kept(node));
    }

    /// Returns the nodes that match.
    pub(crate) fn filtered(&self, is_wanted: impl Fn(&Node) -> bool) -> Self {
        Self(self.0.iter().filter(|node| is_wanted(node)).cloned().collect())
    }

    /// Returns a node to change it; other inventories keep the old one.
    pub(crate) fn find_mut(&mut self, is_wanted: impl Fn(&Node) -> bool) -> Option<&mut Node> {
        self.0.iter_mut().find(|node| is_wanted(node)).map(Arc::make_mut)
    }

    pub(crate) fn sort_by(&mut self, compare: impl Fn(&Node, &Node) -> Ordering) {
        self.0.sort_by(|one, other| compare(one, other));
    }
}

impl FromIterator<Node> for Nodes {
    fn from_iter<T: IntoIterator<Item = Node>>(nodes: T) -> Self {
        Self(nodes.into_iter().map(Arc::new).collect())
    }
}

impl Extend<Node> for Nodes {
    fn extend<T: IntoIterator<Item = Node>>(&mut self, nodes: T) {
        self.0.extend(nodes.into_iter().map(Arc::new));
    }
}

impl<'a> IntoIterator for &'a Nodes {
    type Item = &'a Node;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

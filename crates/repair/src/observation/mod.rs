//! Typed state of Azure and Kubernetes resources.
//!
//! Raw JSON is read leniently: incomplete entries are skipped, and absent members stay absent instead of becoming zero. A
//! failed query is a [`mooring_workflow::Reading`] with its reason: a missing permission is *unknown*, never *healthy*.

mod azure;
mod errors;
mod kubernetes;
mod pdbs;
mod pool;
mod view;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

pub use azure::{
    ActivityEvent, Addresses, AksOperation, Failure, Instance, ManagedCluster, Nic, ScaleSet,
};
pub use errors::ErrorTexts;
pub use kubernetes::{Node, Pod, PodController, Replicas, foreign_node, movable_on};
pub use pdbs::{EvictionBlocker, Pdb};
pub(crate) use pool::is_windows;
pub use pool::{Pool, pool_name_of_id};
pub use view::ClusterView;
pub(crate) use view::{denied, known};

/// Returns the text at a pointer; none if empty.
fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    value.pointer(pointer)?.as_str()?.parse().ok()
}

fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the items of a list; empty without one.
fn items<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the entries of a list that can be read; none without a list.
fn entries<T>(value: &Value, pointer: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    Some(value.pointer(pointer)?.as_array()?.iter().filter_map(read).collect())
}

/// Returns a map of texts without members of other types.
fn texts(value: &Value, pointer: &str) -> BTreeMap<String, String> {
    let members = value.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

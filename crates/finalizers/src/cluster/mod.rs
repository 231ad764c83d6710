//! The state of the cluster as values, and the signs of a running operator in it. A failed read is *unknown*, never *none*.

pub mod contents;
pub mod evidence;
pub mod helm;
pub(crate) mod managed;
pub mod observation;
pub(crate) mod unreadable;
pub mod view;

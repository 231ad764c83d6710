//! Writes of subresources: bindings, evictions, finalizers of namespaces, and scales.

mod binding;
mod eviction;
mod finalize;
mod scale;

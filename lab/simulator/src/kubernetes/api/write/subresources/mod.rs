//! Writes of subresources: evictions and scales.

mod eviction;
mod scale;

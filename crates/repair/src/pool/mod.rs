//! The bodies of recreated and temporary pools, and an existing temporary pool.

pub mod pool_body;
pub mod temporary_pool;

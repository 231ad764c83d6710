pub(crate) mod clusters;
pub(crate) mod pool_body;
mod pool_machines;
mod pool_members;
pub(crate) mod pool_rules;
mod pools;

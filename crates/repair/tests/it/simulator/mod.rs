//! The whole repair over the whole simulator: the real runtime, the client for Azure, both models, one process, virtual time,
//! and only the permissions of `packaging/roles`.

mod aborts;
mod api_access;
mod forbidden;
mod harness;
mod pools;
mod rbac;
mod runs;

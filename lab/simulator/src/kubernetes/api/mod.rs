//! The API server: `state` ← `negotiate`, `crd` ← `auth`, `read`, `write` ← `local`, `route`.

pub(crate) mod auth;
pub(crate) mod crd;
pub(crate) mod local;
pub(crate) mod negotiate;
pub(crate) mod read;
pub(crate) mod route;
pub(crate) mod state;
pub(crate) mod write;

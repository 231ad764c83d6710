//! State of the API server, without the verbs that change it.

mod catalog;
mod error;
mod options;
mod schema;
mod server;
mod user;
mod watches;
mod writes;

pub(crate) use catalog::{
    CRDS, Catalog, Custom, CustomColumn, Resource, ResourceOrigin, api_path, api_version,
};
pub use error::StatusError;
pub(crate) use error::{ApiResult, FieldError};
pub use options::{Delays, KubernetesOptions};
pub(crate) use schema::{ListType, Schema};
pub use server::ApiServer;
pub use user::{User, WebhookDenial};
pub(crate) use watches::{ObjectForm, ObjectWatch, TableRows};
pub use writes::RecordedWrite;
pub(crate) use writes::{CLUSTER, ChangeQueue, ObjectPart, WriteContext};

//! Requests and responses: media types, versions, discovery.

mod conversion;
pub(crate) mod discovery;
pub(crate) mod openapi;
mod protobuf;
mod request;
mod response;
pub(crate) mod table;

pub(crate) use conversion::{converted, is_stored_form, shown, to_stored};
pub(crate) use request::{RequestQuery, ResourceRequest, ResourceTarget, header};
pub(crate) use response::{
    bytes_answer, error_answer, json_answer, object_answer, success, with_type,
};

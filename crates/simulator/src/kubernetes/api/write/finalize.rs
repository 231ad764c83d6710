//! The subresource `finalize` of namespaces.

use http::{Method, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{Call, ResourceTarget};
use crate::kubernetes::api::state::{ApiServer, StatusError, Writer};
use crate::kubernetes::store::objects;

impl ApiServer {
    /// The subresource by which a namespace's own finalizers are changed.
    pub(crate) fn finalize_namespace(
        &mut self,
        call: &Call<'_>,
        target: &ResourceTarget,
        now: Timestamp,
    ) -> Result<Response, StatusError> {
        if *call.request.method() != Method::PUT {
            return Err(StatusError::method_not_allowed());
        }
        let name = target.name.as_deref().unwrap_or_default();
        let body = call.body()?;
        let mut value = self.find(target, name)?.value.clone();
        let finalizers = objects::list(&body, &["spec", "finalizers"]).to_vec();
        objects::set(&mut value, &["spec", "finalizers"], finalizers);
        let writer = call.writer("update");
        let stored = self.keep_or_end(&value, &writer, now);
        Ok(crate::kubernetes::api::write::create::written(
            call,
            &target.resource,
            &stored,
            StatusCode::OK,
            now,
        ))
    }

    pub(crate) fn keep_or_end(&mut self, value: &Value, writer: &Writer, now: Timestamp) -> Value {
        let done = objects::is_being_deleted(value)
            && objects::list(value, &["spec", "finalizers"]).is_empty()
            && objects::finalizers(value).next().is_none();
        if done && !writer.dry_run {
            self.erase("namespaces", &objects::key_of(value), now, Some(writer));
            return value.clone();
        }
        if writer.dry_run {
            return value.clone();
        }
        self.store_object("namespaces", value.clone(), now, Some(writer))
    }
}

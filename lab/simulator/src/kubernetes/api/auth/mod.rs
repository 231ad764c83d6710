//! Who may do what; access reviews.

mod admission;
mod rbac;

use http::StatusCode;
use rbac::RequestAttributes;
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, json_answer};
use crate::kubernetes::api::state::ApiServer;
use crate::kubernetes::store::objects::{self, text};

impl ApiServer {
    /// Serves a review of the user's own access to a resource.
    pub(crate) fn review(&self, call: &ResourceRequest<'_>, mut review: Value) -> Response {
        objects::set(&mut review, &["metadata", "creationTimestamp"], Value::Null);
        let wanted = |name: &str| text(&review, &["spec", "resourceAttributes", name]);
        let resource = match wanted("subresource") {
            "" => wanted("resource").to_owned(),
            part => format!("{}/{part}", wanted("resource")),
        };
        let allowed = self.allows(
            &call.user,
            RequestAttributes {
                verb: wanted("verb"),
                group: wanted("group"),
                resource: &resource,
                namespace: wanted("namespace"),
                name: wanted("name"),
            },
        );
        review["status"] = json!({"allowed": allowed});
        json_answer(StatusCode::CREATED, &review)
    }
}

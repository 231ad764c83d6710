//! Reads: one object, or a list page by page from one consistent state; stale reads, for fault rules.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, Bytes, BytesMut};
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::selector;
use crate::exchange::{Request, Response};
use crate::kubernetes::api::negotiate::{
    RequestQuery, ResourceRequest, ResourceTarget, bytes_answer, converted, error_answer,
    is_stored_form, json_answer, object_answer, shown, table,
};
use crate::kubernetes::api::state::{ApiResult, ApiServer, ObjectForm, Resource, StatusError};
use crate::kubernetes::store::objects::Key;
use crate::kubernetes::store::{StoredObject, item};

struct Continue {
    revision: u64,
    after: Key,
}

impl Continue {
    fn token(&self) -> String {
        let token = json!({"v": "meta.k8s.io/v1", "rv": self.revision,
            "start": format!("{}/{}", self.after.namespace, self.after.name)});
        URL_SAFE_NO_PAD.encode(token.to_string())
    }

    fn parse(token: &str) -> ApiResult<Self> {
        let bad =
            || StatusError::bad_request("continue key is not valid: encoded key is malformed");
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| bad())?;
        let token: Value = serde_json::from_slice(&bytes).map_err(|_| bad())?;
        let start = token.get("start").and_then(Value::as_str).ok_or_else(bad)?;
        let (namespace, name) = start.split_once('/').ok_or_else(bad)?;
        let revision = token.get("rv").and_then(Value::as_u64).ok_or_else(bad)?;
        Ok(Self { revision, after: Key::new(Some(namespace), name) })
    }
}

impl ApiServer {
    pub(crate) fn find(&self, call: &ResourceRequest<'_>) -> ApiResult<&Arc<StoredObject>> {
        self.stored(call.resource(), &call.key())
    }

    pub(crate) fn stored(&self, resource: &Resource, key: &Key) -> ApiResult<&Arc<StoredObject>> {
        let stored = self.store.get(&resource.table, key);
        stored.ok_or_else(|| StatusError::not_found(resource, &key.name))
    }

    pub(crate) fn serve_get(&self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        let object = self.find(call)?;
        Ok(match call.form() {
            ObjectForm::Whole => bytes_answer(StatusCode::OK, shown(call.resource(), object)),
            _ => object_answer(call, StatusCode::OK, &object.value),
        })
    }

    pub(crate) fn serve_list(&self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        self.list_as_of(call, self.store.revision())
    }

    /// Lists at this revision, or at that of the request's continue token.
    pub(crate) fn list_as_of(
        &self,
        call: &ResourceRequest<'_>,
        revision: u64,
    ) -> ApiResult<Response> {
        let resource = call.resource();
        let selector = selector(call)?;
        let limit = call.query.number("limit").filter(|limit| *limit > 0);
        let token = call.query.get("continue");
        let (revision, after) = if token.is_empty() {
            (revision, None)
        } else {
            let token = Continue::parse(token)?;
            (token.revision, Some(token.after))
        };
        let namespace = call.namespace();
        let fits = |object: &StoredObject| selector.fits(&object.value);
        let wanted = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let (found, more) = if revision == self.store.revision() {
            let all = self.store.list(&resource.table, namespace);
            page(all, after.as_ref(), fits, wanted)
        } else {
            let all =
                self.store.list_at(&resource.table, namespace, revision).ok_or_else(|| {
                    if after.is_some() {
                        continue_too_old()
                    } else {
                        too_old(revision, self.store.revision())
                    }
                })?;
            page(all.iter(), after.as_ref(), fits, wanted)
        };
        let mut metadata = json!({"resourceVersion": revision.to_string()});
        if more > 0 {
            if let Some((after, _)) = found.last() {
                metadata["continue"] = Continue { revision, after: after.clone() }.token().into();
            }
            if selector.is_everything() {
                metadata["remainingItemCount"] = more.into();
            }
        }
        let objects: Vec<Arc<StoredObject>> = found.into_iter().map(|(_, object)| object).collect();
        Ok(match call.form() {
            ObjectForm::Whole => {
                bytes_answer(StatusCode::OK, joined(resource, &objects, &metadata))
            }
            ObjectForm::Table => {
                let values: Vec<Value> =
                    objects.iter().map(|object| converted(resource, &object.value)).collect();
                let table = table::of(resource, &values, call.now, &metadata);
                json_answer(StatusCode::OK, &table)
            }
            ObjectForm::Metadata => {
                let items: Vec<Value> =
                    objects.iter().map(|one| table::metadata_of(&one.value)).collect();
                let list = json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1",
                    "metadata": metadata, "items": items});
                json_answer(StatusCode::OK, &list)
            }
        })
    }
}

/// Returns the objects of one page, and the number that remain.
fn page<'a>(
    all: impl Iterator<Item = (&'a Key, &'a Arc<StoredObject>)>,
    after: Option<&Key>,
    fits: impl Fn(&StoredObject) -> bool,
    wanted: usize,
) -> (Vec<(Key, Arc<StoredObject>)>, usize) {
    let mut rest = all
        .skip_while(|(key, _)| after.is_some_and(|after| *key <= after))
        .filter(|(_, object)| fits(object));
    let found: Vec<_> =
        rest.by_ref().take(wanted).map(|(key, object)| (key.clone(), Arc::clone(object))).collect();
    (found, rest.count())
}

fn joined(resource: &Resource, objects: &[Arc<StoredObject>], metadata: &Value) -> Bytes {
    let size: usize = objects.iter().map(|object| object.bytes.len() + 1).sum();
    let mut bytes = BytesMut::with_capacity(size + 256);
    let (kind, version) = (&resource.list_kind, resource.api_version());
    bytes.put_slice(
        format!(r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{metadata},"items":["#)
            .as_bytes(),
    );
    for (n, object) in objects.iter().enumerate() {
        if n > 0 {
            bytes.put_u8(b',');
        }
        match resource.custom() {
            Some(_) => bytes.put_slice(&shown(resource, object)),
            None if is_stored_form(resource) => bytes.put_slice(&object.as_item()),
            None => bytes.put_slice(&item(&converted(resource, &object.value))),
        }
    }
    bytes.put_slice(b"]}\n");
    bytes.freeze()
}

pub(crate) fn too_old(asked: u64, current: u64) -> StatusError {
    StatusError::expired(format!("too old resource version: {asked} ({current})"))
}

fn continue_too_old() -> StatusError {
    StatusError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a \
         new list without the continue parameter.",
    )
}

impl ApiServer {
    /// Returns the response to a read from the state at `then`; none for other requests.
    pub(crate) fn read_at(
        &self,
        request: &Request,
        then: Timestamp,
        now: Timestamp,
    ) -> Option<Response> {
        let target = ResourceTarget::parse(&self.catalog, request.uri().path()).ok()??;
        let query = RequestQuery::parse(request.uri().query());
        let call = ResourceRequest { request, query, user: self.who(request).ok()?, target, now };
        self.authorize(&call).ok()?;
        let revision = self.store.revision_at(&call.resource().table, then);
        let answer = match call.verb() {
            _ if *request.method() != http::Method::GET => return None,
            "list" => self.list_as_of(&call, revision),
            "get" => self.get_as_of(&call, revision),
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| error_answer(&error)))
    }

    fn get_as_of(&self, call: &ResourceRequest<'_>, revision: u64) -> ApiResult<Response> {
        let resource = call.resource();
        let then = self.store.list_at(&resource.table, call.namespace(), revision);
        let then = then.unwrap_or_default();
        let object =
            then.get(&call.key()).ok_or_else(|| StatusError::not_found(resource, call.name()))?;
        Ok(bytes_answer(StatusCode::OK, shown(resource, object)))
    }
}

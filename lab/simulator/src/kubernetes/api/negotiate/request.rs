//! Parsed requests: target, verb and options.

use std::sync::Arc;

use http::Method;
use jiff::Timestamp;
use serde_json::Value;

use super::protobuf;
use crate::exchange::Request;
use crate::exchange::decode;
use crate::kubernetes::api::state::{
    ApiResult, Catalog, ObjectForm, ObjectPart, Resource, StatusError, User, WriteContext,
};
use crate::kubernetes::store::objects::Key;

#[derive(Debug, Default)]
pub(crate) struct RequestQuery(Vec<(String, String)>);

impl RequestQuery {
    pub(crate) fn parse(query: Option<&str>) -> Self {
        let pairs = query.unwrap_or_default().split('&').filter(|part| !part.is_empty());
        Self(
            pairs
                .map(|pair| {
                    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                    (decode(name, true), decode(value, true))
                })
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(one, _)| one == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name).parse().ok()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), "true" | "1")
    }
}

/// A resource, or one object of it, or a subresource.
#[derive(Debug, Clone)]
pub(crate) struct ResourceTarget {
    pub(crate) resource: Arc<Resource>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

impl ResourceTarget {
    /// Parses a path; none for discovery, health, version and similar.
    pub(crate) fn parse(catalog: &Catalog, path: &str) -> ApiResult<Option<Self>> {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| decode(part, true))
            .collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let (group, version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Ok(None),
        };
        let target = |plural: &str, namespace: Option<&str>, rest: &[&str]| {
            let known = catalog.in_version(group, version).next().is_some();
            let missing =
                if known { StatusError::no_such_resource } else { StatusError::page_not_found };
            let resource = catalog.find(group, version, plural).ok_or_else(missing)?;
            if namespace.is_some() != resource.namespaced
                && (namespace.is_some() || !rest.is_empty())
            {
                return Err(StatusError::no_such_resource());
            }
            let (name, subresource) = match rest {
                [] => (None, None),
                [name] => (Some(*name), None),
                [name, subresource] if resource.serves(subresource) => {
                    (Some(*name), Some(*subresource))
                }
                _ => return Err(StatusError::no_such_resource()),
            };
            Ok(Some(Self {
                resource,
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
                subresource: subresource.map(str::to_owned),
            }))
        };
        match rest {
            [] => Ok(None),
            // `/api/v1/namespaces/x/status` is a subresource of the namespace, not a resource in it.
            ["namespaces", name, "status"] if group.is_empty() => {
                target("namespaces", None, &[name, "status"])
            }
            ["namespaces", namespace, plural, rest @ ..] => target(plural, Some(namespace), rest),
            [plural, rest @ ..] => target(plural, None, rest),
        }
    }
}

/// A parsed request about a resource.
#[derive(Debug)]
pub(crate) struct ResourceRequest<'a> {
    pub(crate) request: &'a Request,
    pub(crate) query: RequestQuery,
    pub(crate) user: User,
    pub(crate) target: ResourceTarget,
    pub(crate) now: Timestamp,
}

pub(crate) fn header(request: &Request, name: http::header::HeaderName) -> &str {
    request.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

impl ResourceRequest<'_> {
    pub(crate) fn resource(&self) -> &Resource {
        &self.target.resource
    }

    /// Returns the name in the path; empty for a collection.
    pub(crate) fn name(&self) -> &str {
        self.target.name.as_deref().unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.target.namespace.as_deref()
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(self.namespace(), self.name())
    }

    pub(crate) fn part(&self) -> ObjectPart {
        let status = self.target.subresource.as_deref() == Some("status");
        if status { ObjectPart::Status } else { ObjectPart::Main }
    }

    pub(crate) fn header(&self, name: http::header::HeaderName) -> &str {
        header(self.request, name)
    }

    /// Returns the form of objects that the client prefers.
    pub(crate) fn form(&self) -> ObjectForm {
        let accept = self.header(http::header::ACCEPT);
        let mut first = accept.split(',').next().unwrap_or_default().split(';').map(str::trim);
        match first.find_map(|part| part.strip_prefix("as=")) {
            Some("Table") => ObjectForm::Table,
            Some(kind) if kind.starts_with("PartialObjectMetadata") => ObjectForm::Metadata,
            _ => ObjectForm::Whole,
        }
    }

    pub(crate) fn content_type(&self) -> &str {
        let whole = self.header(http::header::CONTENT_TYPE);
        whole.split(';').next().unwrap_or_default().trim()
    }

    pub(crate) fn manager(&self) -> String {
        let named = self.query.get("fieldManager");
        if !named.is_empty() {
            return named.to_owned();
        }
        let agent = self.header(http::header::USER_AGENT);
        let agent = agent.split('/').next().unwrap_or_default();
        if agent.is_empty() { "unknown".to_owned() } else { agent.to_owned() }
    }

    pub(crate) fn check_method(&self, method: &Method) -> ApiResult<()> {
        let same = self.request.method() == method;
        if same { Ok(()) } else { Err(StatusError::method_not_allowed()) }
    }

    pub(crate) fn writer(&self, verb: &'static str) -> WriteContext {
        let subresource = if self.part() == ObjectPart::Status { "status" } else { "" };
        WriteContext {
            user: self.user.name.clone(),
            manager: self.manager(),
            verb,
            subresource,
            dry_run: self.query.get("dryRun") == "All",
            now: self.now,
        }
    }

    /// Parses the body as JSON or protobuf.
    pub(crate) fn body(&self) -> ApiResult<Value> {
        let body = self.request.body();
        let kind = self.content_type();
        if kind == protobuf::CONTENT_TYPE {
            return protobuf::read(body).map_err(|why| {
                StatusError::bad_request(format!("couldn't read the request's protobuf: {why}"))
            });
        }
        if !kind.is_empty() && !kind.contains("json") {
            return Err(StatusError::unsupported_media_type(&[
                "application/json",
                "application/yaml",
            ]));
        }
        serde_json::from_slice(body).map_err(|error| {
            StatusError::bad_request(format!("couldn't parse the request's body: {error}"))
        })
    }

    pub(crate) fn verb(&self) -> &'static str {
        let one = self.target.name.is_some();
        match *self.request.method() {
            Method::GET if self.query.flag("watch") => "watch",
            Method::GET if one => "get",
            Method::GET => "list",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if one => "delete",
            _ => "",
        }
    }
}

//! Single calls: content, retry policy and execution.

mod engine;
mod retry_policy;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use mooring_redact::identifier;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::path::ArmPath;
use crate::request_class::Class;

pub(crate) use retry_policy::retry_after;

#[derive(Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) target: ArmPath,
    pub(crate) class: Class,
    pub(crate) body: Bytes,
    pub(crate) condition: Option<(HeaderName, HeaderValue)>,
}

impl Call {
    pub fn new(method: Method, class: Class, path: &str, api_version: &str) -> Result<Self, Error> {
        match ArmPath::at_version(path, api_version) {
            Ok(target) => Ok(Self { method, target, class, body: Bytes::new(), condition: None }),
            Err(error) => Err(Error::invalid(method, &identifier(path), error.to_string())),
        }
    }

    pub fn get(path: &str, api_version: &str) -> Result<Self, Error> {
        Self::new(Method::GET, Class::Read, path, api_version)
    }

    /// Creates a read of a target that Azure returned.
    pub(crate) fn follow(target: ArmPath) -> Self {
        Self {
            method: Method::GET,
            target,
            class: Class::Read,
            body: Bytes::new(),
            condition: None,
        }
    }

    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.target.add_parameter(name, value);
        self
    }

    /// Sets the body, which must be JSON.
    #[must_use]
    pub fn text(mut self, json: impl Into<String>) -> Self {
        self.body = Bytes::from(json.into());
        self
    }

    pub fn json<T: Serialize>(self, value: &T) -> Result<Self, Error> {
        match serde_json::to_string(value) {
            Ok(text) => Ok(self.text(text)),
            Err(_) => Err(Error::invalid(self.method.clone(), self.path(), "invalid JSON body")),
        }
    }

    /// Makes the call conditional on the resource's eTag.
    pub fn if_match(mut self, etag: Option<&str>) -> Result<Self, Error> {
        if let Some(etag) = etag {
            let value = HeaderValue::from_str(etag)
                .map_err(|_| Error::invalid(self.method.clone(), self.path(), "invalid eTag"))?;
            self.condition = Some((IF_MATCH, value));
        }
        Ok(self)
    }

    /// Makes the call conditional on the absence of the resource.
    #[must_use]
    pub fn if_absent(mut self) -> Self {
        self.condition = Some((IF_NONE_MATCH, HeaderValue::from_static("*")));
        self
    }

    pub(crate) fn path(&self) -> &str {
        self.target.path()
    }
}

/// Omits query and body, which may contain secrets.
impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.method, self.path(), self.class.as_str())
    }
}

pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) correlation_id: String,
}

impl Response {
    pub(crate) fn parse<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let what = format!("unexpected JSON at line {line}, column {column}");
            Error::malformed(Method::GET, path, &self.correlation_id, what)
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim).filter(|value| !value.is_empty())
    }
}

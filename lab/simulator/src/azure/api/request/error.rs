//! Responses, and errors as Azure words them.

use serde_json::{Value, json};

/// An error, in one of the two forms that clients have to read.
#[derive(Debug, Clone)]
pub(crate) struct ArmError {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
    /// The AKS resource provider has `code` at the top; all other services wrap it in `error`.
    by_aks: bool,
    headers: Vec<(&'static str, String)>,
}

impl ArmError {
    pub(crate) fn new(status: u16, code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Self { status, code, message, by_aks: false, headers: Vec::new() }
    }

    /// Returns an error in the form of the AKS resource provider.
    pub(crate) fn aks(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self { by_aks: true, ..Self::new(status, code, message) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn no_resource(kind: &str, name: &str, group: &str) -> Self {
        let message = format!(
            "The Resource '{kind}/{name}' under resource group '{group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
        );
        Self::new(404, "ResourceNotFound", message).with("x-ms-failure-cause", "gateway")
    }

    pub(crate) fn no_group(group: &str) -> Self {
        let message = format!("Resource group '{group}' could not be found.");
        Self::new(404, "ResourceGroupNotFound", message).with("x-ms-failure-cause", "gateway")
    }

    pub(crate) fn no_subscription(subscription: &str) -> Self {
        let message = format!("The subscription '{subscription}' could not be found.");
        Self::new(404, "SubscriptionNotFound", message).with("x-ms-failure-cause", "gateway")
    }

    pub(crate) fn bad_method(method: &str) -> Self {
        let message = format!("The requested resource does not support http method '{method}'.");
        Self::new(405, "MethodNotAllowed", message)
    }

    pub(crate) fn bad_body(message: impl Into<String>) -> Self {
        Self::new(400, "InvalidRequestContent", message)
    }

    pub(crate) fn invalid_parameter(message: impl Into<String>) -> Self {
        Self::aks(400, "InvalidParameter", message)
    }

    pub(crate) fn body(&self) -> Value {
        if self.by_aks {
            json!({"code": self.code, "details": null, "message": self.message, "subcode": ""})
        } else {
            json!({"error": {"code": self.code, "message": self.message}})
        }
    }

    pub(crate) fn reply(self) -> Reply {
        let body = self.body();
        let mut reply = Reply::new(self.status).json(body);
        reply.headers = self.headers;
        // AKS does not send this header; the gateway and compute do.
        if !self.by_aks {
            reply.headers.push(("x-ms-error-code", self.code));
        }
        reply
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Option<Value>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, body: None, headers: Vec::new() }
    }

    pub(crate) fn ok(body: Value) -> Self {
        Self::new(200).json(body)
    }

    pub(crate) fn list(items: impl Iterator<Item = Value>) -> Self {
        Self::ok(json!({"value": items.collect::<Vec<_>>()}))
    }

    pub(crate) fn json(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

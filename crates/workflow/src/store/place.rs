//! The namespace of journals, and the permissions in it.

use http::Method;
use mooring_k8s::{Access, Client, Lost, RequestError, Response};
use serde_json::{Value, json};

use super::error::{NAMESPACE, explain};
use crate::model::check::{CheckResult, Outcome};

/// Name of the check.
pub const JOURNAL: &str = "journal";

/// What a check does about a namespace that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfMissing {
    Create,
    /// Lets the server check that it can be created.
    DryRun,
    /// Writes nothing, not even this.
    Report,
}

const NEEDS: [(&str, &str, &str); 6] = [
    ("get", "", "configmaps"),
    ("create", "", "configmaps"),
    ("update", "", "configmaps"),
    ("get", "coordination.k8s.io", "leases"),
    ("create", "coordination.k8s.io", "leases"),
    ("update", "coordination.k8s.io", "leases"),
];

/// Checks that journals can be written in a namespace. Nothing else is written than the namespace itself.
pub async fn check_namespace(api: &Client, namespace: &str, if_missing: IfMissing) -> CheckResult {
    let (outcome, why) = match check(api, namespace, if_missing).await {
        Ok(()) => (Outcome::Pass, format!("journals can be written in namespace {namespace}")),
        Err(failed) => failed,
    };
    CheckResult::new(JOURNAL, outcome, why)
}

async fn check(
    api: &Client,
    namespace: &str,
    if_missing: IfMissing,
) -> Result<(), (Outcome, String)> {
    let mut written = if if_missing == IfMissing::Report {
        let path = format!("/api/v1/namespaces/{namespace}");
        api.get(&path).await.map_err(|Lost(why)| (Outcome::Unknown, why))?
    } else {
        try_write(api, namespace).await?
    };
    // A namespace that may not be read may not exist.
    if written.status == 403 && if_missing == IfMissing::Report {
        written = try_write(api, namespace).await?;
    }
    if written.status == 404 && if_missing != IfMissing::Report {
        let body =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        let dry_run = if if_missing == IfMissing::DryRun { DRY_RUN } else { "" };
        let created = post(api, &format!("/api/v1/namespaces{dry_run}"), &body).await?;
        let is_there = created.is_success() || created.status == 409;
        if is_there && if_missing == IfMissing::DryRun {
            return Ok(());
        }
        if is_there {
            written = try_write(api, namespace).await?;
        }
    }
    // 409: a server that has the object checks everything else first.
    if !written.is_success() && written.status != 409 {
        let is_final = matches!(written.status, 403 | 404);
        let outcome = if is_final { Outcome::Fail } else { Outcome::Unknown };
        let why = explain_write(api, namespace, &written).await;
        return Err((outcome, why.replace("\nhint: ", "; ")));
    }
    let needs = NEEDS.map(|(verb, group, resource)| {
        let namespace = Some(namespace);
        Access { verb, group, resource, namespace, name: None }
    });
    let lacking = api.lacking(needs).await;
    let lacking = lacking.map_err(|error| (Outcome::Unknown, error.to_string()))?;
    if lacking.is_empty() {
        return Ok(());
    }
    Err((Outcome::Fail, format!("missing permissions: {}", lacking.join(", "))))
}

const DRY_RUN: &str = "?dryRun=All";

/// Explains a rejected write of a journal: an admission webhook by name, with a namespace that it allows.
pub(super) async fn explain_write(api: &Client, namespace: &str, response: &Response) -> String {
    let (reason, message) = response.refusal();
    let webhook = webhook(&message).map(str::to_owned);
    let error = RequestError { status: Some(response.status), reason, message };
    let Some(webhook) = webhook else { return explain(&error, namespace) };
    let mut place = "NAMESPACE";
    for other in [NAMESPACE, "default"] {
        let written = try_write(api, other).await;
        if other != namespace && written.is_ok_and(|answer| answer.is_success()) {
            place = other;
            break;
        }
    }
    let works = if place == "NAMESPACE" { "another namespace may work" } else { "this works" };
    format!(
        "{error}\nhint: webhook {webhook} allows no journal in namespace {namespace}; {works}: `--journal configmap/{place}`"
    )
}

/// Returns the admission webhook that a message names.
pub fn webhook(message: &str) -> Option<&str> {
    ["admission webhook \"", "failed calling webhook \""].iter().find_map(|lead| {
        let (_, rest) = message.split_once(lead)?;
        rest.split_once('"').map(|(name, _)| name)
    })
}

/// Lets the server check a write: the namespace, the permission and admission.
async fn try_write(api: &Client, namespace: &str) -> Result<Response, (Outcome, String)> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps{DRY_RUN}");
    let body = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "mooring-check", "namespace": namespace},
    });
    post(api, &path, &body).await
}

async fn post(api: &Client, path: &str, body: &Value) -> Result<Response, (Outcome, String)> {
    let sent = api.send(Method::POST, path, Some(body)).await;
    sent.map_err(|Lost(why)| (Outcome::Unknown, why))
}

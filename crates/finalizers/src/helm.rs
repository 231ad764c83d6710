//! A Helm release, from the secrets that Helm keeps it in. Nothing of a secret but what is named here goes further.

use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::observation::DEFINITIONS;
use super::target::Target;

/// The type of Helm's secrets.
const TYPE: &str = "helm.sh/release.v1";
/// A release fits into a secret of 1 MiB; what unpacks to much more is not one.
const MOST: u64 = 16 * 1024 * 1024;

/// One revision of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The secret that holds it.
    pub target: Target,
    pub revision: u64,
    /// `deployed`, `superseded`, `uninstalling` …
    pub status: String,
    /// Name and version of the chart; none if the payload cannot be read.
    pub chart: Option<String>,
    /// What its manifest names; empty if the payload cannot be read.
    #[serde(default)]
    pub resources: Vec<Resource>,
}

/// An object that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// As the manifest says; none means the release's, if the kind has namespaces.
    pub namespace: Option<String>,
    pub name: String,
}

/// An object of a manifest that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseObject {
    pub target: Target,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether it says of itself that it belongs to this release, and may go with it.
    pub ours: bool,
}

impl ReleaseObject {
    /// From the API's JSON. Helm marks what it made; what carries no such mark, or another release's, is not ours.
    #[must_use]
    pub fn read(target: Target, value: &Value, release: &str, namespace: &str) -> Self {
        let annotation = |name: &str| value["metadata"]["annotations"][name].as_str();
        let ours = annotation("meta.helm.sh/release-name") == Some(release)
            && annotation("meta.helm.sh/release-namespace") == Some(namespace)
            && annotation("helm.sh/resource-policy") != Some("keep");
        Self { target, deleting: super::observation::is_deleting(value), ours }
    }

    /// Whether it goes with the release: namespaces and definitions have steps of their own, which look first.
    pub fn goes(&self) -> bool {
        self.ours && !matches!(self.target.resource.as_str(), "namespaces" | DEFINITIONS)
    }
}

impl Revision {
    /// From a secret; none if it is no secret of Helm's.
    pub fn read(secret: &Value) -> Option<Self> {
        if secret["type"] != TYPE {
            return None;
        }
        let target = Target::of("secrets", "/api/v1", secret)?;
        let label = |name: &str| secret["metadata"]["labels"][name].as_str().unwrap_or_default();
        let payload = secret["data"]["release"].as_str().and_then(unpack);
        let told = payload.as_ref();
        let text = |pointer: &str| told?.pointer(pointer)?.as_str();
        let chart = text("/chart/metadata/name")
            .map(|name| format!("{name} {}", text("/chart/metadata/version").unwrap_or_default()));
        Some(Self {
            revision: told
                .and_then(|payload| payload["version"].as_u64())
                .or_else(|| label("version").parse().ok())
                .unwrap_or_default(),
            status: text("/info/status").unwrap_or(label("status")).to_owned(),
            chart: chart.map(|chart| mooring_redact::identifier(chart.trim())),
            resources: text("/manifest").map(resources).unwrap_or_default(),
            target,
        })
    }
}

/// Base64 of the API, base64 of Helm, gzip, JSON.
fn unpack(data: &str) -> Option<Value> {
    let outer = BASE64_STANDARD.decode(data).ok()?;
    let inner = BASE64_STANDARD.decode(outer).ok()?;
    // Releases of old are not compressed.
    if !inner.starts_with(&[0x1f, 0x8b]) {
        return serde_json::from_slice(&inner).ok();
    }
    let mut text = Vec::new();
    GzDecoder::new(inner.as_slice()).take(MOST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// What a manifest names. A document that cannot be read names nothing; hooks are not part of a manifest.
fn resources(manifest: &str) -> Vec<Resource> {
    manifest
        .split("\n---")
        .filter_map(|document| {
            let document = document.trim_start_matches("---");
            let value: Value = serde_saphyr::from_str(document).ok()?;
            let text =
                |pointer: &str| value.pointer(pointer)?.as_str().filter(|text| !text.is_empty());
            let name = text("/metadata/name")?;
            // A name that could leave its place in a path is not a name.
            let clean = |text: &str| !text.contains(['/', '?', '#', '%']);
            let (api_version, kind) = (text("/apiVersion")?, text("/kind")?);
            (clean(name) && clean(kind)).then(|| Resource {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                namespace: text("/metadata/namespace").filter(|one| clean(one)).map(str::to_owned),
                name: name.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::json;

    use super::*;

    fn secret(payload: &[u8]) -> Value {
        json!({
            "type": TYPE,
            "metadata": {
                "name": "sh.helm.release.v1.r.v3", "namespace": "n", "uid": "u",
                "labels": {"owner": "helm", "name": "r", "status": "failed", "version": "3"},
            },
            "data": {"release": BASE64_STANDARD.encode(BASE64_STANDARD.encode(payload))},
        })
    }

    fn packed(value: &Value) -> Vec<u8> {
        let mut gz = GzEncoder::new(Vec::new(), Compression::default());
        gz.write_all(value.to_string().as_bytes()).unwrap();
        gz.finish().unwrap()
    }

    #[test]
    fn a_release_is_understood_without_helm() {
        let manifest = "---\n# Source: x\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: c}\n---\nnonsense: [\n---\n\n";
        let payload = json!({
            "name": "r", "version": 4, "info": {"status": "deployed"}, "manifest": manifest,
            "chart": {"metadata": {"name": "chart", "version": "1.2.3"}},
            "config": {"password": "hunter2"},
        });
        for bytes in [packed(&payload), payload.to_string().into_bytes()] {
            let revision = Revision::read(&secret(&bytes)).unwrap();
            assert_eq!((revision.revision, revision.status.as_str()), (4, "deployed"));
            assert_eq!(revision.chart.as_deref(), Some("chart 1.2.3"));
            let names: Vec<_> = revision.resources.iter().map(|one| one.kind.as_str()).collect();
            assert_eq!(names, ["Service", "ClusterRole"]);
            assert!(!format!("{revision:?}").contains("hunter2"));
        }
    }

    #[test]
    fn a_payload_that_cannot_be_read_leaves_the_labels() {
        let revision = Revision::read(&secret(b"\x1f\x8bnot gzip")).unwrap();
        assert_eq!((revision.revision, revision.status.as_str()), (3, "failed"));
        assert_eq!((revision.chart, revision.resources), (None, vec![]));
        let mut other = secret(b"{}");
        other["type"] = "Opaque".into();
        assert_eq!(Revision::read(&other), None);
    }

    #[test]
    fn only_what_says_that_it_belongs_to_the_release_does() {
        let made = |annotations: Value| {
            let value = json!({"metadata": {"name": "s", "uid": "u", "annotations": annotations}});
            let target = Target::of("services", "/api/v1", &value).unwrap();
            ReleaseObject::read(target, &value, "r", "n").ours
        };
        let (name, place) = ("meta.helm.sh/release-name", "meta.helm.sh/release-namespace");
        assert!(made(json!({name: "r", place: "n"})));
        assert!(!made(json!({name: "r", place: "other"})));
        assert!(!made(json!({name: "other", place: "n"})));
        assert!(!made(json!({name: "r", place: "n", "helm.sh/resource-policy": "keep"})));
        assert!(!made(json!(null)));
    }
}

//! Helm releases from their secrets. Only the fields below are used.

use std::io::Read as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::objects::Target;

const TYPE: &str = "helm.sh/release.v1";
/// A release fits into a secret of 1 MiB.
const MAX_SIZE: u64 = 16 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// Secret of the revision.
    pub target: Target,
    pub revision: u64,
    /// `deployed`, `superseded`, `uninstalling` …
    pub status: String,
    /// Name and version of the chart, if the payload can be read.
    pub chart: Option<String>,
    /// Objects of its manifest; empty if the payload cannot be read.
    pub resources: Vec<ManifestObject>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestObject {
    /// `apps/v1`
    pub api_version: String,
    /// `Deployment`
    pub kind: String,
    /// None means the namespace of the release, if the kind has namespaces.
    pub namespace: Option<String>,
    pub name: String,
}

impl Revision {
    /// Returns none if it is not a secret of Helm.
    pub fn read(secret: &Value) -> Option<Self> {
        if secret["type"] != TYPE {
            return None;
        }
        let target = Target::of("secrets", "/api/v1", secret)?;
        let label = |name: &str| secret["metadata"]["labels"][name].as_str().unwrap_or_default();
        let payload = secret["data"]["release"].as_str().and_then(unpack);
        let release = payload.as_ref();
        let text = |pointer: &str| release?.pointer(pointer)?.as_str();
        let chart = text("/chart/metadata/name")
            .map(|name| format!("{name} {}", text("/chart/metadata/version").unwrap_or_default()));
        Some(Self {
            revision: release
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

/// Decodes base64 of the API, base64 of Helm, gzip, JSON.
fn unpack(data: &str) -> Option<Value> {
    let outer = BASE64_STANDARD.decode(data).ok()?;
    let inner = BASE64_STANDARD.decode(outer).ok()?;
    // Old releases are not compressed.
    if !inner.starts_with(&[0x1f, 0x8b]) {
        return serde_json::from_slice(&inner).ok();
    }
    let mut text = Vec::new();
    GzDecoder::new(inner.as_slice()).take(MAX_SIZE).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Returns the objects of a manifest, without documents that cannot be read. Hooks are not part of a manifest.
fn resources(manifest: &str) -> Vec<ManifestObject> {
    manifest
        .split("\n---")
        .filter_map(|document| {
            let document = document.trim_start_matches("---");
            let value: Value = serde_saphyr::from_str(document).ok()?;
            let text =
                |pointer: &str| value.pointer(pointer)?.as_str().filter(|text| !text.is_empty());
            let name = text("/metadata/name")?;
            // Names become part of a path.
            let clean = |text: &str| !text.contains(['/', '?', '#', '%']);
            let (api_version, kind) = (text("/apiVersion")?, text("/kind")?);
            (clean(name) && clean(kind)).then(|| ManifestObject {
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
    fn release_is_read_without_helm() {
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
    fn unreadable_payload_leaves_the_labels() {
        let revision = Revision::read(&secret(b"\x1f\x8bnot gzip")).unwrap();
        assert_eq!((revision.revision, revision.status.as_str()), (3, "failed"));
        assert_eq!((revision.chart, revision.resources), (None, vec![]));
        let mut other = secret(b"{}");
        other["type"] = "Opaque".into();
        assert_eq!(Revision::read(&other), None);
    }
}

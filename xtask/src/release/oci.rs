//! OCI layouts, written without a network or a builder: the controller's image for all architectures, and the chart.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Value, json};

use super::archive::{Entry, gzip, sha256, tar};
use crate::step::Failed;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/// As the chart has it (`runAsUser`); numbers, since there is no /etc/passwd.
const USER: &str = "65532:65532";
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Content by checksum.
#[derive(Default)]
struct Blobs(BTreeMap<String, Vec<u8>>);

impl Blobs {
    /// Adds content, and returns its descriptor.
    fn add(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let (sum, size) = (sha256(&bytes), bytes.len());
        self.0.insert(sum.clone(), bytes);
        json!({"mediaType": kind, "digest": format!("sha256:{sum}"), "size": size})
    }

    fn add_json(&mut self, kind: &str, value: &Value) -> Value {
        self.add(kind, value.to_string().into_bytes())
    }

    /// Packs a layout with one named content: `skopeo copy oci-archive:FILE:NAME docker://…`.
    fn pack(mut self, mut content: Value, name: &str) -> Result<Vec<u8>, Failed> {
        content["annotations"] = json!({"org.opencontainers.image.ref.name": name});
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [content]});
        let mut entries = vec![
            Entry::file("oci-layout", 0o644, json!({"imageLayoutVersion": "1.0.0"}).to_string()),
            Entry::file("index.json", 0o644, index.to_string()),
            Entry::directory("blobs"),
            Entry::directory("blobs/sha256"),
        ];
        let blobs = std::mem::take(&mut self.0).into_iter();
        entries.extend(
            blobs.map(|(sum, bytes)| Entry::file(format!("blobs/sha256/{sum}"), 0o644, bytes)),
        );
        tar(&entries)
    }
}

/// Facts about the image, in its labels and annotations.
pub(super) struct Labels<'a> {
    pub(super) version: &'a str,
    pub(super) revision: &'a str,
    /// None if nobody said where the sources are.
    pub(super) source: Option<&'a str>,
}

impl Labels<'_> {
    fn values(&self) -> BTreeMap<&'static str, &str> {
        let mut labels = BTreeMap::from([
            ("org.opencontainers.image.title", "mooring"),
            (
                "org.opencontainers.image.description",
                "Shows why an AKS node failed to join its cluster",
            ),
            ("org.opencontainers.image.licenses", "MIT"),
            ("org.opencontainers.image.version", self.version),
            ("org.opencontainers.image.revision", self.revision),
        ]);
        labels.extend(self.source.map(|source| ("org.opencontainers.image.source", source)));
        labels
    }
}

/// Certificates of public authorities as PEM. From a crate, so that they are the same on every machine.
fn certificates() -> String {
    let mut text = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        text += "-----BEGIN CERTIFICATE-----\n";
        let encoded = base64::engine::general_purpose::STANDARD.encode(certificate);
        for line in encoded.as_bytes().chunks(64) {
            text += &String::from_utf8_lossy(line);
            text.push('\n');
        }
        text += "-----END CERTIFICATE-----\n";
    }
    text
}

/// The controller's image: one static binary, certificates, and nothing else. No shell, no user but the one it runs as.
pub(super) fn image(
    binaries: &[(&str, Vec<u8>)],
    license: &[u8],
    labels: &Labels<'_>,
) -> Result<Vec<u8>, Failed> {
    let mut blobs = Blobs::default();
    let mut manifests = Vec::new();
    for (architecture, binary) in binaries {
        let layer = tar(&[
            Entry::file("LICENSE", 0o644, license),
            Entry::directory("etc"),
            Entry::directory("etc/ssl"),
            Entry::directory("etc/ssl/certs"),
            Entry::file(CERTIFICATES, 0o644, certificates()),
            Entry::file("mooring", 0o755, binary.as_slice()),
        ])?;
        let config = json!({
            "architecture": architecture,
            "os": "linux",
            "created": "1970-01-01T00:00:00Z",
            "config": {
                "User": USER,
                "Entrypoint": ["/mooring"],
                "Cmd": ["controller"],
                "ExposedPorts": {"8080/tcp": {}, "8081/tcp": {}},
                "Labels": labels.values(),
            },
            "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", sha256(&layer))]},
            "history": [{"created": "1970-01-01T00:00:00Z", "created_by": "cargo xtask dist"}],
        });
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": blobs.add_json(CONFIG, &config),
            "layers": [blobs.add(LAYER, gzip(&layer)?)],
            "annotations": labels.values(),
        });
        let mut manifest = blobs.add_json(MANIFEST, &manifest);
        manifest["platform"] = json!({"architecture": architecture, "os": "linux"});
        manifests.push(manifest);
    }
    let index = json!({
        "schemaVersion": 2,
        "mediaType": INDEX,
        "manifests": manifests,
        "annotations": labels.values(),
    });
    let index = blobs.add_json(INDEX, &index);
    blobs.pack(index, labels.version)
}

/// The chart as Helm stores it in a registry.
pub(super) fn chart(archive: Vec<u8>, definition: &Value) -> Result<Vec<u8>, Failed> {
    let mut blobs = Blobs::default();
    let text = |member: &str| definition[member].as_str().unwrap_or_default().to_owned();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": blobs.add_json(CHART_CONFIG, definition),
        "layers": [blobs.add(CHART_LAYER, archive)],
        "annotations": {
            "org.opencontainers.image.title": text("name"),
            "org.opencontainers.image.version": text("version"),
            "org.opencontainers.image.description": text("description"),
        },
    });
    let manifest = blobs.add_json(MANIFEST, &manifest);
    blobs.pack(manifest, &text("version"))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::runtime::{blob, read};
    use super::*;

    const LABELS: Labels<'_> =
        Labels { version: "0.2.0", revision: "abc", source: Some("https://git.example/mooring") };

    fn parse(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    #[test]
    fn image_runs_unprivileged_and_has_its_files_for_each_architecture() {
        let binaries = [("amd64", b"one".to_vec()), ("arm64", b"two".to_vec())];
        let layout = image(&binaries, b"MIT", &LABELS).unwrap();
        assert_eq!(layout, image(&binaries, b"MIT", &LABELS).unwrap());
        let files = read(&layout).unwrap();
        let top = parse(&files["index.json"]);
        assert_eq!(
            top["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"],
            "0.2.0"
        );
        let index = parse(blob(&files, &top["manifests"][0]).unwrap());
        for (at, (architecture, binary)) in binaries.iter().enumerate() {
            let descriptor = &index["manifests"][at];
            assert_eq!(descriptor["platform"]["architecture"], *architecture);
            let manifest = parse(blob(&files, descriptor).unwrap());
            let config = parse(blob(&files, &manifest["config"]).unwrap());
            let run = &config["config"];
            assert_eq!(
                (&run["User"], &config["architecture"]),
                (&json!(USER), &json!(architecture))
            );
            assert_eq!(
                (&run["Entrypoint"], &run["Cmd"]),
                (&json!(["/mooring"]), &json!(["controller"]))
            );
            for (label, value) in [
                ("source", "https://git.example/mooring"),
                ("version", "0.2.0"),
                ("revision", "abc"),
            ] {
                assert_eq!(run["Labels"][format!("org.opencontainers.image.{label}")], value);
            }
            let mut layer = Vec::new();
            let packed = blob(&files, &manifest["layers"][0]).unwrap();
            flate2::read::GzDecoder::new(packed).read_to_end(&mut layer).unwrap();
            assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", sha256(&layer)));
            let inside = read(&layer).unwrap();
            assert_eq!(&inside["mooring"], binary);
            let certificates = String::from_utf8_lossy(&inside[CERTIFICATES]);
            assert!(certificates.matches("BEGIN CERTIFICATE").count() > 100);
            assert_eq!(inside.len(), 6, "{:?}", inside.keys());
        }
    }

    #[test]
    fn unknown_source_is_not_a_label() {
        let labels = Labels { source: None, ..LABELS };
        assert!(!labels.values().contains_key("org.opencontainers.image.source"));
    }

    #[test]
    fn chart_is_stored_with_the_types_of_helm() {
        let definition = json!({"name": "mooring", "version": "0.2.0", "description": "d"});
        let files = read(&chart(b"archive".to_vec(), &definition).unwrap()).unwrap();
        let manifest = parse(blob(&files, &parse(&files["index.json"])["manifests"][0]).unwrap());
        assert_eq!(manifest["config"]["mediaType"], CHART_CONFIG);
        assert_eq!(parse(blob(&files, &manifest["config"]).unwrap()), definition);
        assert_eq!(manifest["layers"][0]["mediaType"], CHART_LAYER);
        assert_eq!(blob(&files, &manifest["layers"][0]).unwrap(), b"archive");
    }
}

//! Tests of `mooring bundle NAME` and `mooring trace NODE` against `mooring sim`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::bundle::unpack;
use crate::common::controller::with_objects;
use crate::common::schema::assert_valid;
use crate::common::{Lab, text};

/// Parts of a bundle: file or start of its name, and if it is below the node's directory.
const PARTS: [(&str, bool); 17] = [
    ("nodeclaim.yaml", true),
    ("node.yaml", true),
    ("events.yaml", true),
    ("vm.json", true),
    ("extension.txt", true),
    ("extensions.json", true),
    ("serial.log", true),
    ("record.json", true),
    ("nodepool", false),
    ("aksnodeclass", false),
    ("agentpool", false),
    ("activity-log.json", false),
    ("why.json", false),
    ("fleet.json", false),
    ("trace.json", false),
    ("doctor.json", false),
    ("controller.log", false),
];

/// Returns the printed document, and the files of the archive.
fn bundle(lab: &Lab, out: &Path, words: &[&str]) -> (Value, BTreeMap<String, Vec<u8>>) {
    let (code, document) = lab.json(&[&["bundle", "--out", out.to_str().unwrap()], words].concat());
    assert_eq!(code, 0, "{document}");
    (document, unpack(out).0)
}

fn trace(lab: &Lab, what: &str) -> Value {
    lab.json(&["trace", what]).1
}

fn left_out<'a>(document: &'a Value, file: &str) -> Option<&'a str> {
    let all = document["leftOut"].as_array().unwrap();
    let one = all.iter().find(|one| one["path"].as_str().unwrap().contains(file))?;
    one["why"].as_str()
}

#[test]
fn trace_of_a_node_shows_its_stages_and_the_running_step() {
    let lab = Lab::start("oras-missing", &[]);
    for name in ["default-bad1", "aks-default-bad1"] {
        let shown = lab.run(&["trace", name]).1;
        let first = "✗ default-bad1 failed after 1m55s, while orasLogin was running.\n";
        assert!(shown.starts_with(first), "{shown}");
        for row in [
            "  machine                   40s",
            "✗ bootstrap               1m15s",
            "✗   orasLogin               55s",
        ] {
            assert!(shown.contains(row), "{row}: {shown}");
        }
        // Other nodes of the pool joined.
        assert!(shown.contains("   USUAL  "), "{shown}");
    }
    let document = trace(&lab, "default-bad1");
    let node = &document["nodes"][0];
    let running = "AKS.CSE.orasLogin.oras_login_with_kubelet_identity";
    assert_eq!(
        (&node["running"]["name"], &node["life"]["state"]),
        (&running.into(), &"failed".into())
    );
    assert_eq!(node["diagnosis"]["cause"], "OrasBinaryMissing");
    let shown = lab.run(&["trace", "default-good1"]).1;
    assert!(shown.starts_with("✓ default-good1 joined in 1m40s.\n"), "{shown}");
    for (name, hint) in
        [("default-bda1", "did you mean `default-bad1`"), ("no-such-thing", "hint: ")]
    {
        for command in ["trace", "bundle"] {
            let (code, _, message) = lab.run(&[command, name]);
            assert_eq!(code, 2, "{command} {name}: {message}");
            assert!(message.contains(hint), "{command} {name}: {message}");
        }
    }
}

/// Secrets, one for each source.
const CANARIES: [&str; 9] = [
    "canary-nodeclaim-secret",
    "canary-nodepool-secret",
    "canary-nodeclass-secret",
    "canary-node-secret",
    "canary-event-secret",
    "canary-extension-secret",
    "canary-instance-secret",
    "canary-record-secret",
    "canary-gone-secret",
];

fn scenario() -> String {
    let entry = |claim: &str, secret: &str| {
        json!({
            "id": claim, "at": "2026-11-17T08:00:00Z", "uid": claim, "nodeClaim": claim, "pool": "default",
            "node": format!("aks-{claim}"), "reason": "CSEFailed", "message": format!("password={secret}"),
            "note": "", "key": "k", "code": 211, "cause": "OrasBinaryMissing",
            "summary": format!("password={secret}"),
            "evidence": format!("Authorization: Bearer {secret}"), "launched": "2026-11-17T07:58:46Z",
        })
    };
    let entries = [entry("default-bad1", CANARIES[7]), entry("default-gone1", CANARIES[8])];
    let record = json!({"schema": "mooring.failures/v1", "pools": {"default": entries}});
    let output = |secret: &str| {
        format!(
            "+ curl https://user:{secret}@proxy/\n+ TLS_BOOTSTRAP_TOKEN={secret} x\n+ exit 211\n"
        )
    };
    let scenario = json!({
        "description": "Secrets in every source.",
        "poolBootstrap": {"exitCode": 211, "seconds": 30, "output": output(CANARIES[6])},
        "vms": [{
            "names": ["aks-default-bad1"], "imageVersion": "202601.27.0", "mode": "bootstrappingclient",
            "ageMinutes": 6,
            "bootstrap": {"custom": {"exitCode": 211, "seconds": 75, "output": output(CANARIES[5])}},
        }, {
            "names": ["aks-default-good1"], "imageVersion": "202601.13.0", "mode": "bootstrappingclient",
            "ageMinutes": 60,
        }],
        "objects": [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mooring-system"}},
            {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "mooring-failures", "namespace": "mooring-system"},
                "data": {"failures.json": record.to_string()},
            },
            {
                "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e1", "namespace": "default"},
                "involvedObject": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "default-bad1"},
                "reason": "Failed", "type": "Warning", "message": format!("password={}", CANARIES[4]),
                "source": {"component": "test"}, "firstTimestamp": "2026-11-17T08:00:00Z",
                "lastTimestamp": "2026-11-17T08:00:00Z", "count": 1,
            },
        ],
    });
    serde_json::to_string_pretty(&scenario).unwrap()
}

/// Adds a secret to the annotations of an object.
fn annotate(lab: &Lab, kind: (&str, &str, &str), name: &str, secret: &str) {
    with_objects(&lab.sim, kind, async |objects| {
        let annotations = json!({"example.com/client-secret": secret, "example.com/log": format!("password={secret}")});
        let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}}));
        objects.patch(name, &PatchParams::default(), &patch).await.unwrap();
    });
}

mod slow {
    use super::*;

    #[test]
    fn bundle_of_a_name_redacts_secrets_of_every_source() {
        let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
        fs::write(file.path(), scenario()).unwrap();
        let lab = Lab::start(file.path().to_str().unwrap(), &[]);
        annotate(&lab, ("karpenter.sh", "v1", "NodeClaim"), "default-bad1", CANARIES[0]);
        annotate(&lab, ("karpenter.sh", "v1", "NodePool"), "default", CANARIES[1]);
        let class = ("karpenter.azure.com", "v1beta1", "AKSNodeClass");
        annotate(&lab, class, "default", CANARIES[2]);
        annotate(&lab, ("", "v1", "Node"), "aks-default-good1", CANARIES[3]);
        let out = lab.home.path().join("node.tar.gz");
        let read = |name: &str| {
            let (document, files) = bundle(&lab, &out, &[name]);
            let (_, archive) = unpack(&out);
            for canary in CANARIES {
                for (place, bytes) in [
                    ("the archive", archive.as_slice()),
                    ("stdout", document.to_string().as_bytes()),
                ] {
                    let found =
                        bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
                    assert!(!found, "{name}: {canary} is in {place}");
                }
            }
            let redacted = document["files"].as_array().unwrap().iter();
            let redacted = redacted.filter(|file| file["redactions"].as_u64().unwrap() > 0);
            let redacted: Vec<String> =
                redacted.map(|file| file["path"].as_str().unwrap().to_owned()).collect();
            (redacted, files)
        };
        let (redacted, files) = read("default-bad1");
        assert!(!files.keys().any(|path| path.starts_with("aks-default-gone1/")), "another node");
        let record: Value = serde_json::from_slice(&files["aks-default-bad1/record.json"]).unwrap();
        assert_eq!(record.as_array().unwrap().len(), 1, "{record}");
        for file in [
            "nodeclaim.yaml",
            "events.yaml",
            "vm.json",
            "extension.txt",
            "extensions.json",
            "record.json",
        ] {
            let path = format!("aks-default-bad1/{file}");
            assert!(redacted.contains(&path), "{path}: {redacted:?}");
        }
        for file in ["nodepool-default.yaml", "aksnodeclass-default.yaml"] {
            assert!(redacted.iter().any(|path| path == file), "{file}: {redacted:?}");
        }
        let (redacted, _) = read("aks-default-good1");
        assert!(redacted.contains(&"aks-default-good1/node.yaml".to_owned()), "{redacted:?}");
        let (redacted, _) = read("system/0");
        assert!(redacted.iter().any(|path| path.ends_with("/serial.log")), "{redacted:?}");
        // Only the record has it.
        let (redacted, files) = read("default-gone1");
        assert!(redacted.contains(&"aks-default-gone1/record.json".to_owned()), "{redacted:?}");
        assert!(files.contains_key("why.json") && files.contains_key("trace.json"));
        assert!(files.contains_key("nodepool-default.yaml"), "the pool of the record");
        let shown = lab.run(&["trace", "default-gone1"]).1;
        let first = "✗ default-gone1 failed after 1m14s: OrasBinaryMissing.\n";
        assert!(shown.starts_with(first), "{shown}");
        assert!(shown.contains("the VM was deleted"), "{shown}");
        assert_eq!(
            trace(&lab, "default-gone1")["nodes"],
            trace(&lab, out.to_str().unwrap())["nodes"]
        );
    }

    #[test]
    fn bundle_has_every_part_or_the_reason_why_not() {
        let lab = Lab::start("oras-missing", &[]);
        let out = lab.home.path().join("node.tar.gz");
        for (name, node) in [
            ("default-bad1", "aks-default-bad1"),
            ("aks-default-bad1", "aks-default-bad1"),
            ("default-good1", "aks-default-good1"),
            ("system/0", "aks-system-"),
        ] {
            let (document, files) = bundle(&lab, &out, &[name]);
            assert_valid(&document);
            assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
            let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
            assert_valid(&manifest);
            assert_eq!(manifest["files"], document["files"]);
            for (part, is_of_node) in PARTS {
                let is_it = |path: &String| match path.split_once('/') {
                    Some((directory, file)) => {
                        is_of_node && directory.starts_with(node) && file == part
                    }
                    None => !is_of_node && path.starts_with(part),
                };
                let is_there = files.keys().any(is_it);
                let reason = left_out(&document, part);
                assert!(is_there != reason.is_some(), "{name}, {part}: {is_there} {reason:?}");
            }
            for (file, schema) in [("why.json", "why/v1"), ("doctor.json", "doctor/v1")] {
                let mut read: Value = serde_json::from_slice(&files[file]).unwrap();
                assert_eq!(read["schema"], format!("mooring.{schema}"));
                // Times of reads are left out.
                read["generatedAt"] = "2026-11-17T09:14:00Z".into();
                assert_valid(&read);
            }
            let why: Value = serde_json::from_slice(&files["why.json"]).unwrap();
            let (_, answer) = lab.json(&["why", name]);
            assert_eq!(why["nodes"], answer["nodes"], "{name}");
            // The same spans by name and from the archive.
            let by_name = trace(&lab, name);
            assert_valid(&by_name);
            assert_eq!(by_name["cluster"]["name"], "demo", "{name}");
            let states = by_name["sources"].as_array().unwrap().iter().map(|one| &one["state"]);
            assert_eq!(states.collect::<Vec<_>>(), ["read", "absent", "read"], "{name}");
            assert_eq!(manifest["sources"][2]["state"], "read", "{name}");
            let of_archive = trace(&lab, out.to_str().unwrap());
            assert_valid(&of_archive);
            assert_eq!(by_name["nodes"], of_archive["nodes"], "{name}");
            let again = fs::read(&out).unwrap();
            bundle(&lab, &out, &[name]);
            assert!(
                fs::read(&out).unwrap() == again,
                "{name}: the same cluster gives the same bytes"
            );
        }
        let (document, files) = bundle(&lab, &out, &["system/0"]);
        assert_eq!(left_out(&document, "nodeclaim"), Some("the node belongs to an agent pool"));
        let serial = files.keys().find(|path| path.ends_with("/serial.log")).unwrap();
        assert!(text(&files[serial]).contains("Linux version"), "boot diagnostics are on");
        let (document, _) = bundle(&lab, &out, &["default-bad1"]);
        assert_eq!(left_out(&document, "serial.log"), Some("boot diagnostics are off"));
        let reason = left_out(&document, "controller.log");
        assert_eq!(reason, Some("no controller leads in mooring-system"));
        assert_eq!(left_out(&document, "/node.yaml"), Some("no Node registered"));
        assert_eq!(left_out(&document, "agentpool"), Some("the node belongs to NodePool default"));
    }

    #[test]
    fn run_command_adds_the_files_of_the_node() {
        let lab = Lab::start("oras-missing", &[]);
        let out = lab.home.path().join("node.tar.gz");
        let (document, files) = bundle(&lab, &out, &["default-bad1", "--run-command"]);
        assert_valid(&document);
        assert_eq!(left_out(&document, "var/log/azure"), None, "{document}");
        let directory = "aks-default-bad1/var/log/azure";
        let report: Value =
            serde_json::from_slice(&files[&format!("{directory}/aks/provision.json")]).unwrap();
        assert_eq!(report["ExitCode"], "211");
        let events = format!("{directory}/Microsoft.Azure.Extensions.CustomScript/events/");
        let event = files.keys().find(|path| path.starts_with(&events)).unwrap();
        assert!(text(&files[event]).contains("AKS.CSE.setCPUArch"));
        // The steps are in the timeline, by name and from the archive.
        let (_, shown, progress) =
            lab.run(&["trace", "default-bad1", "--run-command", "-o", "json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let is_event = |document: &Value| document.to_string().contains("\"sources\":[\"event\"");
        assert!(is_event(&shown), "{shown}");
        assert_eq!(shown["nodes"], trace(&lab, out.to_str().unwrap())["nodes"]);
        assert!(progress.contains("with Run Command, part 1; each takes about 30s"), "{progress}");
        assert!(!is_event(&trace(&lab, "default-bad1")));
        let screen = lab.run(&["trace", "default-bad1", "--run-command"]).1;
        assert!(screen.contains("and files of the node."), "{screen}");

        let (document, _) = bundle(&lab, &out, &["default-bad1"]);
        let why = left_out(&document, "var/log/azure").unwrap();
        assert!(why.starts_with("`--run-command` was not given"), "{why}");
        let (document, _) = bundle(&lab, &out, &["default", "--run-command"]);
        let why = left_out(&document, "var/log/azure").unwrap();
        assert_eq!(why, "`--run-command` needs the name of one node");
        for command in ["trace", "bundle"] {
            let (code, _, err) = lab.run(&[command, "/var/log", "--run-command"]);
            assert!(code == 2 && err.contains("`/var/log` is a path"), "{err}");
        }
    }

    #[test]
    fn bundle_without_azure_has_the_files_of_the_cluster() {
        let lab = Lab::start("oras-missing", &[]);
        let out = lab.home.path().join("node.tar.gz");
        let (document, files) = bundle(&lab, &out, &["default-bad1", "--azure", "never"]);
        let never = Some("Azure was not asked (--azure never)");
        assert_eq!(left_out(&document, "vm.json"), never);
        assert!(
            files.contains_key("aks-default-bad1/nodeclaim.yaml")
                && files.contains_key("fleet.json")
        );
        let words = ["bundle", "default-bad1", "--out", out.to_str().unwrap(), "-o", "json"];
        let unreachable = [("AZURE_RESOURCE_MANAGER_ENDPOINT", "https://127.0.0.1:1/")];
        let (code, shown, err) = lab.run_with(&unreachable, &words);
        assert_eq!(code, 3, "{err}");
        let document: Value = serde_json::from_str(&shown).unwrap();
        let why = left_out(&document, "vm.json").unwrap();
        assert!(why.starts_with("Azure was not read: "), "{why}");
        assert!(unpack(&out).0.contains_key("aks-default-bad1/nodeclaim.yaml"));
    }
}

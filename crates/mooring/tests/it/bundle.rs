//! Tests of `mooring bundle`: it has the files that support needs, and no secrets.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// Files that a bundle may contain.
const FILES: [&str; 24] = [
    "var/log/azure/aks/provision.json",
    "var/log/azure/aks/provision.json.previous",
    "var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/1794708001000.json",
    "var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/1794708002000.json",
    "var/log/azure/cluster-provision.log",
    "var/log/azure/cluster-provision-cse-output.log",
    "var/log/azure/aks-node-controller.log",
    "var/log/azure/aks-node-controller.output",
    "var/log/azure/custom-script/handler.log",
    "var/log/azure/aks/cse-aks-log-collector.log",
    "var/log/azure/containerd-status.log",
    "var/log/cloud-init.log",
    "var/log/cloud-init-output.log",
    "var/log/waagent.log",
    "opt/azure/containers/setup-custom-search-domain.log",
    "opt/m",
    "tmp/curl_verbose.out",
    "tmp/oras_verbose.out",
    "etc/os-release",
    "opt/azure/components.json",
    "opt/azure/vhd-install.complete",
    "opt/azure/containers/aks-node-controller-hotfix.json",
    "opt/azure/containers/aks-node-controller-hotfix-state.json",
    "run/aks-node-controller/provision.json",
];

/// Files of the node that must not be collected.
const FORBIDDEN: [&str; 4] = [
    "var/log/azure/aks/cloud-config.txt",
    "var/lib/waagent/protected.settings",
    "etc/kubernetes/azure.json",
    "var/log/azure/unknown.bin",
];

/// Secrets of the node config, redacted in any encoding.
const KNOWN: [&str; 4] = [
    "canary-token.\"<&>/+\\é~",
    "canary principal %25?=#'$x",
    "canary_realm!*()",
    "canary-proxy-password",
];
/// Secrets that are only redacted by pattern.
const LIKELY: [&str; 3] = [
    "eyJhbGciOiJSUzI1NiJ9.eyJjYW5hcnkiOjF9.Y2FuYXJ5LXNpZ25hdHVyZQ",
    "abc123.0123456789canary",
    "CanaryAccountKey0123456789CanaryAccountKey0123456789==",
];

fn forms(secret: &str) -> Vec<String> {
    let bytes = secret.as_bytes();
    let mut forms = vec![secret.to_owned()];
    for before in ["", "x", "xy"] {
        let whole = format!("{before}{secret}");
        // The characters at both ends also have bits of their neighbors.
        let (first, last) = ((before.len() * 8).div_ceil(6), whole.len() * 8 / 6);
        forms.push(STANDARD.encode(&whole)[first..last].to_owned());
        forms.push(URL_SAFE_NO_PAD.encode(&whole)[first..last].to_owned());
    }
    forms.push(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
    forms.push(bytes.iter().map(|byte| format!("{byte:02X}")).collect());
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let percent = |byte: &u8| {
        if is_plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    };
    forms.push(bytes.iter().map(percent).collect());
    let quoted = serde_json::to_string(secret).unwrap();
    forms.push(quoted[1..quoted.len() - 1].to_owned());
    forms
}

/// Lines with secrets, as scripts and tools print them.
fn leaks() -> String {
    let mut text = String::from("+ set -x\n");
    for form in KNOWN.iter().flat_map(|secret| forms(secret)) {
        text += &format!("+ echo '{form}' and more\n");
    }
    text += &format!("> Authorization: Bearer {}\n", LIKELY[0]);
    text += &format!("+ kubeadm join --token {}\n", LIKELY[1]);
    text += &format!("AccountKey={};x\n+ exit 211\n", LIKELY[2]);
    text
}

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Creates a node with all secrets in all files.
fn create_leaking_node(root: &Path) {
    let config = json!({
        "version": "v1",
        "bootstrapping_config": {"tls_bootstrapping_token": KNOWN[0]},
        "auth_config": {"service_principal_secret": KNOWN[1]},
        "custom_search_domain_config": {"domain_name": "d", "realm_user": "u", "realm_password": KNOWN[2]},
        "http_proxy_config": {"http_proxy": format!("http://user:{}@proxy:3128", KNOWN[3])},
    });
    write(root, "opt/azure/containers/aks-node-controller-config.json", config.to_string());
    write(
        root,
        "opt/azure/containers/aks-node-controller-nbc-cmd.sh",
        "TLS_BOOTSTRAP_TOKEN=\"from-the-nbc-command\" x",
    );
    for path in FILES.into_iter().chain(FORBIDDEN) {
        let text = leaks() + "+ echo from-the-nbc-command\n";
        let of_json = Path::new(path).extension().is_some_and(|extension| extension == "json");
        let is_json = of_json && !path.ends_with("2000.json");
        let content = if is_json {
            json!({"ExitCode": "211", "Output": text, "x": [{"y": text}]}).to_string()
        } else {
            text
        };
        write(root, path, content);
    }
}

fn bundle(root: &Path, out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    command.arg("bundle").arg(root).arg("--out").arg(out).stdin(Stdio::null()).output().unwrap()
}

/// Returns the files of a bundle, and the uncompressed archive.
pub(crate) fn unpack(path: &Path) -> (BTreeMap<String, Vec<u8>>, Vec<u8>) {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut plain).unwrap();
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(&plain[..]).entries().unwrap() {
        let mut entry = entry.unwrap();
        assert_eq!((entry.header().mtime().unwrap(), entry.header().mode().unwrap()), (0, 0o600));
        let name = entry
            .path()
            .unwrap()
            .to_str()
            .unwrap()
            .strip_prefix("mooring-bundle/")
            .unwrap()
            .to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(name, bytes);
    }
    (files, plain)
}

fn manifest(files: &BTreeMap<String, Vec<u8>>) -> Value {
    serde_json::from_slice(&files["manifest.json"]).unwrap()
}

fn skip_reason<'a>(manifest: &'a Value, path: &str) -> Option<&'a str> {
    manifest["leftOut"].as_array().unwrap().iter().find(|file| file["path"] == path)?["why"]
        .as_str()
}

fn directories() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let (root, out) = (directory.path().join("node"), directory.path().join("out.tar.gz"));
    fs::create_dir(&root).unwrap();
    (directory, root, out)
}

#[test]
fn bundle_contains_no_secret_in_any_encoding() {
    let (_directory, root, out) = directories();
    create_leaking_node(&root);
    let done = bundle(&root, &out);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    let (files, plain) = unpack(&out);
    let mut searched: Vec<(&str, &[u8])> =
        files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    searched.extend([
        ("the archive", &plain[..]),
        ("stdout", &done.stdout),
        ("stderr", &done.stderr),
    ]);
    let known = KNOWN.iter().flat_map(|secret| forms(secret)).chain(LIKELY.map(str::to_owned));
    for form in known.chain(["from-the-nbc-command".to_owned()]) {
        for (place, bytes) in &searched {
            let found = bytes.windows(form.len()).any(|window| window == form.as_bytes());
            assert!(!found, "{form} is in {place}");
        }
    }
    for path in FILES {
        assert!(files[path].windows(8).any(|window| window == b"exit 211"), "{path} is readable");
    }
    assert_eq!(files.len(), FILES.len() + 1, "no other files");
}

#[test]
fn manifest_lists_collected_and_skipped_files() {
    let (_directory, root, out) = directories();
    create_leaking_node(&root);
    assert!(bundle(&root, &out).status.success());
    let (files, _) = unpack(&out);
    let manifest = manifest(&files);
    for file in manifest["files"].as_array().unwrap() {
        let bytes = &files[file["path"].as_str().unwrap()];
        let hash: String = ring::digest::digest(&ring::digest::SHA256, bytes)
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(
            (file["sha256"].as_str(), file["bytes"].as_u64()),
            (Some(&*hash), Some(bytes.len() as u64))
        );
        assert!(
            file["redactions"].as_u64().unwrap() > 20 && !file["why"].as_str().unwrap().is_empty(),
            "{file}"
        );
    }
    let config = "opt/azure/containers/aks-node-controller-config.json";
    assert!(skip_reason(&manifest, config).unwrap().contains("secrets"));
    let first = fs::read(&out).unwrap();
    assert!(bundle(&root, &out).status.success());
    assert_eq!(fs::read(&out).unwrap(), first, "the same node gives the same bytes");
}

#[test]
fn secrets_of_an_invalid_config_are_still_redacted() {
    let (_directory, root, out) = directories();
    create_leaking_node(&root);
    let path = "opt/azure/containers/aks-node-controller-config.json";
    let whole = fs::read_to_string(root.join(path)).unwrap();
    for broken in [whole[..whole.len() - 1].to_owned(), whole.replacen('{', "{\"vm_size\": 5, ", 1)]
    {
        write(&root, path, &broken);
        assert!(bundle(&root, &out).status.success());
        let (files, plain) = unpack(&out);
        for form in KNOWN.iter().flat_map(|secret| forms(secret)) {
            let found = plain.windows(form.len()).any(|window| window == form.as_bytes());
            assert!(!found, "{form}");
        }
        let manifest = manifest(&files);
        assert!(
            skip_reason(&manifest, path).unwrap().contains("redacted by pattern"),
            "{manifest:#}"
        );
    }
}

#[test]
fn links_and_pipes_in_the_root_are_skipped() {
    let (directory, root, out) = directories();
    let outside = directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("shadow"), "do-not-collect").unwrap();
    write(&root, "var/log/azure/aks/provision.json", r#"{"ExitCode":"0"}"#);
    write(&root, "var/log/azure/cluster-provision.log", b"\x7fELF\0binary");
    fs::create_dir_all(root.join("tmp")).unwrap();
    symlink(outside.join("shadow"), root.join("tmp/oras_verbose.out")).unwrap();
    fs::hard_link(outside.join("shadow"), root.join("tmp/curl_verbose.out")).unwrap();
    symlink(&outside, root.join("etc")).unwrap();
    fs::create_dir_all(root.join("opt")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("opt/m")).status().unwrap().success());
    assert!(bundle(&root, &out).status.success());
    let (files, plain) = unpack(&out);
    assert!(!plain.windows(14).any(|window| window == b"do-not-collect"));
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["manifest.json", "var/log/azure/aks/provision.json"]
    );
    let manifest = manifest(&files);
    for (path, why) in [
        ("tmp/oras_verbose.out", "symbolic link"),
        ("tmp/curl_verbose.out", "hard link"),
        ("etc/os-release", "symbolic link"),
        ("opt/m", "not a regular file"),
        ("var/log/azure/cluster-provision.log", "not a text file"),
    ] {
        assert!(
            skip_reason(&manifest, path).is_some_and(|reason| reason.contains(why)),
            "{path}: {manifest:#}"
        );
    }
}

#[test]
fn timeline_of_a_bundle_equals_that_of_its_node() {
    let (_directory, _, out) = directories();
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures/failed");
    assert!(bundle(&node, &out).status.success());
    let trace = |path: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
        let output = command.arg("trace").arg(path).args(["-o", "json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(trace(&out)["nodes"], trace(&node)["nodes"]);
}

#[test]
fn archive_is_named_after_the_directory() {
    let (directory, root, _) = directories();
    write(&root, "var/log/azure/aks/provision.json", r#"{"ExitCode":"0"}"#);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    command.current_dir(directory.path()).args(["bundle", "node", "-o", "name"]);
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.stdout, b"mooring-bundle-node.tar.gz\n");
    assert!(directory.path().join("mooring-bundle-node.tar.gz").exists());
}

#[test]
fn directory_without_node_files_is_an_error_with_a_hint() {
    let (_directory, root, out) = directories();
    let done = bundle(&root, &out);
    assert_eq!(done.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&done.stderr).contains("hint: ") && !out.exists());
}

//! The boothook, really executed by bash.

use std::collections::BTreeMap;
use std::process::Command;

use mooring_contract::custom_data::{CONFIG_PATH, FEATURES_PATH, Features};
use proptest::prelude::*;

use super::multipart_reader::read;
use super::node::Node;
use super::samples::{TRICKY, boothook, features};

const CONFIG: &[u8] = b"{\n  \"note\":  \"\xf0\x9f\x9a\xa2 $HOME `id` 'EOF'\"\n}\nEOF\n\0\xff";
const LAUNCHER: &str = "/opt/azure/containers/aks-node-controller-launcher.sh";
const PRELOAD: &str = "/opt/azure/containers/provision_preload.sh";

fn script(config: &[u8], features: &Features) -> String {
    read(boothook(config, features).expose_raw()).parts.swap_remove(0).body
}

#[test]
fn bash_accepts_the_boothook_with_toggles_and_without() {
    for features in [Features::default(), features(TRICKY)] {
        let node = Node::new();
        node.write("/boothook", &script(CONFIG, &features));
        let check = Command::new("bash").arg("-n").arg(node.path("/boothook")).output().unwrap();
        assert!(check.status.success() && check.stderr.is_empty(), "{check:?}");
    }
}

#[test]
fn config_and_toggles_are_unchanged_and_readable_by_root_only() {
    let node = Node::new();
    node.boot(&script(CONFIG, &features(TRICKY)));
    assert_eq!(node.read(CONFIG_PATH), CONFIG);
    assert_eq!(node.mode(CONFIG_PATH), 0o600);
    let toggles = "ENABLE_PROVISIONING_HOTFIX=true\nZ_LAST=a=b 'c' \"d\" $(e) `f` \\g\n_under=\n";
    assert_eq!(
        node.read(FEATURES_PATH).escape_ascii().to_string(),
        toggles.escape_default().to_string()
    );
    assert_eq!(node.mode(FEATURES_PATH), 0o600);
}

#[test]
fn toggles_file_is_not_written_without_toggles() {
    let node = Node::new();
    node.boot(&script(CONFIG, &features(&[("not-a-name", "1")])));
    assert_eq!(node.read(CONFIG_PATH), CONFIG);
    assert!(!node.has(FEATURES_PATH));
}

#[test]
fn launcher_starts_after_both_files_and_its_output_is_logged() {
    let node = Node::new();
    let here = |path| node.path(path).display().to_string();
    node.write(LAUNCHER, &format!("cat '{}' '{}'", here(FEATURES_PATH), here(CONFIG_PATH)));
    node.boot(&script(b"{}", &features(&[("A", "1")])));
    assert_eq!(node.read("/var/log/azure/aks-node-controller.output"), b"A=1\n{}");
    let notes = String::from_utf8(node.read("/notes")).unwrap();
    assert!(notes.contains("logger -t aks-boothook boothook start "), "{notes}");
    assert!(notes.contains("logger -t aks-boothook launching aks-node-controller "), "{notes}");
    assert!(!notes.contains("systemctl"), "{notes}");
}

#[test]
fn an_image_without_a_launcher_gets_its_unit_started() {
    let node = Node::new();
    node.boot(&script(b"{}", &Features::default()));
    let notes = String::from_utf8(node.read("/notes")).unwrap();
    assert!(notes.ends_with("systemctl start --no-block aks-node-controller.service\n"), "{notes}");
}

#[test]
fn preload_runs_in_parallel_with_boothook() {
    let node = Node::new();
    node.write(PRELOAD, ": >preloaded");
    node.boot(&script(b"{}", &Features::default()));
    assert!(node.has("/preloaded"));
}

#[test]
fn bash_leaves_nuls_out_and_that_toggle_is_named_as_altered() {
    let features = features(&[("A", "x\0y")]);
    assert_eq!(features.altered_keys().collect::<Vec<_>>(), ["A"]);
    let node = Node::new();
    node.boot(&script(b"{}", &features));
    assert_eq!(node.read(FEATURES_PATH), b"A=xy\n");
}

mod slow {
    use super::*;

    proptest! {
        // Each case starts a handful of processes.
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn rendered_config_and_toggles_reach_the_node(
            config in proptest::collection::vec(any::<u8>(), 0..2_000),
            toggles in proptest::collection::btree_map("[a-zA-Z_][a-zA-Z0-9_]{0,8}", "[^\r\n\0]{0,40}", 1..5),
        ) {
            let toggles: BTreeMap<String, String> = toggles;
            let lines: String = toggles.iter().flat_map(|(key, value)| [key, "=", value, "\n"]).collect();
            let node = Node::new();
            node.boot(&script(&config, &Features::from(toggles)));
            prop_assert_eq!(node.read(CONFIG_PATH), config);
            prop_assert_eq!(node.read(FEATURES_PATH), lines.into_bytes());
        }
    }
}

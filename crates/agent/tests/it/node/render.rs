//! `render` of a config: what is printed, and why not.

use crate::support::{Node, text};

#[test]
fn cse_command_needs_no_config_but_checks_a_given_one() {
    let node = Node::new();
    let plain = node.run(&["render", "cse"]);
    let command = "/opt/azure/containers/aks-node-controller provision-wait\n";
    assert_eq!((text(&plain.stdout).as_str(), plain.status.code()), (command, Some(0)));
    let good = node.write_typed("good.json", r#"{"version": "v1"}"#);
    let output = node.run(&["render", "cse", "--provision-config", &good]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (command, Some(0)));
    let bad = node.write_typed("bad.json", "{");
    let output = node.run(&["render", "cse", "--provision-config", &bad]);
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(1)));
    assert!(text(&output.stderr).starts_with("aks-node-controller: "));
}

#[test]
fn environment_and_custom_data_need_a_config() {
    let node = Node::new();
    for what in ["env", "custom-data"] {
        let output = node.run(&["render", what]);
        assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(1)));
        let expected = "aks-node-controller: --provision-config FILE is required\n";
        assert!(text(&output.stderr).starts_with(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn given_component_list_replaces_that_of_the_image() {
    let node = Node::new();
    let config = node.write_typed("config.json", r#"{"version": "v1"}"#);
    let words = ["render", "env", "--provision-config", &config];
    let output = node.run(&words);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--components FILE"), "{}", text(&output.stderr));
    let components = node.write_typed("components.json", crate::support::COMPONENTS);
    let output = node.run(&[&words[..], &["--components", &components]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 164);
}

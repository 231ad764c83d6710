//! A whole bootstrap in a directory, from the config of custom data to the result.

use std::process::{Child, Output};

use crate::support::{LOG, Node, REPORT, SENTINEL, end_of, eventually, text};

const START: &str = include_str!("../../fixtures/provision_start.sh");
const CONFIG: &str = r#"{"version": "v1", "cluster_config": {"location": "eastus"}}"#;
const SHORT_TIMEOUT: &str = r#"{"version": "v1", "cse_timeout": 1}"#;

/// Starts a wait, provisions with this work, and returns both ends.
fn bootstrap(node: &Node, config: &str, work: &str) -> (Output, Output) {
    let wait = start_wait(node);
    let config = node.write_typed("config.json", config);
    let words = ["provision", "--provision-config", &config];
    let provision = end_of(node.command(&words).env("WORK", work).spawn().unwrap());
    (provision, end_of(wait))
}

fn start_wait(node: &Node) -> Child {
    let wait = node.start(&["provision-wait"]);
    eventually("the wait's first record", || {
        node.read(LOG).is_some_and(|log| log.contains("started"))
    });
    wait
}

fn exit_codes((provision, wait): &(Output, Output)) -> (Option<i32>, Option<i32>) {
    (provision.status.code(), wait.status.code())
}

#[test]
fn successful_bootstrap_is_reported_as_success() {
    let node = Node::with_script(START);
    let ends = bootstrap(&node, CONFIG, "echo \"$LOCATION $ADMINUSER\"");
    assert_eq!(exit_codes(&ends), (Some(0), Some(0)), "{}", text(&ends.0.stderr));
    let printed = text(&ends.1.stdout);
    assert!(printed.starts_with(r#"{"ExitCode": "0""#) && printed.ends_with("}\n\n"), "{printed}");
    let log = node.read("/var/log/azure/cluster-provision.log").unwrap();
    assert_eq!(log, "eastus azureuser\n");
}

#[test]
fn failed_bootstrap_is_reported_with_its_code() {
    let node = Node::with_script(START);
    let ends = bootstrap(&node, CONFIG, "echo no way out; exit 50");
    assert_eq!(exit_codes(&ends), (Some(50), Some(50)));
    assert!(text(&ends.1.stdout).starts_with(r#"{"ExitCode": "50""#));
    assert!(text(&ends.1.stderr).contains("provision failed: exitCode=50"));
    // The scripts' report is unchanged; the printed one also has the cause.
    assert!(!node.read(REPORT).unwrap().contains("Diagnosis"));
    assert!(
        text(&ends.1.stdout)
            .contains("\"Diagnosis\":\"OutboundConnFail (50 ERR_OUTBOUND_CONN_FAIL; ")
    );
}

#[test]
fn slow_bootstrap_is_reported_as_timeout() {
    let node = Node::with_script(START);
    let ends = bootstrap(&node, SHORT_TIMEOUT, "sleep 60");
    assert_eq!(exit_codes(&ends), (Some(124), Some(124)));
}

#[test]
fn baking_an_image_releases_those_who_wait() {
    let node = Node::with_script(START);
    let config = r#"{"version": "v1", "pre_provision_only": true}"#;
    let ends = bootstrap(&node, config, "true");
    assert_eq!(exit_codes(&ends), (Some(0), Some(0)));
    assert!(text(&ends.1.stderr).contains("an image was baked"));
    assert!(!node.exists(SENTINEL));
}

#[test]
fn a_node_made_from_a_baked_image_is_not_taken_for_ready() {
    let node = Node::with_script(START);
    node.write("/opt/azure/containers/base_prep.complete", "");
    node.write("/opt/azure/containers/aks-node-controller-config.json", CONFIG);
    let ends = bootstrap(&node, CONFIG, "exit 51");
    assert_eq!(exit_codes(&ends), (Some(51), Some(51)));
}

#[test]
fn the_scripts_see_the_whole_environment_below_the_root() {
    let node = Node::with_script("env -0 > \"$(dirname \"$0\")/seen\"");
    let config = node.write_typed("config.json", CONFIG);
    let inherited = node
        .command(&["provision", "--provision-config", &config])
        .env("LOCATION", "zzz")
        .env("MINE", "1")
        .output();
    assert_eq!(inherited.unwrap().status.code(), Some(0));
    let seen = node.read("/opt/azure/containers/seen").unwrap();
    let value = |name: &str| {
        seen.split('\0').find_map(|pair| pair.strip_prefix(&format!("{name}="))).map(str::to_owned)
    };
    // A computed variable beats an inherited one, whichever sorts later.
    assert_eq!(value("LOCATION").as_deref(), Some("eastus"));
    assert_eq!(value("MINE").as_deref(), Some("1"));
    let helpers = node.at("/opt/azure/containers/provision_source.sh");
    assert_eq!(value("CSE_HELPERS_FILEPATH"), Some(helpers.to_str().unwrap().to_owned()));
    // `render env` shows the same variables, without the root.
    let rendered = text(&node.run(&["render", "env", "-0", "--provision-config", &config]).stdout);
    for pair in rendered.split_terminator('\0') {
        let name = pair.split_once('=').unwrap().0;
        assert!(value(name).is_some(), "{name} is rendered, but the scripts do not see it");
    }
    assert_eq!(rendered.split_terminator('\0').count(), 164);
    assert!(rendered.contains("CSE_HELPERS_FILEPATH=/opt/azure/containers/provision_source.sh\0"));
}

#[test]
fn image_that_is_baked_before_the_wait_ends_it() {
    const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";
    const NBC_PATH: &str = "/opt/azure/containers/aks-node-controller-nbc-cmd.sh";
    for (path, content, exit_code) in [
        (CONFIG_PATH, r#"{"version": "v1", "pre_provision_only": true}"#, 0),
        (CONFIG_PATH, r#"{"version": "v1", "pre_provision_only": false}"#, 124),
        (NBC_PATH, "PRE_PROVISION_ONLY=true", 0),
        (NBC_PATH, "PRE_PROVISION_ONLY=false", 124),
    ] {
        let node = Node::with_script("");
        node.write("/opt/azure/containers/base_prep.complete", "");
        node.write(path, content);
        let timeout = if exit_code == 0 { "--timeout=1h" } else { "--timeout=300ms" };
        let output = node.run(&["provision-wait", timeout]);
        assert_eq!(output.status.code(), Some(exit_code), "{content}");
    }
}

#[test]
fn baking_is_not_assumed_where_custom_data_cannot_be_read() {
    const CONFIG_PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";
    const NBC_PATH: &str = "/opt/azure/containers/aks-node-controller-nbc-cmd.sh";
    const BAKES: &str = r#"{"version": "v1", "pre_provision_only": true}"#;
    let large = format!("{BAKES}{}", " ".repeat(4 << 20));
    for (what, make) in [
        ("missing", (&|_: &Node| {}) as &dyn Fn(&Node)),
        ("a dangling link", &|node| {
            std::os::unix::fs::symlink("/nowhere", node.at(CONFIG_PATH)).unwrap();
        }),
        ("a directory", &|node| std::fs::create_dir(node.at(CONFIG_PATH)).unwrap()),
        ("too large", &|node| node.write(CONFIG_PATH, &large)),
        ("cut", &|node| node.write(CONFIG_PATH, &BAKES[..BAKES.len() - 1])),
        // An NBC command decides alone.
        ("beside an NBC command that is too large", &|node| {
            node.write(CONFIG_PATH, BAKES);
            node.write(NBC_PATH, &large);
        }),
        ("beside an NBC command that is a dangling link", &|node| {
            node.write(CONFIG_PATH, BAKES);
            std::os::unix::fs::symlink("/nowhere", node.at(NBC_PATH)).unwrap();
        }),
    ] {
        let node = Node::with_script("");
        node.write("/opt/azure/containers/base_prep.complete", "");
        make(&node);
        let output = node.run(&["provision-wait", "--timeout=300ms"]);
        assert_eq!(output.status.code(), Some(124), "{what}: {}", text(&output.stderr));
    }
    // Custom data that comes later is not missed.
    let node = Node::with_script("");
    node.write("/opt/azure/containers/base_prep.complete", "");
    let wait = start_wait(&node);
    node.write(CONFIG_PATH, BAKES);
    assert_eq!(end_of(wait).status.code(), Some(0));
}

#[test]
fn end_of_a_result_without_a_report_is_printed() {
    let node = Node::with_script("");
    node.write(REPORT, format!("begin{}the end", ".".repeat(5000)));
    node.write(SENTINEL, "");
    let output = node.run(&["provision-wait"]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert_eq!(printed.len(), 4096);
    assert!(printed.starts_with('.') && printed.ends_with(".the end\n"), "{printed}");
}

#[test]
fn inherited_value_is_not_a_difference_of_the_config() {
    for (inherited, is_listed) in [("eastus", false), ("westus", true)] {
        let node = Node::with_script("");
        let config = node.write_typed("config.json", CONFIG);
        let nbc = node.write_typed("nbc.sh", "true");
        let words = ["provision", "--nbc-cmd", &nbc, "--provision-config", &config];
        let output = end_of(node.command(&words).env("LOCATION", inherited).spawn().unwrap());
        let log = text(&output.stderr);
        assert!(log.contains("env var differences ("), "{log}");
        assert_eq!(log.contains("only-in-pc: LOCATION;"), is_listed, "{log}");
    }
}

#[test]
fn warnings_that_are_not_logged_are_counted() {
    let node = Node::with_script("");
    let unknown: Vec<_> = (0..1000).map(|number| format!(r#""unknown_{number}": 1"#)).collect();
    for (fields, is_more) in [(&unknown[..], true), (&unknown[..1], false)] {
        let config = format!(r#"{{"version": "v1", {}}}"#, fields.join(", "));
        let config = node.write_typed("config.json", config);
        let output = node.run(&["provision", "--dry-run", "--provision-config", &config]);
        let log = text(&output.stderr);
        assert!(log.contains("ignored in the provision config"), "{log}");
        assert_eq!(log.contains("more was ignored in the provision config"), is_more, "{log}");
    }
}

//! `check-hotfix`: cases 5, 7 to 25 and 31.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::service::{Authority, NAME, Reply, Service};
use super::{
    CONFIG, NBC, OWN, POINTER, POLICY, events, left_over, logged, networked, response, world,
};
use crate::fault_injection::{EACCES, Faulty};
use crate::node::panics::panic_at;
use crate::support::{Node, text};

pub(super) const HOST: &str = "demo.hcp.westeurope.azmk8s.io";
pub(super) const SIGNATURE: &str = r#"{"encoding":"pkcs7","signature":"canary-signature"}"#;
pub(super) const MAP: &str = r#"{"hotfixes":{"202604.01":"202604.01.1"}}"#;

fn config(ca: &str, rest: &str) -> String {
    let ca = STANDARD.encode(ca);
    format!(
        r#"{{"version":"v1","api_server_config":{{"api_server_name":"{HOST}:6443"}},"kubernetes_ca_cert":"{ca}"{rest}}}"#
    )
}

/// A node whose config names the CA, and a world in which IMDS responds.
pub(super) fn node_with(ca: &str, rest: &str) -> (Node, Faulty) {
    let node = Node::new();
    node.write(CONFIG, config(ca, rest));
    let world = networked(&node, |_| Ok(response(200, SIGNATURE)));
    (node, world)
}

/// Runs the command against a service; returns level and message of the event.
pub(super) fn outcome(node: &Node, world: &mut Faulty) -> (String, String) {
    assert_eq!(world.run_as(OWN, &["check-hotfix"]), 0);
    let mut events = events(node, "CheckHotfix");
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(!text(&world.err).contains("canary"), "the credential is not logged");
    assert_eq!(left_over(node), [""; 0]);
    events.remove(0)
}

/// A node with a pointer, asked of a service that replies so.
pub(super) fn checked(pointer: Option<&str>, reply: Reply, rest: &str) -> (Node, String, String) {
    let authority = Authority::new();
    let service = Service::start(&authority, NAME, reply);
    let (node, mut world) = node_with(&authority.pem(), rest);
    if let Some(pointer) = pointer {
        node.write(POINTER, pointer);
    }
    world.live_patching = Some(service.port);
    let (level, message) = outcome(&node, &mut world);
    (node, level, message)
}

pub(super) fn served(json: &str) -> Reply {
    Reply::Config(json.to_owned())
}

#[test]
fn map_of_the_service_is_staged_7_8_9_16() {
    let (node, level, message) = checked(None, served(MAP), "");
    assert_eq!(
        (level.as_str(), message.as_str()),
        ("Informational", "check-hotfix outcome=lpsRead")
    );
    assert_eq!(node.read(POINTER).unwrap(), MAP);
    assert_eq!(node.mode(POINTER), 0o644);
    assert!(logged(&node).contains(&"INFO check-hotfix completed".to_owned()));

    let other = r#"{"hotfixes":{"202605.01":"202605.01.1"}}"#;
    let (node, level, message) = checked(None, served(other), "");
    assert_eq!(level, "Informational");
    assert_eq!(message, "check-hotfix outcome=noHotfixForBase");
    assert_eq!(node.read(POINTER).unwrap(), other);

    let authority = Authority::new();
    let service = Service::start(&authority, NAME, served(MAP));
    let (node, mut world) = node_with(&authority.pem(), "");
    world.live_patching = Some(service.port);
    assert_eq!(world.run_as("202607.15.0", &["check-hotfix"]), 0);
    let message = events(&node, "CheckHotfix").remove(0).1;
    assert_eq!(message, "check-hotfix outcome=noHotfixForBase");
    assert_eq!(node.read(POINTER).unwrap(), MAP, "the whole map is staged");

    let (node, mut world) = node_with(&authority.pem(), "");
    let old =
        r#"{"hotfixes":{"x":"y"},"scripts_version":"202604.01.2","version":"202604.01.3","z":1}"#;
    node.write(POINTER, old);
    std::fs::set_permissions(node.at(POINTER), std::fs::Permissions::from_mode(0o600)).unwrap();
    world.live_patching = Some(service.port);
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=lpsRead");
    let expected = r#"{"version":"202604.01.3","scripts_version":"202604.01.2","hotfixes":{"202604.01":"202604.01.1"}}"#;
    assert_eq!(node.read(POINTER).unwrap(), expected);
    assert_eq!(node.mode(POINTER), 0o600);

    let (node, _, message) = checked(Some("not json"), served(MAP), "");
    assert_eq!(message, "check-hotfix outcome=lpsRead");
    assert_eq!(node.read(POINTER).unwrap(), MAP);
    assert!(logged(&node).iter().any(|line| line.starts_with("WARN could not read existing")));
}

#[test]
fn response_without_a_map_leaves_the_pointer_alone_10_15() {
    let old = r#"{ "scripts_version":"202604.01.2" }"#;
    for config in ["", " \n", "{}", r#"{"hotfixes":{}}"#, r#"{"version":"x"}"#] {
        let (node, level, message) = checked(Some(old), served(config), "");
        assert_eq!(level, "Informational", "{config}");
        assert_eq!(message, "check-hotfix outcome=noHotfixAvailable", "{config}");
        assert_eq!(node.read(POINTER).unwrap(), old);
    }
    let (node, level, message) = checked(Some(old), served("not json"), "");
    assert_eq!(level, "Error");
    assert!(message.starts_with("check-hotfix outcome=failed error=parsing LPS"), "{message}");
    assert_eq!(node.read(POINTER).unwrap(), old);
}

#[test]
fn status_is_classified_11_12_13_14() {
    let cold = r#","hotfixes":{"202604.01":"202604.01.7"}"#;
    let staged = r#"{"hotfixes":{"202604.01":"202604.01.7"}}"#;
    for (status, outcome) in [
        (16, "noHotfixAvailable"),
        (7, "noHotfixAvailable"),
        (5, "noHotfixAvailable"),
        (3, "failed error=LPS fetch failed with a client error"),
        (8, "failed error=LPS fetch failed with a client error"),
        (14, "customDataFallback"),
        (13, "customDataFallback"),
        (2, "customDataFallback"),
        (4, "customDataFallback"),
    ] {
        let (node, level, message) = checked(None, Reply::Status(status), cold);
        assert!(
            message.starts_with(&format!("check-hotfix outcome={outcome}")),
            "{status} {message}"
        );
        assert_eq!(level == "Error", outcome.starts_with("failed"));
        let expected = (outcome == "customDataFallback").then(|| staged.to_owned());
        assert_eq!(node.read(POINTER), expected, "{status}");
        if outcome == "customDataFallback" {
            let (node, level, message) = checked(None, Reply::Status(status), "");
            assert_eq!((level.as_str(), node.read(POINTER)), ("Error", None));
            assert!(message.contains("outcome=failed error=") && message.contains("no cold-start"));
        }
    }
}

#[test]
fn fallback_map_of_a_damaged_config_is_not_staged_13() {
    let cold = r#","hotfixes":{"202604.01":"202604.01.7"}"#;
    let (node, mut world) = node_with("", cold);
    let whole = node.read(CONFIG).unwrap();
    node.write(CONFIG, whole.clone() + "garbage");
    let (level, message) = outcome(&node, &mut world);
    assert_eq!((level.as_str(), node.read(POINTER)), ("Error", None));
    assert!(message.contains("cold-start fallback failed"), "{message}");
    let (node, mut world) = node_with("", cold);
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=customDataFallback");
    assert!(node.exists(POINTER));
}

#[test]
fn unwritable_pointer_leaves_no_temporary_file_17() {
    let authority = Authority::new();
    let service = Service::start(&authority, NAME, served(MAP));
    for operation in ["write", "sync", "rename"] {
        let (node, mut world) = node_with(&authority.pem(), "");
        world.set_rule(move |found, path| {
            let is_pointer = path.to_string_lossy().contains("aks-node-controller-hotfix");
            (found == operation && is_pointer).then_some(EACCES)
        });
        world.live_patching = Some(service.port);
        let (level, message) = outcome(&node, &mut world);
        assert_eq!(level, "Error");
        assert!(message.contains("outcome=failed error=writing hotfix config"), "{message}");
        assert_eq!(node.read(POINTER), None);
    }
    // A directory that is missing is not created.
    let (node, mut world) = node_with(&authority.pem(), "");
    let folder = node.at(POINTER).parent().unwrap().to_owned();
    let removed = folder.clone();
    world.set_rule(move |operation, path| {
        if operation == "write" && path.starts_with(&removed) {
            std::fs::remove_dir_all(&removed).unwrap();
        }
        None
    });
    world.live_patching = Some(service.port);
    let (level, message) = outcome(&node, &mut world);
    assert_eq!(level, "Error");
    assert!(message.contains("no such file or directory"), "{message}");
    assert!(!folder.exists());
}

#[test]
fn target_is_read_from_config_or_nbc_command_18_19_20_25() {
    let authority = Authority::new();
    let service = Service::start(&authority, NAME, served(MAP));
    let nbc = format!(
        "API_SERVER_NAME=nbc.example KUBE_CA_CRT=\"{}\" bash\n",
        STANDARD.encode(authority.pem())
    );

    let node = Node::new();
    node.write(NBC, &nbc);
    let mut world = networked(&node, |_| Ok(response(200, SIGNATURE)));
    world.live_patching = Some(service.port);
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=lpsRead");
    assert_eq!(world.dialed, ["nbc.example:443 3s"]);
    let logged = text(&world.err);
    assert!(logged.contains("node config not found, trying nbc-cmd.sh fallback"));
    assert!(logged.contains("loaded LPS target from nbc-cmd.sh fallback"));

    // The port of the name is dropped.
    let (node, mut world) = node_with(&authority.pem(), "");
    world.live_patching = Some(service.port);
    outcome(&node, &mut world);
    assert_eq!(world.dialed, [format!("{HOST}:443 3s")]);

    let node = Node::new();
    node.write(CONFIG, r#"{"version":"v1"}"#);
    node.write(NBC, &nbc);
    let mut world = networked(&node, |_| panic!("IMDS is not asked"));
    world.live_patching = Some(service.port);
    let (level, message) = outcome(&node, &mut world);
    assert_eq!(level, "Error");
    assert!(message.contains("outcome=failed") && message.contains("no api_server_config"));
    assert_eq!(world.dialed, [""; 0]);

    let node = Node::new();
    let mut world = networked(&node, |_| panic!("IMDS is not asked"));
    assert!(outcome(&node, &mut world).1.contains("outcome=failed"));
}

#[test]
fn certificate_of_another_ca_or_name_is_refused_21_22_23() {
    let (ours, stranger) = (Authority::new(), Authority::new());
    for ca in ["", "no PEM"] {
        let service = Service::start(&ours, NAME, served(MAP));
        let (node, mut world) = node_with(ca, "");
        world.live_patching = Some(service.port);
        assert!(outcome(&node, &mut world).1.contains("outcome=failed"));
        assert_eq!(service.seen(), [], "no connection without a CA");
    }
    for (authority, name) in [(&ours, HOST), (&ours, "other.example"), (&stranger, NAME)] {
        let service = Service::start(authority, name, served(MAP));
        let (node, mut world) = node_with(&ours.pem(), "");
        world.live_patching = Some(service.port);
        let (level, message) = outcome(&node, &mut world);
        assert_eq!(level, "Error");
        assert!(message.contains("outcome=failed") && message.contains("TLS: "), "{message}");
        assert_eq!(node.read(POINTER), None);
        // The credential is not sent without such a certificate.
        assert!(service.seen().iter().all(|seen| seen.request.is_empty()));
    }
    for service in
        [Service::without_certificate(), Service::without_tls(), Service::without_protocol(&ours)]
    {
        let (node, mut world) = node_with(&ours.pem(), "");
        world.live_patching = Some(service.port);
        let (level, message) = outcome(&node, &mut world);
        assert_eq!(level, "Error");
        assert!(message.contains("outcome=failed") && message.contains("TLS: "), "{message}");
        assert_eq!(node.read(POINTER), None);
        assert_eq!(service.seen().len(), 1, "the service was reached");
        assert!(service.seen()[0].request.is_empty());
    }
}

#[test]
fn call_is_what_the_front_routes_and_the_service_expects_24() {
    let authority = Authority::new();
    let service = Service::start(&authority, NAME, served(MAP));
    let (node, mut world) = node_with(&authority.pem(), "");
    world.live_patching = Some(service.port);
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=lpsRead");
    let seen = service.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].server_name, HOST);
    assert_eq!(seen[0].protocols, ["aks-live-patching", "h2"]);
    let request = text(&seen[0].request);
    for part in [
        "/akslivepatching.v1.LivePatchingService/GetComponentConfig",
        "\u{0d}authorization\u{10}canary-signature",
        "\u{0a}\u{11}aksNodeController",
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
}

#[test]
fn panic_is_an_event_and_exit_code_0_31() {
    let (node, _) = node_with("", "");
    let output = panic_at(&node, "open", "aks-node-controller-config.json", "check-hotfix");
    assert_eq!(output.status.code(), Some(0));
    assert!(!text(&output.stdout).contains("test result"), "the process ended in the middle");
    let events = events(&node, "CheckHotfix");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].0, "Error");
    assert!(events[0].1.starts_with("check-hotfix outcome=failed panic=at "), "{events:?}");
    assert!(!format!("{events:?}{output:?}").contains("hunter2"));
}

#[test]
fn extra_words_are_a_warning_and_the_policy_can_turn_it_off_5() {
    let node = Node::new();
    let mut world = world(&node, |_, _| None);
    assert_eq!(world.run_as(OWN, &["check-hotfix", "extra", "words"]), 0);
    assert!(
        text(&world.err).contains("\"level\":\"WARN\",\"msg\":\"check-hotfix takes no arguments")
    );
    assert_eq!(events(&node, "CheckHotfix").len(), 1, "it goes on");

    let (node, _) = node_with("", "");
    node.write(POLICY, "off\n");
    let mut world = networked(&node, |_| panic!("IMDS is not asked"));
    assert_eq!(outcome(&node, &mut world).1, "check-hotfix outcome=disabledByPolicy");
}

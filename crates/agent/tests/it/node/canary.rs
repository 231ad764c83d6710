//! Secrets never reach what we write: a canary in every secret field, every command and way to fail,
//! and then every byte of ours is searched for every form of every canary.

use std::process::Output;

use crate::support::{EVENTS, LOG, Node, REPORT, SENTINEL, text};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

/// Each with characters that every encoding treats differently.
const CANARIES: [(&str, &str); 6] = [
    ("token", "canary-token.\"<&>/+\\é~"),
    ("principal", "canary principal %25?=#'$x"),
    ("key", "canary-key\nsecond line of the key\n"),
    ("realm", "canary_realm!*()"),
    ("http", "canary-http-proxy"),
    ("https", "canary+https+proxy"),
];

fn canary(name: &str) -> &'static str {
    CANARIES.iter().find(|(field, _)| *field == name).unwrap().1
}

fn config(version: &str) -> String {
    serde_json::json!({
        "version": version,
        "bootstrapping_config": {"tls_bootstrapping_token": canary("token")},
        "auth_config": {"service_principal_secret": canary("principal")},
        "kubelet_config": {"kubelet_client_key": canary("key")},
        "custom_search_domain_config": {"domain_name": "d", "realm_user": "u", "realm_password": canary("realm")},
        "http_proxy_config": {
            "http_proxy": format!("http://user:{}@proxy:3128", canary("http")),
            "https_proxy": format!("http://user:{}@proxy:3128", canary("https")),
        },
    })
    .to_string()
}

/// Every form in which a secret could slip out.
pub(crate) fn forms(secret: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![secret.as_bytes().to_vec()];
    for engine in [STANDARD, URL_SAFE] {
        for before in ["", "x", "xy"] {
            // The characters at both ends also encode bits of their neighbors.
            let encoded = engine.encode(format!("{before}{secret}"));
            let first = (before.len() * 8).div_ceil(6);
            let last = (before.len() + secret.len()) * 8 / 6;
            forms.push(encoded.as_bytes()[first..last].to_vec());
        }
    }
    let percent = |upper: bool| -> String {
        secret
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    char::from(byte).to_string()
                }
                _ if upper => format!("%{byte:02X}"),
                _ => format!("%{byte:02x}"),
            })
            .collect()
    };
    forms.extend([percent(true).into_bytes(), percent(false).into_bytes()]);
    let json = serde_json::to_string(secret).unwrap();
    let json = &json[1..json.len() - 1];
    forms.push(json.as_bytes().to_vec());
    forms.push(
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026").into_bytes(),
    );
    forms.sort();
    forms.dedup();
    forms
}

fn all_forms() -> Vec<Vec<u8>> {
    CANARIES.iter().flat_map(|(_, secret)| forms(secret)).collect()
}

/// Output of scripts with every form of every secret.
fn leaks() -> Vec<u8> {
    let mut leaks = Vec::new();
    for form in all_forms() {
        leaks.extend_from_slice(b"+ echo '");
        leaks.extend_from_slice(&form);
        leaks.extend_from_slice(b"' and more\n");
    }
    leaks
}

/// A node whose scripts print all they know, in pieces that cut secrets anywhere.
fn leaking_node(end: &str) -> (Node, String) {
    let node = Node::with_script("");
    node.write_typed("leaks", leaks());
    let leak = node.typed("leaks");
    let script = format!(
        "env; dd if='{0}' bs=7 2>/dev/null; dd if='{0}' bs=5 >&2 2>/dev/null; tail -c 3000 '{0}'; {end}\n",
        leak.display()
    );
    node.write(crate::support::START_SCRIPT, &script);
    (node, script)
}

/// Searches everything that the agent printed or wrote. Files of the scripts are theirs.
fn search(what: &str, node: &Node, output: &Output) {
    let mut ours = vec![
        ("standard output".to_owned(), output.stdout.clone()),
        ("standard error".to_owned(), output.stderr.clone()),
    ];
    let files = node.files().into_iter();
    ours.extend(files.filter(|(path, _)| {
        path == LOG
            || path.starts_with(EVENTS)
            || path.starts_with("/run/")
            || (path == REPORT && !what.contains("scripts' report"))
    }));
    let forms = all_forms();
    for (place, bytes) in ours {
        for form in &forms {
            let hit = bytes.windows(form.len()).position(|window| window == form);
            if let Some(at) = hit {
                let around = &bytes[at.saturating_sub(40)..(at + form.len() + 40).min(bytes.len())];
                panic!("{what}: {place} holds a secret as {:?}: {:?}", text(form), text(around));
            }
        }
    }
}

#[test]
fn secrets_are_never_printed_by_any_outcome() {
    for (what, end) in [
        ("success", "exit 0"),
        ("failure", "exit 50"),
        ("a signal", "kill -9 $$"),
        ("an unfinished line", "printf 'canary-tok'; exit 3"),
    ] {
        let (node, _) = leaking_node(end);
        let typed = node.write_typed("config.json", config("v1"));
        let output = node.run(&["provision", "--provision-config", &typed]);
        assert!(text(&output.stdout).contains("[secret]' and more"), "{what}: the scripts ran");
        search(what, &node, &output);
        // And what those who wait are shown.
        node.write("/opt/azure/containers/aks-node-controller-config.json", config("v1"));
        if node.exists(SENTINEL) {
            search(what, &node, &node.run(&["provision-wait"]));
        }
    }
}

#[test]
fn early_failures_never_print_a_secret() {
    let broken = config("v1").replace("\"version\"", "\"version\": 7, \"version\"");
    let cut = &config("v1")[..config("v1").len() - 1];
    for (what, content) in [
        ("an unsupported version", config("v9").as_str()),
        ("a duplicate", &broken),
        ("a cut", cut),
    ] {
        let (node, _) = leaking_node("exit 0");
        let typed = node.write_typed("config.json", content);
        let output = node.run(&["provision", "--provision-config", &typed]);
        assert_eq!(output.status.code(), Some(1), "{what}");
        search(what, &node, &output);
    }
    let (node, _) = leaking_node("exit 0");
    node.write("/opt/azure/components.json", "{");
    let typed = node.write_typed("config.json", config("v1"));
    search("broken components", &node, &node.run(&["provision", "--provision-config", &typed]));
    let (node, _) = leaking_node("exit 0");
    let typed = node.write_typed("config.json", config("v1"));
    search(
        "a dry run",
        &node,
        &node.run(&["provision", "--provision-config", &typed, "--dry-run"]),
    );
    let wrong = format!("--token={}", canary("token"));
    search("a wrong flag", &node, &node.run(&["provision", &wrong]));
}

#[test]
fn an_nbc_command_lets_no_secret_out() {
    // The values are known from the config that custom data left …
    let (node, script) = leaking_node("exit 9");
    node.write("/opt/azure/containers/aks-node-controller-config.json", config("v1"));
    let nbc = node.write_typed("nbc.sh", &script);
    search("NBC with a config", &node, &node.run(&["provision", "--nbc-cmd", &nbc]));
    // … or from the one that is compared with …
    let (node, script) = leaking_node("exit 9");
    let (nbc, typed) =
        (node.write_typed("nbc.sh", &script), node.write_typed("config.json", config("v1")));
    search(
        "NBC compared",
        &node,
        &node.run(&["provision", "--nbc-cmd", &nbc, "--provision-config", &typed]),
    );
    // … or from the assignments in the command itself. (Its syntax holds neither quotes nor line ends.)
    let node = Node::with_script("");
    let secrets = [
        "canary-token",
        "canary-principal",
        "canary-key-content",
        "canary-realm",
        "canary-http",
        "canary-https",
    ];
    let nbc = node.write_typed("nbc.sh", format!(
        "TLS_BOOTSTRAP_TOKEN={} SERVICE_PRINCIPAL_FILE_CONTENT=\"{}\" KUBELET_CLIENT_CONTENT='{}' CUSTOM_SEARCH_REALM_PASSWORD={} HTTP_PROXY_URLS=\"http://u:{}@p\" HTTPS_PROXY_URLS=http://u:{}@p PROXY_VARS='export http_proxy=\"http://u:{4}@p\";' bash -c 'set -x; : $TLS_BOOTSTRAP_TOKEN; env; exit 9'",
        secrets[0], secrets[1], secrets[2], secrets[3], secrets[4], secrets[5],
    ));
    let output = node.run(&["provision", "--nbc-cmd", &nbc]);
    assert_eq!(output.status.code(), Some(9));
    let written = format!(
        "{}{}{}{}",
        text(&output.stdout),
        text(&output.stderr),
        node.read(LOG).unwrap(),
        node.read(REPORT).unwrap()
    );
    assert!(written.contains("TLS_BOOTSTRAP_TOKEN=[secret]"), "{written}");
    for secret in secrets {
        assert!(!written.contains(secret), "{secret}");
    }
}

#[test]
fn a_report_of_the_scripts_is_shown_without_its_secrets() {
    for padding in [0, 6000] {
        let node = Node::with_script("");
        node.write("/opt/azure/containers/aks-node-controller-config.json", config("v1"));
        let output = format!("{}{}", "x".repeat(padding), text(&leaks()));
        let report =
            serde_json::json!({"ExitCode": "50", "Output": output, "Error": canary("token")});
        node.write(REPORT, report.to_string());
        node.write(SENTINEL, "");
        let output = node.run(&["provision-wait"]);
        assert_eq!(output.status.code(), Some(50));
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(printed["Output"].as_str().unwrap().contains("[secret]"));
        assert!(output.stdout.len() <= 4096);
        search("the scripts' report", &node, &output);
    }
}

/// Secrets that are in no config, in the lines in which `set -x`, tools and errors print them. `VALUE` is the secret.
const FOREIGN: &[(&str, &str)] = &[
    ("foreign-one", "+ az login --service-principal -u app --password VALUE --tenant t"),
    ("foreign-two", "+ export STORAGE_PASSWORD=VALUE"),
    ("foreign-three", "+ DB_PASSWORD='VALUE with blanks'"),
    ("foreign-four", "+ curl -sS -H 'Authorization: Bearer VALUE' https://registry.example/v2/"),
    ("foreign-five", "+ kubeadm join 10.0.0.1:6443 --token VALUE --v=5"),
    (
        "foreign6sig",
        "+ azcopy copy 'https://acc.blob.core.windows.net/c/b?sv=2024&sig=VALUE%3D' /opt",
    ),
    ("foreign-seven", r#"{"token_type":"Bearer","access_token":"VALUE","expires_in":"3599"}"#),
    ("foreign-eight", "curl: (5) Could not resolve proxy: http://user:VALUE@proxy.example:3128"),
    ("foreign-nine", "+ docker login my.azurecr.io -u 0000 -p VALUE"),
    ("foreign-ten", "error: client_secret: VALUE"),
    ("eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.eyJhdWQiOiJ4In0.Zm9yZWlnbi1qd3Q", "+ echo VALUE"),
    ("fedcba.0123456789abcdef", "joining with VALUE now"),
    ("Zm9yZWlnbkJsb2IwMTIzNDU2Nzg5QUJDREVGR0hJSktMTU5PUFFSU1Q=", "+ base64 -d <<< VALUE"),
    ("foreign-line-a", "+ MYSQL_PASSWORD='VALUE\nforeign-line-b'\n"),
    ("foreign-line-b", "+ MYSQL_PASSWORD='foreign-line-a\nVALUE'\n"),
    ("Zm9yZWlnbi1wZW0ta2V5", "-----BEGIN PRIVATE KEY-----\nVALUE\n-----END PRIVATE KEY-----"),
];

fn foreign_leaks() -> String {
    assert!(FOREIGN.iter().all(|(_, line)| line.contains("VALUE")));
    FOREIGN.iter().map(|(secret, line)| line.replace("VALUE", secret) + "\n").collect()
}

fn search_foreign(what: &str, node: &Node, output: &Output) {
    let mut ours = vec![
        ("standard output".to_owned(), output.stdout.clone()),
        ("standard error".to_owned(), output.stderr.clone()),
    ];
    let is_ours = |path: &str| [LOG, REPORT].contains(&path) || path.starts_with(EVENTS);
    let is_theirs = |path: &str| path == REPORT && what.contains("report of the scripts");
    ours.extend(node.files().into_iter().filter(|(path, _)| is_ours(path) && !is_theirs(path)));
    for (place, bytes) in ours {
        for (secret, line) in FOREIGN {
            assert!(!text(&bytes).contains(secret), "{what}: {place} holds the secret of `{line}`");
        }
    }
}

#[test]
fn foreign_secrets_in_script_output_are_masked_everywhere() {
    for (what, print) in [
        ("whole", "cat LEAKS; cat LEAKS >&2"),
        ("in pieces of 7 bytes", "dd if=LEAKS bs=7 2>/dev/null"),
        ("without a last line end", "printf '%s' '+ PASSWORD=foreign-two' >&2; cat LEAKS"),
        (
            "traced by bash",
            "set -x; export PASSWORD=foreign-one; curl --token foreign-two; : 'Authorization: Bearer foreign-three'",
        ),
    ] {
        let node = Node::with_script("");
        let leaks = node.write_typed("leaks", foreign_leaks());
        let print = print.replace("LEAKS", &format!("'{leaks}'"));
        node.write(crate::support::START_SCRIPT, format!("{print}; echo the end; exit 50\n"));
        let typed = node.write_typed("config.json", r#"{"version": "v1"}"#);
        let output = node.run(&["provision", "--provision-config", &typed]);
        assert_eq!(output.status.code(), Some(50), "{what}");
        let report: serde_json::Value = serde_json::from_str(&node.read(REPORT).unwrap()).unwrap();
        let shown = report["Output"].as_str().unwrap();
        assert_eq!(report["ExitCode"], "50");
        assert!(shown.contains("[secret]") && shown.contains("the end\n"), "{what}: {shown}");
        search_foreign(what, &node, &output);
        let waited = node.run(&["provision-wait"]);
        assert_eq!(waited.status.code(), Some(50), "{what}");
        search_foreign(what, &node, &waited);
    }
}

#[test]
fn foreign_secrets_in_a_report_of_the_scripts_are_not_printed() {
    // As it is, and as the scripts' `tr` leaves it.
    for leaks in [foreign_leaks(), foreign_leaks().replace('\n', " ")] {
        let node = Node::with_script("");
        let report = serde_json::json!({
            "ExitCode": "50",
            "Output": format!("{leaks}\n+ exit 50"),
            "Error": "password=foreign-one",
            "ExecDuration": "12",
            "BootDatapoints": {"KernelStartTime": "<x>"},
        });
        node.write(REPORT, report.to_string());
        node.write(SENTINEL, "");
        let output = node.run(&["provision-wait"]);
        assert_eq!(output.status.code(), Some(50));
        let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for member in ["ExitCode", "ExecDuration", "BootDatapoints"] {
            assert_eq!(printed[member], report[member], "{member}");
        }
        assert_eq!(printed["Error"], "password=[secret]");
        assert!(printed["Output"].as_str().unwrap().contains("+ az login"), "{printed}");
        search_foreign("a report of the scripts", &node, &output);
    }
}

#[test]
fn probes_and_their_children_see_no_secret_of_the_environment() {
    let node = Node::with_script("exit 0");
    let bin = node.typed("bin");
    let seen = node.typed("seen");
    std::fs::create_dir_all(&bin).unwrap();
    let program = format!("#!/bin/sh\nenv > '{}'\necho containerd x v1.7.22\n", seen.display());
    crate::support::write_program(&bin.join("containerd"), program, 0o755);
    let typed = node.write_typed("config.json", config("v1"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = node.command(&["provision", "--provision-config", &typed]);
    command.env("PATH", path).env("TLS_BOOTSTRAP_TOKEN", canary("realm")).env("HOME", "/root");
    let output = crate::support::end_of(command.spawn().unwrap());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("HOME=/root\n") && !seen.contains("canary"), "{seen}");
    assert!(!seen.contains("TLS_BOOTSTRAP_TOKEN") && !seen.contains("AKS_NODE_ROOT"), "{seen}");
}

#[test]
fn render_shows_no_secret_unless_asked_to() {
    let node = Node::with_script("");
    let typed = node.write_typed("config.json", config("v1"));
    let env = node.run(&["render", "env", "--provision-config", &typed]);
    assert!(text(&env.stdout).contains("TLS_BOOTSTRAP_TOKEN=[secret]\n"));
    search("render env", &node, &env);
    for format in ["boothook", "cloud-config", "ignition"] {
        let words = ["render", "custom-data", "--format", format, "--provision-config", &typed];
        let masked = node.run(&words);
        assert_eq!(masked.status.code(), Some(0), "{}", text(&masked.stderr));
        search(format, &node, &masked);
        // What is masked cannot be taken for custom data, by Azure or by cloud-init.
        let printed = text(&masked.stdout);
        assert!(printed.starts_with("*** This is not custom data"), "{printed}");
        assert!(STANDARD.decode(printed.trim()).is_err() && printed.contains("[secret]"));
        let shown = node.run(&[&words[..], &["--show-secrets"]].concat());
        let document = STANDARD.decode(text(&shown.stdout).trim()).unwrap();
        assert_eq!(text(&document).contains("permissions: \"0600\""), format == "cloud-config");
    }
    let shown = node.run(&["render", "env", "-0", "--show-secrets", "--provision-config", &typed]);
    assert!(text(&shown.stdout).contains(&format!("TLS_BOOTSTRAP_TOKEN={}\0", canary("token"))));
}

mod slow {
    use super::*;

    #[test]
    fn secrets_of_an_unreadable_config_are_redacted() {
        let whole = config("v1");
        for (what, content) in [
            ("a cut", whole[..whole.len() - 1].to_owned()),
            ("a duplicate", whole.replace("\"version\"", "\"version\": \"v1\", \"version\"")),
            ("a wrong type", whole.replacen('{', "{\"vm_size\": 5, ", 1)),
        ] {
            let (node, script) = leaking_node("exit 9");
            node.write("/opt/azure/containers/aks-node-controller-config.json", &content);
            let nbc = node.write_typed("nbc.sh", &script);
            let output = node.run(&["provision", "--nbc-cmd", &nbc]);
            assert!(text(&output.stdout).contains("[secret]' and more"), "{what}: the scripts ran");
            search(what, &node, &output);
            search(what, &node, &node.run(&["provision-wait"]));
            // The same if it is the one on the command line.
            let (node, script) = leaking_node("exit 9");
            let nbc = node.write_typed("nbc.sh", &script);
            let typed = node.write_typed("config.json", &content);
            let words = ["provision", "--nbc-cmd", &nbc, "--provision-config", &typed];
            search(what, &node, &node.run(&words));
        }
    }
}

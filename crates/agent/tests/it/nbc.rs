//! The assignments of an NBC command file are read as the upstream Go agent reads them.

use std::collections::BTreeMap;

use mooring_agent::nbc::{Assignments, assignments};
use proptest::prelude::*;

fn shown(found: &Assignments) -> Vec<(String, String)> {
    let value = |name| String::from_utf8_lossy(found.expose(name).unwrap()).into_owned();
    found.names().map(|name| (name.to_owned(), value(name))).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    assert_eq!(shown(&assignments(text.as_bytes())), expected, "{text}");
}

#[test]
fn values_are_plain_or_quoted() {
    check("A=1 B=two", &[("A", "1"), ("B", "two")]);
    check("A=\"1 2\"", &[("A", "1 2")]);
    check("A='1 2;\t3'", &[("A", "1 2;\t3")]);
    check("A= B=", &[("A", ""), ("B", "")]);
    check("A=\"\" B=''", &[("A", ""), ("B", "")]);
    check("URL=https://host/path?x=1&y=2", &[("URL", "https://host/path?x=1&y=2")]);
    check("A=a\"b c\"'d e'f", &[("A", "ab cd ef")]);
    check("A=\"it's\" B='say \"x\"'", &[("A", "it's"), ("B", "say \"x\"")]);
    check("_A1=x", &[("_A1", "x")]);
}

#[test]
fn carriage_return_is_not_a_separator() {
    check(
        "A=1;B=2\tC=3\nD=4  ;; E=5",
        &[("A", "1"), ("B", "2"), ("C", "3"), ("D", "4"), ("E", "5")],
    );
    check("A=1\r\nB=2", &[("A", "1\r"), ("B", "2")]);
}

#[test]
fn shell_words_are_skipped() {
    check("echo hello; for i in 1 2; do true; done", &[]);
    check("export A=1", &[("A", "1")]);
    check("lower=1 mixedA=2 1A=3 =4 A", &[]);
    check("$(date),$(hostname) A=1", &[("A", "1")]);
    check("NAME-X=1 A.B=2 A+=3 C=4", &[("C", "4")]);
    check("\"A=1\" 'B=2' C=3", &[("C", "3")]);
    check("say'ing; A=1' B=2", &[("B", "2")]);
    check("NAME\"; A=1\" B=2", &[("B", "2")]);
}

#[test]
fn an_assignment_may_follow_another_without_a_blank() {
    check("A=\"1\"B=\"2\"", &[("A", "1"), ("B", "2")]);
    check("A='1'B=2C=3", &[("A", "1"), ("B", "2"), ("C", "3")]);
    check("ARGS=x=FOO=1", &[("ARGS", "x="), ("FOO", "1")]);
    check("A=B=1", &[("A", ""), ("B", "1")]);
    check("A=1XY=2", &[("A", "1"), ("XY", "2")]);
    check("A=xyZ0=2", &[("A", "xy"), ("Z0", "2")]);
    check("A=\"x\"=y", &[("A", "x=y")]);
    check("A=\"B=1\"", &[("A", "B=1")]);
    check("A=XY-Z", &[("A", "XY-Z")]);
    check("A=QUJD=", &[("A", ""), ("QUJD", "")]);
}

#[test]
fn quotes_that_do_not_close_run_to_the_end() {
    check("A=\"1 B=2", &[("A", "1 B=2")]);
    check("A='1 B=2\n", &[("A", "1 B=2\n")]);
    check("A=1\"", &[("A", "1")]);
    check("x\" A=1", &[]);
    check("A=\"\\\" B=2\"", &[("A", "\\"), ("B", "2")]);
}

#[test]
fn the_last_assignment_wins() {
    check("A=1 B=1 A=2 A=", &[("A", ""), ("B", "1")]);
}

#[test]
fn a_realistic_command_is_read() {
    check(
        "echo $(date),$(hostname) > /var/log/azure/output.log;\n\
         for i in $(seq 1 1200); do grep -Fq \"EOF\" /opt/azure/x.sh && break; done; \
         ADMINUSER=azureuser MOBY_VERSION= TENANT_ID=tenant IS_VHD=true \
         KUBELET_FLAGS=\"--address=0.0.0.0 --max-pods=110\" OUTBOUND_COMMAND=\"curl -v https://host/v2/\" \
         PROXY_VARS=\"export NO_PROXY=\"a,b\"; export http_proxy=\"http://p:1/\";\" \
         /usr/bin/nohup /bin/bash -c \"/bin/bash /opt/azure/containers/provision_start.sh\"",
        &[
            ("ADMINUSER", "azureuser"),
            ("IS_VHD", "true"),
            ("KUBELET_FLAGS", "--address=0.0.0.0 --max-pods=110"),
            ("MOBY_VERSION", ""),
            ("OUTBOUND_COMMAND", "curl -v https://host/v2/"),
            ("PROXY_VARS", "export NO_PROXY=a,b; export http_proxy=http://p:1/;"),
            ("TENANT_ID", "tenant"),
        ],
    );
}

#[test]
fn bytes_that_are_not_text_are_kept() {
    let found = assignments(b"\xff A=\xfe\"\xff \" \x80");
    assert_eq!(found.expose("A"), Some(&b"\xfe\xff "[..]));
}

#[track_caller]
fn check_secrets(text: &str, expected: &[&str]) {
    let found = assignments(text.as_bytes());
    let secrets: Vec<_> = found.expose_secrets().map(String::from_utf8_lossy).collect();
    assert_eq!(secrets, expected, "{text}");
}

#[test]
fn secrets_are_known_by_the_names_of_their_variables() {
    check_secrets(
        "TLS_BOOTSTRAP_TOKEN=\"a.b\" SERVICE_PRINCIPAL_FILE_CONTENT=\"c2Vj\" KUBELET_CLIENT_CONTENT=\"key=\" \
         CUSTOM_SEARCH_REALM_PASSWORD='pass word' TENANT_ID=public KUBELET_CLIENT_CERT_CONTENT=public",
        &["a.b", "c2Vj", "key=", "pass word"],
    );
    check_secrets("TLS_BOOTSTRAP_TOKEN= HTTP_PROXY_URLS=\"\" PROXY_VARS=\"\"", &[]);
}

#[test]
fn the_user_information_of_proxies_is_secret() {
    check_secrets(
        "HTTP_PROXY_URLS=\"http://u:p@proxy:3128/\" HTTPS_PROXY_URLS=\"https://only-user@proxy\"",
        &["only-user", "p", "u:p"],
    );
    check_secrets(
        "HTTP_PROXY_URLS=\"http://u:p@b@proxy\" HTTPS_PROXY_URLS=https://proxy",
        &["p@b", "u:p@b"],
    );
}

#[test]
fn the_user_information_inside_proxy_commands_is_secret() {
    let quoted = "export NO_PROXY=\"a@b\"; export HTTPS_PROXY=\"https://s:t@proxy\"; export http_proxy=\"u:p@proxy\";";
    let secrets = assignments(format!("PROXY_VARS=\"{quoted}\"").as_bytes());
    for secret in ["s:t", "t", "u:p", "p"] {
        assert!(secrets.expose_secrets().any(|known| known == secret.as_bytes()), "{secret}");
    }
    let blank = assignments(b"PROXY_VARS='export http_proxy=\"http://u:p \";q@proxy\";'");
    assert!(blank.expose_secrets().any(|known| known == b"p \";q"));
}

#[test]
fn replaced_or_truncated_secret_is_still_redacted() {
    check_secrets("TLS_BOOTSTRAP_TOKEN=first TLS_BOOTSTRAP_TOKEN=second", &["first", "second"]);
    check_secrets("KUBELET_CLIENT_CONTENT=a2V5IGtleQABC= X=1", &["a2V5IGtle", "a2V5IGtleQABC="]);
}

#[test]
fn assignments_print_without_their_values() {
    let found = assignments(b"TLS_BOOTSTRAP_TOKEN=canary LOCATION=eastus");
    assert_eq!(format!("{found:?}"), r#"{"LOCATION", "TLS_BOOTSTRAP_TOKEN"}"#);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_scanned(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = assignments(&text);
    }

    /// The rules again, byte by byte, without optimization.
    #[test]
    fn the_scanner_follows_its_rules(text in "[AB1a_=\"' ;\n]{0,24}") {
        prop_assert_eq!(shown(&assignments(text.as_bytes())), by_the_letter(text.as_bytes()));
    }

    #[test]
    fn quoted_values_come_back_as_they_are(values in proptest::collection::btree_map("[A-Z_][A-Z0-9_]{0,8}", "[^\"]{0,20}", 0..8)) {
        let text: String = values.iter().flat_map(|(name, value)| [name, "=\"", value, "\" "]).collect();
        prop_assert_eq!(shown(&assignments(text.as_bytes())), values.into_iter().collect::<Vec<_>>());
    }
}

fn by_the_letter(text: &[u8]) -> Vec<(String, String)> {
    let delimits = |at: usize| b" \t\n;".contains(&text[at]);
    let assigned_name_at = |start: usize| {
        let mut end = start;
        while end < text.len()
            && (text[end].is_ascii_uppercase()
                || text[end] == b'_'
                || end > start && text[end].is_ascii_digit())
        {
            end += 1;
        }
        (end > start && text.get(end) == Some(&b'=')).then_some(end)
    };
    let quoted_end =
        |at: usize| (at + 1..text.len()).find(|&end| text[end] == text[at]).unwrap_or(text.len());
    let mut found = BTreeMap::new();
    let mut at = 0;
    while at < text.len() {
        if delimits(at) {
            at += 1;
        } else if let Some(name_end) = assigned_name_at(at) {
            let name = String::from_utf8_lossy(&text[at..name_end]).into_owned();
            let mut value = Vec::new();
            at = name_end + 1;
            while at < text.len() && !delimits(at) && assigned_name_at(at).is_none() {
                if b"\"'".contains(&text[at]) {
                    let end = quoted_end(at);
                    value.extend_from_slice(&text[at + 1..end]);
                    at = end + 1;
                } else {
                    value.push(text[at]);
                    at += 1;
                }
            }
            found.insert(name, String::from_utf8_lossy(&value).into_owned());
        } else {
            while at < text.len() && !delimits(at) {
                at = if b"\"'".contains(&text[at]) { quoted_end(at) + 1 } else { at + 1 };
            }
        }
    }
    found.into_iter().collect()
}

mod slow {
    use super::*;

    #[test]
    fn hostile_text_is_read_in_linear_time() {
        for part in [
            "A",
            "A=",
            "=",
            "\"",
            "'A",
            "\"'",
            "A=\"",
            "TLS_BOOTSTRAP_TOKEN=",
            "PROXY_VARS=export ",
            "a@",
        ] {
            let text = part.repeat((1 << 18) / part.len());
            assert!(assignments(text.as_bytes()).names().count() <= 2, "{part}");
            assert!(
                assignments(format!("TLS_BOOTSTRAP_TOKEN={text}").as_bytes()).names().count() <= 3
            );
            assert!(assignments(format!("PROXY_VARS=\"{text}").as_bytes()).names().count() <= 3);
        }
    }
}

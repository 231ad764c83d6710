//! Differences of a config and an NBC command, with the messages of the upstream Go agent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_agent::nbc::assignments;
use mooring_agent::nbc::{ConfigComparison, compare};

type Variables<'a> = &'a [(&'a str, &'a str)];

const CONFIG: Variables<'static> = &[
    ("ADMINUSER", "azureuser"),
    ("KUBELET_FLAGS", "--max-pods=110 --v=2"),
    ("MOBY_VERSION", ""),
    ("VM_TYPE", "vmss"),
];

fn compared(config: Variables<'_>, inherited: Variables<'_>, nbc: &str) -> ConfigComparison {
    compare(config.iter().copied(), inherited.iter().copied(), &assignments(nbc.as_bytes()))
}

/// An NBC command that differs in one variable.
fn nbc_without(left_out: &str) -> String {
    let others = CONFIG.iter().filter(|(name, _)| *name != left_out);
    others.flat_map(|(name, value)| [*name, "=\"", value, "\" "]).collect()
}

#[test]
fn equal_environments_have_texts_for_log_and_event() {
    let comparison = compared(CONFIG, &[], &nbc_without(""));
    assert_eq!(comparison, ConfigComparison::default());
    assert_eq!(
        comparison.log_message(),
        "env compare: no differences found between provision-config and nbc-cmd env vars"
    );
    assert_eq!(comparison.event_message(), "env vars match between provision-config and nbc-cmd");
}

#[test]
fn each_kind_of_difference_has_its_words() {
    for (nbc, expected) in [
        (nbc_without("ADMINUSER"), "env var differences (1): only-in-pc: ADMINUSER"),
        (
            nbc_without("") + "EXTRA_NBC_ONLY=\"extra\"",
            "env var differences (1): only-in-nbc: EXTRA_NBC_ONLY",
        ),
        (nbc_without("VM_TYPE") + "VM_TYPE=standard", "env var differences (1): differs: VM_TYPE"),
        (
            nbc_without("ADMINUSER") + "EXTRA_NBC_ONLY=1 VM_TYPE=standard",
            "env var differences (3): only-in-pc: ADMINUSER; only-in-nbc: EXTRA_NBC_ONLY; differs: VM_TYPE",
        ),
    ] {
        let comparison = compared(CONFIG, &[], &nbc);
        assert_eq!(comparison.log_message(), expected);
        assert_eq!(comparison.event_message(), expected);
    }
}

/// As observed of the upstream Go agent, with five variables instead of 164.
#[test]
fn expected_differences_are_ignored_unless_variable_is_missing() {
    let config = [
        ("LOCATION", "eastus"),
        ("API_SERVER_NAME", ""),
        ("APISERVER_PUBLIC_KEY", ""),
        ("REPO_DEPOT_ENDPOINT", ""),
        ("SKIP_WAAGENT_HOLD", "true"),
    ];
    let nbc = "LOCATION=other EXTRA_X=\"1\" HYPERKUBE_URL=h SKIP_WAAGENT_HOLD=false echo hi\n";
    assert_eq!(
        compared(&config, &[], nbc).log_message(),
        "env var differences (5): only-in-pc: APISERVER_PUBLIC_KEY; only-in-pc: API_SERVER_NAME; \
         only-in-nbc: EXTRA_X; differs: LOCATION; only-in-pc: REPO_DEPOT_ENDPOINT"
    );
    for name in [
        "CLOUD_INIT_STATUS_SCRIPT",
        "HYPERKUBE_URL",
        "MCR_REPOSITORY_BASE",
        "BLOCK_OUTBOUND_NETWORK",
        "REPO_DEPOT_ENDPOINT",
        "SKIP_WAAGENT_HOLD",
    ] {
        assert!(compared(&[], &[], &format!("{name}=1")).differences.is_empty());
        assert!(compared(&[(name, "2")], &[], &format!("{name}=1")).differences.is_empty());
        assert_eq!(compared(&[(name, "2")], &[], "").differences.len(), 1);
    }
}

#[test]
fn inherited_variables_count_only_if_config_changes_them() {
    let config = [("HOME", "/root"), ("PATH", "/bin"), ("LOCATION", "eastus")];
    let inherited = [("HOME", "/root"), ("PATH", "/usr/bin"), ("OTHER", "1")];
    assert_eq!(
        compared(&config, &inherited, "LOCATION=eastus").log_message(),
        "env var differences (1): only-in-pc: PATH"
    );
    assert_eq!(
        compared(&config, &inherited, "LOCATION=eastus PATH=/bin HOME=/root").log_message(),
        "env var differences (1): only-in-nbc: HOME"
    );
}

#[test]
fn double_quotes_inside_values_do_not_count() {
    let config = [("PROXY_VARS", "export NO_PROXY=\"a,b\"; "), ("X", "it's")];
    let nbc = "PROXY_VARS=\"export NO_PROXY=\"a,b\"; \" X=\"it's\"";
    assert!(compared(&config, &[], nbc).differences.is_empty());
    assert_eq!(compared(&[("X", "it's")], &[], "X=its").differences.len(), 1);
}

#[test]
fn kernel_settings_are_compared_as_settings() {
    let equal = |config: &str, nbc: &str| {
        compared(&[("SYSCTL_CONTENT", config)], &[], &format!("SYSCTL_CONTENT=\"{nbc}\""))
            .differences
            .is_empty()
    };
    let encoded = |text: &str| STANDARD.encode(text);
    let config = encoded("a.b=1\nc.d=2 3\n");
    for same in ["c.d=2 3\na.b=1", " a.b = 1 \r\n\n# no setting\nc.d=2 3", "a.b=0\nc.d=2 3\na.b=1"]
    {
        assert!(equal(&config, &encoded(same)), "{same}");
    }
    for other in ["a.b=1", "a.b=1\nc.d=2 4", "a.b=1\nc.d=2 3\ne.f=1", ""] {
        assert!(!equal(&config, &encoded(other)), "{other}");
    }
    let wrapped = format!("{}\n{}", &config[..8], &config[8..]);
    assert!(equal(&config, &wrapped), "Go skips line ends inside base64");
    assert!(equal("not base64", "not base64"));
    assert!(equal("not \"base64\"", "not base64"));
    assert!(!equal(&config, "not base64"));
    assert!(!equal(&config, config.trim_end_matches('=')), "Go demands padding");
}

#[test]
fn values_are_not_printed() {
    let comparison = compared(&[("A", "canary-1")], &[], "A=canary-2 B=canary-3");
    assert!(!format!("{comparison:?} {}", comparison.log_message()).contains("canary"));
}

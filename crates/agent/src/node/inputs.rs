//! Inputs of the node: secrets in its config and command, the list of components, and the version of containerd.

use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use mooring_contract::json::{Dialect, Reader};
use mooring_contract::node_config::{self, MAX_BYTES};
use mooring_redact::{MASK, ProxyUrl, Redactor, likely_secrets};

use crate::environment::{ContainerdLayout, GpuImages};
use crate::format::read_failure;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::Text;
use crate::node::nbc;
use crate::node::paths::{Layout, NBC_COMMAND, NODE_CONFIG};
use crate::world::{Probe, World};

/// Limit for files from custom data.
pub(crate) const MAX_FILE_BYTES: u64 = MAX_BYTES as u64;

/// The reason why a config with masked secrets is rejected.
pub(crate) const MASKED_CONFIG: &str = "a secret in it is masked, as `render` prints it without --show-secrets; a node cannot join with that";

pub(crate) fn hold_mask(secrets: &[impl AsRef<str>]) -> bool {
    secrets.iter().any(|secret| secret.as_ref().contains(MASK))
}

/// Returns a redactor for the config and the NBC command of this node, at their default paths or those of
/// the command line.
pub(crate) fn of_node(
    world: &mut dyn World,
    layout: &Layout,
    typed_config: Option<&Path>,
    typed_nbc_command: Option<&Path>,
) -> Redactor {
    Redactor::new(values_of_node(world, layout, typed_config, typed_nbc_command))
}

/// Every secret in the text of a node config, for a [`Redactor`].
///
/// An invalid text may be a truncated or malformed config: then all
/// [likely secrets](mooring_redact::likely_secrets) in it are returned.
pub fn in_config(text: &[u8]) -> Vec<Vec<u8>> {
    match node_config::parse(text) {
        Ok(parsed) => parsed.config.expose_secrets().into_iter().map(Vec::from).collect(),
        Err(_) => likely(&String::from_utf8_lossy(text)),
    }
}

/// Returns likely secrets in a text that should be JSON, with and without its escapes.
fn likely(text: &str) -> Vec<Vec<u8>> {
    // The name of a secret may be followed by a list.
    let named = likely_secrets(text).into_iter();
    let mut secrets: Vec<String> =
        named.flat_map(|secret| secret.split('"').chain([secret])).map(str::to_owned).collect();
    for address in text.split('"').filter(|text| text.contains('@')) {
        secrets.extend(ProxyUrl::from(address).expose_secrets().map(str::to_owned));
    }
    let escaped = secrets.iter().filter(|secret| secret.contains('\\'));
    let plain: Vec<String> = escaped.map(|secret| unescaped(secret)).collect();
    secrets.into_iter().chain(plain).map(String::into_bytes).collect()
}

/// Returns a text without the escapes of JSON.
fn unescaped(text: &str) -> String {
    let document = format!("\"{text}\"");
    let read = Reader::new(document.as_bytes(), Dialect::Go).string().map(Cow::into_owned);
    read.unwrap_or_else(|_| text.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Every secret in the text of an NBC command, for a [`Redactor`].
pub fn in_nbc_command(text: &[u8]) -> Vec<Vec<u8>> {
    nbc::assignments(text).expose_secrets().map(Vec::from).collect()
}

/// Returns the secrets, for a redactor with additional ones.
pub(crate) fn values_of_node(
    world: &mut dyn World,
    layout: &Layout,
    typed_config: Option<&Path>,
    typed_nbc_command: Option<&Path>,
) -> Vec<Vec<u8>> {
    let left_config = layout.at(NODE_CONFIG);
    let left_nbc_command = layout.at(NBC_COMMAND);
    let mut secrets: Vec<Vec<u8>> = Vec::new();
    for path in [Some(left_config.as_path()), typed_config].into_iter().flatten() {
        let text = world.read(path, MAX_FILE_BYTES).unwrap_or_default();
        secrets.extend(in_config(&text));
    }
    for path in [Some(left_nbc_command.as_path()), typed_nbc_command].into_iter().flatten() {
        let text = world.read(path, MAX_FILE_BYTES).unwrap_or_default();
        secrets.extend(in_nbc_command(&text));
    }
    secrets
}

/// The most of `components.json` that is read; the real one is below 100 KiB.
const MAX_COMPONENTS_BYTES: u64 = 16 << 20;

/// Returns the image's GPU drivers; `shown` is the path in messages.
pub(crate) fn read_components(
    world: &mut dyn World,
    path: &Path,
    shown: &str,
) -> Result<GpuImages, String> {
    let text = world.read(path, MAX_COMPONENTS_BYTES).map_err(|failure| {
        let failure = read_failure(shown.as_ref(), &failure);
        format!("failed to load GPU config: read {shown}: {failure}")
    })?;
    GpuImages::from_components(&text)
        .map_err(|error| format!("failed to load GPU config: parse {shown}: {error}"))
}

/// The version of the installed containerd, asked for while the rest is read.
pub(crate) struct ContainerdProbe(io::Result<Probe>);

impl ContainerdProbe {
    pub(crate) fn start(world: &mut dyn World) -> Self {
        Self(world.probe("containerd", &["--version".as_ref()]))
    }

    /// Returns the installed containerd; with a warning if it is installed but does not respond.
    pub(crate) fn end(self) -> (ContainerdLayout, Option<&'static str>) {
        let answer = self.0.and_then(|probe| probe());
        let timed_out = answer.as_ref().is_err_and(|error| error.kind() == ErrorKind::TimedOut);
        let warning = timed_out.then_some(
            "`containerd --version` timed out and was killed; continuing as if containerd were not installed",
        );
        (ContainerdLayout::detect(answer.ok().as_deref()), warning)
    }
}

/// Start of the CSE in seconds since 1970; exported by the scripts.
const CSE_START: &str = "CSE_STARTTIME_SECONDS";

/// The scripts' own budget, in which the login is one part: `check_cse_timeout` gives up 780 seconds
/// after the start of the CSE.
const CSE: Duration = Duration::from_mins(13);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBudget {
    pub(crate) total: Duration,
    /// On the clock that never jumps.
    ends: Duration,
}

impl TimeBudget {
    /// Returns the budget that begins now and ends no later than the CSE, whose start the scripts export.
    pub(crate) fn begin(agent: &mut Agent<'_>, asked: Duration) -> Self {
        let (started, now) = (agent.world.variable(CSE_START), agent.world.now());
        let left = started.as_ref().map(|started| cse_left(&started.to_string_lossy(), now));
        if left == Some(None) {
            // Without its value, which may be a secret.
            let attributes = [("name", Text(CSE_START))];
            agent.warn("not a number of seconds; the CSE's budget is not known", &attributes);
        }
        Self::new(agent.world.monotonic(), asked, left.flatten())
    }

    fn new(now: Duration, asked: Duration, cse_left: Option<Duration>) -> Self {
        let total = cse_left.map_or(asked, |left| left.min(asked));
        Self { total, ends: now + total }
    }

    pub(crate) fn remaining(&self, now: Duration) -> Duration {
        self.ends.saturating_sub(now)
    }
}

/// Returns the remaining time of the CSE, which began at `started`. A start in
/// the future, after a clock change, counts as now.
fn cse_left(started: &str, now: SystemTime) -> Option<Duration> {
    let started =
        SystemTime::UNIX_EPOCH + Duration::from_secs(started.trim().parse::<u32>().ok()?.into());
    Some(CSE.saturating_sub(now.duration_since(started).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
        "bootstrapping_config": {"tls_bootstrapping_token": "canary token \"\u00e9"},
        "authConfig": {"servicePrincipalSecret": "canary-principal"},
        "kubelet_config": {"kubelet_client_key": "canary-key\nsecond line"},
        "custom_search_domain_config": {"realm_password": "canary-realm"},
        "http_proxy_config": {"http_proxy": "http://user:canary/http@proxy:3128", "https_proxy": "canary-https@proxy"},
        "private_egress_proxy_address": "user:canary-egress@proxy",
        "vm_size": "Standard_D4s_v5"
    }"#;

    const CANARIES: [&str; 7] = [
        "canary token \"\u{e9}",
        "canary-principal",
        "canary-key\nsecond line",
        "canary-realm",
        "canary/http",
        "canary-https",
        "canary-egress",
    ];

    #[test]
    fn secrets_of_an_unreadable_config_are_found() {
        let compact: String = CONFIG.lines().map(str::trim).collect();
        for (what, text) in [
            ("cut", CONFIG[..CONFIG.len() - 2].to_owned()),
            ("a wrong type", CONFIG.replace("\"Standard_D4s_v5\"", "5")),
            ("a duplicate", CONFIG.replacen('{', "{\"version\": 1, \"version\": 2,", 1)),
            ("a lost comma", CONFIG.replace("\"},", "\"}")),
            ("lost colons", CONFIG.replace("\": \"", "\" \"")),
            ("one line", compact + "}"),
        ] {
            assert!(node_config::parse(text.as_bytes()).is_err(), "{what}");
            let secrets = in_config(text.as_bytes());
            for canary in CANARIES {
                assert!(
                    secrets.iter().any(|secret| secret == canary.as_bytes()),
                    "{what}: {canary}"
                );
            }
            assert!(!secrets.iter().any(|secret| secret == b"Standard_D4s_v5"), "{what}");
        }
    }

    #[test]
    fn secret_of_wrong_type_or_truncated_is_found() {
        for (text, canary) in [
            (
                r#"{"auth_config": {"service_principal_secret": ["canary-one", "canary-two"]}}"#,
                "canary-two",
            ),
            (r#"{"auth_config": {"service_principal_secret": 12345678}}"#, "12345678"),
            (r#"{"bootstrapping_config": {"tls_bootstrapping_token": "canary-cut"#, "canary-cut"),
        ] {
            let secrets = in_config(text.as_bytes());
            assert!(secrets.iter().any(|secret| secret == canary.as_bytes()), "{text}");
        }
        assert!(in_config(b"").is_empty());
    }

    #[test]
    fn the_budget_of_the_cse_is_the_limit() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!(cse_left("999900", now), Some(Duration::from_secs(680)));
        assert_eq!(cse_left(" 999220\n", now), Some(Duration::ZERO));
        assert_eq!(cse_left("5", now), Some(Duration::ZERO));
        assert_eq!(
            cse_left("1000500", now),
            Some(Duration::from_mins(13)),
            "a clock that was set back"
        );
        for nonsense in ["", "now", "-1", "1.5"] {
            assert_eq!(cse_left(nonsense, now), None, "{nonsense}");
        }
        let budget = TimeBudget::new(
            Duration::from_secs(7),
            Duration::from_mins(10),
            Some(Duration::from_secs(80)),
        );
        assert_eq!(budget.total, Duration::from_secs(80));
        assert_eq!(budget.remaining(Duration::from_secs(17)), Duration::from_secs(70));
        assert_eq!(budget.remaining(Duration::from_secs(100)), Duration::ZERO);
        assert_eq!(
            TimeBudget::new(Duration::from_secs(7), Duration::from_mins(10), None).total,
            Duration::from_mins(10)
        );
    }
}

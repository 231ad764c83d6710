//! Log lines: one JSON object each, with Karpenter's keys, so that one query finds both.

use mooring_nodes::claim::Claim;
use mooring_nodes::verdict::{ConditionReason, ConditionStatus, Verdict};
use tracing::Subscriber;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{FmtSpan, Writer};
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::SubscriberExt as _;

pub use tracing::Level;

/// Libraries log whole responses and the output of credential plugins unredacted, so only lines of this
/// target are written.
const OWN: &str = "mooring";

/// Returns a subscriber that writes one JSON object per line. A line that cannot be written is lost: `tracing` would
/// report that on stderr, and panic where stderr is closed.
pub fn subscriber<W>(writer: W, level: Level) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_span_events(FmtSpan::NONE)
        .with_target(false)
        .with_max_level(level)
        .with_writer(writer)
        .log_internal_errors(false)
        .finish()
        .with(Targets::new().with_target(OWN, level))
}

/// Returns a subscriber that writes one readable line per event: time, level, message and fields.
pub fn text_lines<W>(writer: W, level: Level) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .with_timer(TimeOfDay)
        .with_target(false)
        .with_ansi(false)
        .with_max_level(level)
        .with_writer(writer)
        .log_internal_errors(false)
        .finish()
        .with(Targets::new().with_target(OWN, level))
}

struct TimeOfDay;

impl FormatTime for TimeOfDay {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{}", jiff::Timestamp::now().strftime("%H:%M:%S"))
    }
}

/// Modules that log each request.
const REQUESTS: [&str; 3] =
    ["mooring_arm::request", "mooring_controller::run::api", "mooring_k8s::request"];

/// Returns a subscriber that writes one readable line per request.
pub fn request_lines<W>(writer: W) -> impl Subscriber + Send + Sync
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let requests = Targets::new().with_targets(REQUESTS.map(|target| (target, Level::DEBUG)));
    tracing_subscriber::fmt()
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
        .with_max_level(Level::DEBUG)
        .with_writer(writer)
        .log_internal_errors(false)
        .finish()
        .with(requests)
}

/// Logs a verdict: failures as errors, others as information.
pub fn verdict(claim: &Claim, verdict: &Verdict) {
    let failure = verdict.failure.as_ref();
    let code = failure.and_then(|failure| failure.code);
    let name = failure.and_then(|failure| failure.name.as_deref());
    let cause = failure.map(|failure| failure.cause.as_str());
    let vm = claim.vm.as_ref();
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(
                NodeClaim = &*claim.name,
                NodePool = claim.pool.as_deref(),
                vmName = vm.map(|vm| &*vm.name),
                resourceGroupName = vm.map(|vm| &*vm.group),
                aksMachineName = claim.machine.as_ref().map(|machine| &*machine.name),
                providerID = vm.map(|vm| format!("azure://{}", vm.path())),
                "instance-type" = claim.instance_type.as_deref(),
                "capacity-type" = claim.capacity_type.as_deref(),
                zone = claim.zone.as_deref(),
                image = claim.image_key(),
                reason = verdict.reason.as_str(),
                exitCode = code,
                errorCode = name,
                cause,
                "{}",
                verdict.message
            )
        };
    }
    match verdict.reason {
        reason if reason.status() == ConditionStatus::False => line!(error),
        ConditionReason::CseStatusUnavailable | ConditionReason::CseFailureUnconfirmed => {
            line!(warn);
        }
        _ => line!(info),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};

    use super::*;
    use mooring_nodes::claim::vm_id::Interner;
    use mooring_nodes::verdict::FailureSource;
    use mooring_nodes::verdict::Verdict;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn library_logs_are_dropped_at_every_level() {
        let lines = Lines::default();
        let writer = lines.clone();
        tracing::subscriber::with_default(subscriber(move || writer.clone(), Level::TRACE), || {
            tracing::error!(target: "kube_client::client", "CANARY");
            tracing::trace!("our own");
        });
        let written = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert!(!written.contains("CANARY") && written.contains("our own"), "{written}");
    }

    #[test]
    fn text_line_has_time_level_message_and_fields() {
        let lines = Lines::default();
        let writer = lines.clone();
        tracing::subscriber::with_default(text_lines(move || writer.clone(), Level::INFO), || {
            tracing::error!(target: "kube_client::client", "CANARY");
            tracing::warn!(port = 8082, "cannot listen");
        });
        let written = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(&written[8..], "  WARN cannot listen port=8082\n");
        assert_eq!(written.find(':'), Some(2));
    }

    #[test]
    fn level_of_a_line_depends_on_the_reason() {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let claim = Claim::placeholder(&"u".into(), "c", None, None, at);
        for reason in ConditionReason::ALL {
            let lines = Lines::default();
            let writer = lines.clone();
            let subscriber = subscriber(move || writer.clone(), Level::INFO);
            tracing::subscriber::with_default(subscriber, || {
                super::verdict(&claim, &Verdict::plain(reason, "m"));
            });
            let expected = match reason {
                ConditionReason::CseFailed
                | ConditionReason::CseTimedOut
                | ConditionReason::NodeNotRegistered => "ERROR",
                ConditionReason::CseStatusUnavailable | ConditionReason::CseFailureUnconfirmed => {
                    "WARN"
                }
                _ => "INFO",
            };
            let line: Value = serde_json::from_slice(&lines.0.lock().unwrap()).unwrap();
            assert_eq!(
                (&line["level"], &line["reason"]),
                (&json!(expected), &json!(reason.as_str()))
            );
        }
    }

    #[test]
    fn log_line_has_the_keys_of_karpenter() {
        let object = json!({
            "metadata": {"name": "default-2jf98", "uid": "u", "creationTimestamp": "2026-11-15T08:00:00Z",
                         "labels": {"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "Standard_D4s_v5"}},
            "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "default"}},
            "status": {"providerID": "azure:///subscriptions/0/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-default-2jf98"}
        });
        let claim = Claim::from_json(
            object.to_string().as_bytes(),
            "CSEProvisioned",
            &mut Interner::default(),
        )
        .unwrap();
        let lines = Lines::default();
        let writer = lines.clone();
        tracing::subscriber::with_default(subscriber(move || writer.clone(), Level::INFO), || {
            super::verdict(&claim, &Verdict::failed_silently(FailureSource::InstanceView));
        });
        let written = lines.0.lock().unwrap();
        let line: Value = serde_json::from_slice(&written).unwrap();
        assert_eq!(line["level"], "ERROR");
        assert_eq!(
            (&line["NodeClaim"], &line["NodePool"]),
            (&json!("default-2jf98"), &json!("default"))
        );
        assert_eq!(
            (&line["vmName"], &line["resourceGroupName"]),
            (&json!("aks-default-2jf98"), &json!("g"))
        );
        assert_eq!(line["instance-type"], "Standard_D4s_v5");
        assert_eq!(line["reason"], "CSEFailed");
        assert!(line["message"].as_str().unwrap().starts_with("CSE failed without an exit code"));
        assert!(line.get("exitCode").is_none());
    }
}

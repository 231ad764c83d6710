//! The chart's alerts in a real Prometheus, sent by a real Alertmanager with the configuration of docs/RUNBOOK.md.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use mooring_controller::metrics::{FailedNode, Metrics};
use mooring_testbed::require;
use serde_json::{Value, json};

use crate::chart::helm::chart;
use crate::common::controller::{Process, free_address, wait_for};

/// Directory of both programs; set by `cargo xtask test`.
const VARIABLE: &str = "MOORING_PROMETHEUS";

const IMAGE: &str = "AKSUbuntu-2204/202601.27.0";

/// Answers every request on an address with `answer` of its body.
fn serve(answer: impl Fn(&[u8]) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _ = respond(&stream, &answer);
        }
    });
    address
}

fn respond(mut stream: &TcpStream, answer: &impl Fn(&[u8]) -> String) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let text = answer(&body);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}

fn start(program: &Path, arguments: &[String]) -> Process {
    let mut command = Command::new(program);
    Process(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// Returns the first YAML block of the runbook's section, with the times and the receiver of the test.
fn alertmanager_config(receiver: &str) -> String {
    let runbook = std::fs::read_to_string(chart().join("../../docs/RUNBOOK.md")).unwrap();
    let section = runbook.split_once("\n# Messages\n").unwrap().1;
    let block = section.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let mut config = block.to_owned();
    for (documented, tested) in [
        ("group_wait: 30s", "group_wait: 2s"),
        ("group_interval: 5m", "group_interval: 1s"),
        ("https://hooks.example.com/alerts", receiver),
    ] {
        assert!(config.contains(documented), "{documented}");
        config = config.replace(documented, tested);
    }
    config
}

fn prometheus_config(rules: &str, exporter: &str, alertmanager: &str) -> Value {
    json!({
        "global": {
            "scrape_interval": "1s",
            "evaluation_interval": "1s",
            "external_labels": {"cluster": "prod"},
        },
        "rule_files": [rules],
        "scrape_configs": [{
            "job_name": "mooring",
            "static_configs": [{"targets": [exporter], "labels": {"namespace": "mooring-system"}}],
        }],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
    })
}

mod slow {
    use super::*;

    #[test]
    fn failing_image_is_one_message_and_its_end_another() {
        let Some(programs) = require(std::env::var_os(VARIABLE), "Prometheus") else { return };
        let programs = PathBuf::from(programs);
        let metrics = Arc::new(Metrics::new());
        let failed = |pool: &str| {
            metrics.failed(&FailedNode {
                code: Some(211),
                cause: "OrasBinaryMissing".to_owned(),
                pool: pool.to_owned(),
                image: IMAGE.to_owned(),
            });
        };
        // A counter increases after its first sample.
        failed("default");
        failed("batch");
        metrics.leads(true);
        let count = Arc::new(AtomicUsize::new(0));
        let exporter = serve({
            let (metrics, count) = (Arc::clone(&metrics), Arc::clone(&count));
            move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                metrics.text()
            }
        });
        let (to_test, messages) = mpsc::channel::<Value>();
        let receiver = serve(move |body| {
            to_test.send(serde_json::from_slice(body).unwrap()).unwrap();
            String::new()
        });

        let state = tempfile::tempdir().unwrap();
        let put = |name: &str, text: String| {
            let path = state.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let alertmanager = free_address();
        let sender = put("alertmanager.yml", alertmanager_config(&format!("http://{receiver}/")));
        let alerts = std::fs::read_to_string(chart().join("files/alerts.yaml")).unwrap();
        let alerts: Value = serde_saphyr::from_str(&alerts).unwrap();
        // JSON is YAML.
        let groups = json!({"groups": [{"name": "mooring", "rules": alerts["alerts"]}]});
        let rules = put("rules.yml", groups.to_string());
        let mut promtool = Command::new(programs.join("promtool"));
        let checked = promtool.args(["check", "rules", &rules]).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
        let config = prometheus_config(&rules, &exporter, &alertmanager);
        let _alertmanager = start(
            &programs.join("prometheus-alertmanager"),
            &[
                format!("--config.file={sender}"),
                format!("--storage.path={}", state.path().join("a").display()),
                format!("--web.listen-address={alertmanager}"),
                "--cluster.listen-address=".to_owned(),
            ],
        );
        let _prometheus = start(
            &programs.join("prometheus"),
            &[
                format!("--config.file={}", put("prometheus.yml", config.to_string())),
                format!("--storage.tsdb.path={}", state.path().join("p").display()),
                format!("--web.listen-address={}", free_address()),
            ],
        );
        let await_scrapes = |times: usize| {
            let from = count.load(Ordering::SeqCst);
            wait_for("scrapes", || (count.load(Ordering::SeqCst) >= from + times).then_some(()));
        };
        await_scrapes(2);
        failed("default");
        failed("batch");
        metrics.image_fails(IMAGE, "OrasBinaryMissing");

        let next = || messages.recv_timeout(Duration::from_mins(1)).unwrap();
        let message = next();
        assert_eq!(
            (&message["status"], message["alerts"].as_array().unwrap().len()),
            (&json!("firing"), 1)
        );
        let texts = &message["commonAnnotations"];
        let summary = format!(
            "Node image {IMAGE} fails with OrasBinaryMissing while other images do not (cluster prod)"
        );
        assert_eq!(texts["summary"], summary);
        let description = texts["description"].as_str().unwrap();
        assert!(
            description.contains("`mooring fleet --namespace mooring-system`"),
            "{description}"
        );

        // Further failures send nothing.
        failed("spot");
        await_scrapes(3);
        metrics.image_recovered(IMAGE, "OrasBinaryMissing");
        let message = next();
        assert_eq!(
            (&message["status"], &message["commonAnnotations"]["summary"]),
            (&json!("resolved"), &json!(summary))
        );
    }
}

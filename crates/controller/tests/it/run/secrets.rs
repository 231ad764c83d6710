//! No output contains a secret.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mooring_controller::metrics::log;
use mooring_nodes::NodeFailure;
use mooring_simulator::azure::{Cse, ForeignExtension};

use crate::run::cluster::{Cluster, Replica};
use crate::run::modes::Provisioning;

const CANARIES: [&str; 4] = [
    "abcdef.0123456789abcdef",
    "hunter2-canary",
    "eyJhbGciOiJSUzI1NiJ9.eyJjYW5hcnkiOjF9.c2lnbmF0dXJl",
    "canary-sas-signature",
];

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

/// Output of the scripts on every node.
fn output() -> String {
    format!(
        "+ TLS_BOOTSTRAP_TOKEN={}\n+ curl -H 'Authorization: Bearer {}' https://u:{}@proxy\noras pull https://x.blob.core.windows.net/a?sv=2024-11-04&sr=b&sp=r&sig={} failed: oras: command not found\n",
        CANARIES[0], CANARIES[2], CANARIES[1], CANARIES[3]
    )
}

/// Captures logs of this thread from now on.
fn logged() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = log::subscriber(move || writer.clone(), log::Level::DEBUG);
    (lines, tracing::subscriber::set_default(subscriber))
}

/// Returns every output of a run, by name.
fn outputs(cluster: &Cluster, replica: &Replica, lines: &Lines) -> Vec<(String, String)> {
    let logged = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    for line in logged.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    let claims = ["default-x1", "default-x2"];
    let mut outputs = vec![
        ("condition".to_owned(), format!("{:?}", claims.map(|claim| cluster.forms(claim)))),
        ("events".to_owned(), format!("{:?}", cluster.events())),
        ("record".to_owned(), serde_json::to_string(&cluster.record()).unwrap()),
        ("metrics".to_owned(), replica.metrics.text()),
        ("logs".to_owned(), logged),
    ];
    // The NodeClaims are gone: `why` reads the record.
    let record = cluster.record();
    let failures: Vec<NodeFailure> = record.entries().map(NodeFailure::recorded).collect();
    assert_eq!(failures.len(), claims.len());
    for (claim, failure) in claims.iter().zip(failures) {
        outputs.push((format!("why {claim}"), format!("{failure:?}")));
    }
    outputs
}

fn assert_no_canary(outputs: &[(String, String)], how: &dyn std::fmt::Debug) {
    for (door, text) in outputs {
        assert!(!text.is_empty(), "{how:?}: {door}");
        for canary in CANARIES {
            assert!(!text.contains(canary), "{how:?}: {canary} in {door}: {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn secrets_in_bootstrap_output_are_redacted_everywhere() {
    for how in Provisioning::ALL {
        let (lines, _guard) = logged();
        let failed = Cse { output: output(), ..Cse::oras_missing() };
        let cluster = Cluster::new(false, how.with_cse(failed));
        cluster.shell.with(|world, _| {
            let quiet = Cse { registers: false, output: output(), ..Cse::default() };
            world.karpenter_mut().unwrap().set_cse("default-x2", quiet);
        });
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        cluster.provision(how, "default-x2").await;
        cluster.pass(how.timeout_seconds() + 300).await;
        assert_eq!(cluster.record().entries().count(), 2, "{how:?}");
        assert_no_canary(&outputs(&cluster, &replica, &lines), &how);
        replica.stop().await;
    }
}

/// The address of a blob in an extension's settings, which the extension could not read.
#[tokio::test(start_paused = true)]
async fn blob_url_signatures_are_redacted_everywhere() {
    let url = format!(
        "https://aksnodes.blob.core.windows.net/cse/run.sh?sv=2024-11-04&st=2026-11-15T05%3A00%3A00Z&sr=b&sp=r&sig={}%2Fabc%3D",
        CANARIES[3]
    );
    for message in [
        format!(
            "Failed to download all specified files. Exiting. Error: GET {url}: 403 Server failed to authenticate the request."
        ),
        format!("{{\"fileUris\":[\"{url}\"],\"commandToExecute\":\"bash run.sh\"}}: exit status 1"),
    ] {
        let (lines, _guard) = logged();
        let failed = Cse { output: message.clone(), error: message.clone(), ..Cse::oras_missing() };
        let how = Provisioning::Extension;
        let cluster = Cluster::new(false, how.with_cse(failed));
        let replica = cluster.start("a");
        cluster.pass(5).await;
        cluster.provision(how, "default-x1").await;
        cluster.provision(how, "default-x2").await;
        cluster.shell.with(|world, _| {
            let options = world.azure().options();
            let vm = format!("{}/aks-default-x2", options.compute("virtualMachines"));
            let foreign = ForeignExtension {
                name: "a-policy".to_owned(),
                publisher: "Microsoft.Azure.Extensions".to_owned(),
                kind: "CustomScript".to_owned(),
                state: "Failed".to_owned(),
                message: message.clone(),
                suppress_failures: false,
            };
            assert!(world.azure_mut().add_extension(&vm, &foreign));
        });
        cluster.pass(how.timeout_seconds()).await;
        assert_eq!(cluster.record().entries().count(), 2);
        assert_no_canary(&outputs(&cluster, &replica, &lines), &message);
        replica.stop().await;
    }
}

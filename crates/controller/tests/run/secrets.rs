//! No secret leaves by any door.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mooring_controller::log;
use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{Mode, Options};

use crate::cluster::Cluster;

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

#[tokio::test(start_paused = true)]
async fn no_secret_of_a_bootstraps_output_is_told_anywhere() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = log::subscriber(move || writer.clone(), log::Level::DEBUG);
    let _guard = tracing::subscriber::set_default(subscriber);
    let output = format!(
        "+ TLS_BOOTSTRAP_TOKEN={}\n+ curl -H 'Authorization: Bearer {}' https://u:{}@proxy\noras pull https://x.blob.core.windows.net/a?sig={} failed: oras: command not found\n",
        CANARIES[0], CANARIES[2], CANARIES[1], CANARIES[3]
    );
    let image = "202601.27.0".to_owned();
    let failed = Cse { output: output.clone(), ..Cse::oras_missing() };
    let cluster = Cluster::new(
        false,
        Options {
            mode: Mode::Vm,
            bootstraps: [(image.clone(), failed)].into(),
            image_version: image,
            ..Options::default()
        },
    );
    cluster.shell.with(|world, _| {
        let quiet = Cse { registers: false, output, ..Cse::default() };
        world.karpenter_mut().unwrap().set_fate("default-x2", quiet);
    });
    let replica = cluster.start("a");
    cluster.pass(5).await;
    cluster.claim("default-x1");
    cluster.claim("default-x2");
    cluster.pass(600).await;
    let told = format!("{:?} {:?}", cluster.told("default-x1"), cluster.told("default-x2"));
    let logged = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let record = serde_json::to_string(&cluster.record()).unwrap();
    assert_eq!(cluster.record().entries().count(), 2);
    for line in logged.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
    for (door, text) in [
        ("condition", told),
        ("events", format!("{:?}", cluster.events())),
        ("record", record),
        ("metrics", replica.metrics.text()),
        ("logs", logged),
    ] {
        assert!(!text.is_empty(), "{door}");
        for canary in CANARIES {
            assert!(!text.contains(canary), "{canary} in {door}: {text}");
        }
    }
    replica.stop().await;
}

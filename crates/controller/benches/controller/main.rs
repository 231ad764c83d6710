//! Costs of the controller, under virtual time, with Azure's throttling: `cargo xtask bench controller`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement, not a product"
)]
#![allow(dead_code, reason = "the tests' world has more than is measured here")]

#[path = "../../tests/it/run/azure.rs"]
mod azure;
#[path = "../../tests/it/run/cluster.rs"]
mod cluster;
mod generated;
#[path = "../../tests/it/run/rules.rs"]
mod rules;

use std::collections::BTreeMap;
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use mooring_simulator::azure::{Cse, NewVm};
use mooring_simulator::cluster as world;
use mooring_simulator::karpenter::{KarpenterOptions, ProvisionMode};

use cluster::{CLAIMS, Cluster};

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if let [what, count] = &words[..]
        && what == "memory"
    {
        // A separate process for each, so that nothing else is in its memory.
        return paused(generated::memory(count.parse().unwrap()));
    }
    println!("| what | measured | limit |\n|---|---|---|");
    paused(healthy());
    paused(failures(true));
    paused(failures(false));
    memory();
}

fn paused(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work);
}

fn row(what: &str, measured: &str, limit: &str) {
    println!("| {what} | {measured} | {limit} |");
}

/// 5,000 joined nodes, 50 new in the hour, of which every tenth never registers. Scriptless, by default.
async fn healthy() {
    const NODES: u32 = 5_000;
    let cluster = Cluster::quiet(world::ClusterOptions {
        workloads: false,
        ..world::ClusterOptions::default()
    });
    cluster.shell.with(|world, now| {
        for number in 0..NODES {
            let name = format!("aks-default-{number}");
            let vm = NewVm::booting(&name, "202601.13.0", Cse::default(), now);
            world.azure_mut().create_vm(&NewVm { grown: true, ..vm });
        }
    });
    cluster.pass(40 * 60).await;
    cluster.shell.with(|world, now| world.start_karpenter(KarpenterOptions::default(), now));
    let replica = cluster.start("a");
    cluster.pass(60).await;
    let before = replica.requests();
    for number in 0..50 {
        let name = format!("default-new{number}");
        if number % 10 == 0 {
            cluster.shell.with(|world, _| {
                world.karpenter_mut().unwrap().set_cse(&name, Cse::oras_missing());
            });
        }
        cluster.claim(&name);
        cluster.pass(72).await;
    }
    let reads = replica.requests() - before;
    let rate = f64::from(u32::try_from(reads).unwrap()) / f64::from(NODES) / 60.0;
    row(
        "ARM reads per claim-minute, 5,000 up, 50 new in the hour, 5 of them failing; scriptless",
        &format!("{rate:.5} ({reads} reads in 60 min)"),
        "0.005",
    );
    replica.stop().await;
}

async fn failures(announced: bool) {
    let image = "202601.27.0".to_owned();
    let options = KarpenterOptions {
        mode: ProvisionMode::Vm,
        bootstraps: [(image.clone(), Cse::oras_missing())].into(),
        image_version: image,
        ..KarpenterOptions::default()
    };
    let cluster = Cluster::quiet(world::ClusterOptions {
        karpenter: Some(options),
        workloads: false,
        ..world::ClusterOptions::default()
    });
    let replica = cluster.start("a");
    cluster.pass(10).await;
    for number in 0..200 {
        cluster.claim(&format!("default-{number}"));
    }
    if !announced {
        // Karpenter restarts after it created the extensions, and no longer waits for the bootstraps.
        cluster.pass(60).await;
        cluster.shell.with(|world, now| world.karpenter_mut().unwrap().restart(now));
    }
    cluster.pass(600).await;
    let from = if announced { announcements(&cluster) } else { ends(&cluster) };
    let mut written: BTreeMap<String, Timestamp> = BTreeMap::new();
    for (resource, uid, _, at) in cluster.writes() {
        if resource == CLAIMS {
            written.insert(uid, at);
        }
    }
    let mut waits: Vec<SignedDuration> =
        from.iter().filter_map(|(uid, at)| Some(written.get(uid)?.duration_since(*at))).collect();
    waits.sort_unstable();
    let at = |percent: usize| waits[(waits.len() * percent).div_ceil(100).max(1) - 1].as_secs_f64();
    let reported = waits.len();
    let (what, limit) = if announced {
        ("200 failures at once, announced: from Karpenter's event to the condition", "p99 ≤ 10 s")
    } else {
        ("200 failures at once, not announced: from the end of the bootstrap to the condition", "")
    };
    row(
        what,
        &format!(
            "p50 {:.1} s, p90 {:.1} s, p99 {:.1} s, max {:.1} s, {reported} reported",
            at(50),
            at(90),
            at(99),
            at(100)
        ),
        limit,
    );
    let metrics = replica.metrics.text();
    let throttled = metrics.lines().find(|line| line.starts_with("mooring_arm_throttled_total"));
    row(
        "… requests throttled by Azure",
        throttled.and_then(|line| line.split(' ').nth(1)).unwrap_or("?"),
        "0",
    );
    replica.stop().await;
}

fn announcements(cluster: &Cluster) -> BTreeMap<String, Timestamp> {
    cluster.shell.with(|world, _| {
        let events = world.kubernetes().objects("events", Some("default"));
        let announced = events.filter(|event| event["reason"] == "AsyncProvisioningError");
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        announced
            .map(|event| {
                (
                    text(&event["involvedObject"]["uid"]),
                    text(&event["lastTimestamp"]).parse().unwrap(),
                )
            })
            .collect()
    })
}

/// Simulated bootstraps end 2 s (launch) + 40 s (boot) + 3 s (poll) + 75 s (scripts) after the creation of
/// the NodeClaim.
fn ends(cluster: &Cluster) -> BTreeMap<String, Timestamp> {
    cluster.shell.with(|world, _| {
        let claims = world.kubernetes().objects(CLAIMS, None);
        claims
            .map(|claim| {
                let created: Timestamp =
                    claim["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap();
                let uid = claim["metadata"]["uid"].as_str().unwrap().to_owned();
                (uid, created + SignedDuration::from_secs(120))
            })
            .collect()
    })
}

fn memory() {
    let me = std::env::current_exe().unwrap();
    let mut kib = BTreeMap::new();
    for count in [0_u64, 5_000, 50_000] {
        let output = Command::new(&me).args(["memory", &count.to_string()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let figures: Vec<u64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
        row(
            &format!("resident memory with {count} NodeClaims, current and peak"),
            &format!("{:.1} MiB, {:.1} MiB", mib(figures[0]), mib(figures[1])),
            "",
        );
        kib.insert(count, figures[0]);
    }
    let slope = (kib[&50_000] - kib[&5_000]) * 1024 / 45_000;
    row("bytes per claim, from 5,000 to 50,000", &slope.to_string(), "1024");
}

fn mib(kib: u64) -> f64 {
    f64::from(u32::try_from(kib).unwrap()) / 1024.0
}

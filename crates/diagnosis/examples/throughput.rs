//! Reads a long text as `explain` does, and prints MB/s and peak resident memory:
//! `cargo run --release -p mooring-diagnosis --example throughput -- [plain|nested|objects|short] [MB]`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "developer tool, which measures time"
)]

use std::time::Instant;

use mooring_diagnosis::{DiagnosisStream, Hints, diagnose};

const LOG: &str = "+ echo 'installing cached version of the container runtime'\n\
    Reading package lists... Building dependency tree... Reading state information...\n\
    I1115 03:49:25.000000    4907 server.go:440] \"Kubelet version\" kubeletVersion=\"v1.34.1\"\n\
    Get:12 http://azure.archive.ubuntu.com/ubuntu jammy-updates/main amd64 Packages [2,014 kB]\n\
    * Connected to mcr.microsoft.com (204.79.197.219) port 443 (#0)\n";

/// Keys and values: more anchors than in a log.
const OBJECT: &str = "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"aks-nodepool1-12345678-vmss00000a\", \
    \"labels\": {\"kubernetes.azure.com/node-image-version\": \"AKSUbuntu-2204gen2containerd-202510.19.1\"}}, \
    \"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"True\", \"reason\": \"KubeletReady\", \
    \"message\": \"kubelet is posting ready status\"}], \"addresses\": [{\"type\": \"InternalIP\", \"address\": \"10.224.0.4\"}]}}\n";

const SHORT: &str = "(SubnetIsFull) Subnet nodes with address prefix 10.0.0.0/24 does not have enough capacity for 1 IP addresses. az aks\n";

fn main() {
    let kind = std::env::args().nth(1).unwrap_or_else(|| "plain".to_owned());
    let megabytes: usize = std::env::args().nth(2).map_or(100, |word| word.parse().unwrap());
    if kind == "short" {
        let text = format!("{}{}", LOG.repeat(2), SHORT);
        let begun = Instant::now();
        let found = diagnose(&text.as_bytes()[text.len().saturating_sub(1024)..], Hints::default());
        println!("first use {:?}: {}", begun.elapsed(), found[0].reason);
        return;
    }
    let piece = match kind.as_str() {
        "nested" => {
            let line = LOG.replace('"', "\\\\\\\"").replace('\n', "\\\\n");
            format!(
                "{{\"code\": \"Conflict\", \"message\": \"{{\\\"error\\\": \\\"{line}\\\"}}\"}}\n"
            )
        }
        "objects" => OBJECT.to_owned(),
        _ => LOG.to_owned(),
    };
    let chunk = piece.repeat((1 << 20) / piece.len());
    let begun = Instant::now();
    let mut stream = DiagnosisStream::new(Hints::default());
    let mut read = 0;
    while read < megabytes * 1_000_000 {
        stream.push(chunk.as_bytes());
        read += chunk.len();
    }
    let found = stream.finish().diagnoses.len();
    let wall = begun.elapsed().as_secs_f64();
    // CPU ticks, 100 per second: wall time on a shared host is unreliable.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks: f64 =
        stat.split(' ').nth(13).and_then(|word| word.parse().ok()).unwrap_or(wall * 100.0);
    let megabytes = read as f64 / 1e6;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!(
        "{kind}: {:.0} MB/s, {:.0} MB per second of processor time, {found} diagnoses, {}",
        megabytes / wall,
        megabytes / (ticks / 100.0),
        peak.trim()
    );
}

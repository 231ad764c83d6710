//! Reads long texts as `explain` does, and prints MB/s and peak resident memory:
//! `cargo run --release -p mooring-diagnosis --example throughput -- [KIND|FILE] [MB]`.
//!
//! Without a kind, each runs in a process of its own. Inputs are lines as programs write them, with other names, numbers
//! and words in each line; failures are the texts of the corpus with other numbers. A file is read as it is.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "developer tool, which measures time"
)]

#[path = "../tests/corpus/reader.rs"]
mod reader;

use std::path::Path;
use std::time::Instant;

use mooring_diagnosis::{DiagnosisStream, Hints, diagnose};

/// In a template, `#` is a digit, `@` a hexadecimal digit and `~` a word.
const KINDS: [(&str, &[&str]); 6] = [
    (
        "journal",
        &[
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ kubelet[####]: I1115 0#:##:##.######    #### kubelet.go:####] \"SyncLoop (~)\" source=\"api\" pods=[\"~/~-@@@@@@@@@-@@@@@\"]",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ kubelet[####]: I1115 0#:##:##.######    #### reconciler_common.go:###] \"operationExecutor.~ started for volume \\\"~\\\" (UniqueName: \\\"kubernetes.io/projected/@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@-~\\\") pod \\\"~-@@@@@\\\"\"",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ containerd[####]: time=\"2025-11-15T0#:##:##.#########Z\" level=info msg=\"ImageCreate event name:\\\"mcr.microsoft.com/oss/~/~:v1.##.#\\\" labels:{key:\\\"io.cri-containerd.image\\\" value:\\\"managed\\\"}\"",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ containerd[####]: time=\"2025-11-15T0#:##:##.#########Z\" level=info msg=\"shim disconnected\" id=@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ namespace=k8s.io",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ systemd[1]: Started libcontainer container @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@.",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ kernel: eth#: renamed from ~@@@@; entered promiscuous mode ##",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ systemd[1]: ~-@@@@.scope: Deactivated successfully. Consumed #.###s CPU time.",
            "Nov 15 0#:##:## aks-nodepool#-########-vmss00000@ python3[###]: 2025-11-15T0#:##:##.######Z INFO ExtHandler ExtHandler Goal state ~ [incarnation ##] id @@@@@@@@",
        ],
    ),
    (
        "cloud-init-output",
        &[
            "Cloud-init v. 2#.#.#-0ubuntu0~22.04.# running '~:~' at Sat, 15 Nov 2025 0#:##:## +0000. Up ##.## seconds.",
            "ci-info: | eth# | True |  10.###.#.##  | 255.255.0.0 | global | 00:0d:3a:@@:@@:@@ |",
            "Get:## http://azure.archive.ubuntu.com/ubuntu jammy-updates/main amd64 ~-~ amd64 #.##.#-#ubuntu#.## [#,### kB]",
            "Unpacking ~-~ (#.##-#ubuntu#.#) over (#.##-#ubuntu#) ...",
            "Setting up lib~#:amd64 (#.##.#-#ubuntu0.##) ...",
            "Selecting previously unselected package ~-~-dev. (Reading database ... ##### files and directories currently installed.)",
            "+ ~ --~=/etc/~/~.conf '@@@@@@@@' \"~ ~ ~\"",
        ],
    ),
    (
        "cluster-provision",
        &[
            "+ logs_to_events AKS.CSE.~ ~",
            "++ date +'%F %T.%3N'",
            "+ local ~_~=2025-11-15' '0#:##:##.###",
            "+ retrycmd_if_~ ### # ## ~ ~ --~",
            "+ [[ ~ == \\u\\b\\u\\n\\t\\u ]]",
            "+ mkdir -p /etc/systemd/system/~.service.d /opt/~/~ ; chmod 0### /etc/~/~.json",
            "+ jq -n --arg Timestamp '2025-11-15 0#:##:##.###' --arg TaskName AKS.CSE.~ --arg OperationId '2025-11-15 0#:##:##.###' '{Timestamp: $Timestamp, ~: $~}'",
            "~.service - ~ ~ loaded active running since 0#:##:##; ##ms ago",
            "    \"~~\": \"~-~-#.#.#\",",
        ],
    ),
    (
        "kubectl-objects",
        &[
            "        {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"creationTimestamp\": \"2025-11-15T0#:##:##Z\", \"generateName\": \"~-@@@@@@@@@-\", \"labels\": {\"app\": \"~\", \"pod-template-hash\": \"@@@@@@@@@\"},",
            "            \"name\": \"~-@@@@@@@@@-@@@@@\", \"namespace\": \"~\", \"resourceVersion\": \"#######\", \"uid\": \"@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@\"},",
            "            \"spec\": {\"containers\": [{\"image\": \"~.azurecr.io/~/~:#.##.#\", \"imagePullPolicy\": \"IfNotPresent\", \"name\": \"~\", \"resources\": {\"limits\": {\"cpu\": \"###m\", \"memory\": \"###Mi\"}}}]",
            "            \"volumeMounts\": [{\"mountPath\": \"/var/run/~/~\", \"name\": \"kube-api-access-@@@@@\", \"readOnly\": true}],",
            "            \"status\": {\"conditions\": [{\"lastTransitionTime\": \"2025-11-15T0#:##:##Z\", \"status\": \"True\", \"type\": \"Ready\"}], \"hostIP\": \"10.224.0.##\", \"phase\": \"Running\", \"podIP\": \"10.244.#.##\"",
            "            \"labels\": {\"kubernetes.azure.com/node-image-version\": \"AKSUbuntu-2204gen2containerd-2025##.##.#\", \"kubernetes.io/hostname\": \"aks-~-########-vmss00000@\"},",
        ],
    ),
    (
        "az-output",
        &[
            "    \"id\": \"/subscriptions/@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@/resourceGroups/MC_~_~_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/aks-~-########-vmss/virtualMachines/##\",",
            "    \"~\": {\"~\": null, \"~Id\": \"@@@@@@@@-@@@@-@@@@\", \"provisioningState\": \"Succeeded\", \"count\": ##},",
            "    \"eventTimestamp\": \"2025-11-15T0#:##:##.#######Z\", \"correlationId\": \"@@@@@@@@-@@@@-@@@@-@@@@-@@@@@@@@@@@@\", \"level\": \"Informational\",",
            "    \"~Profile\": {\"~Version\": \"1.##.#\", \"~\": false, \"~Name\": \"~-~\", \"maxPods\": ###},",
            "    \"tags\": {\"~\": \"~\", \"~-~\": \"~ ~ ~\"},",
        ],
    ),
    (
        "build-log",
        &[
            "##[section]Starting: ~ ~",
            "2025-11-15T0#:##:##.#######Z  ---> @@@@@@@@@@@@",
            "2025-11-15T0#:##:##.#######Z Step ##/## : RUN apt-get install -y ~ ~ ~-dev && rm -rf /var/lib/~",
            "2025-11-15T0#:##:##.#######Z   ~.go:###:##: ~ declared in ~/~@v#.##.#",
            "2025-11-15T0#:##:##.#######Z ok   github.com/~/~/pkg/~ #.###s coverage: ##.#% of statements",
            "2025-11-15T0#:##:##.#######Z [###/###] CXX src/~/~_~.o -I/usr/include/~ -O2 -DNDEBUG",
            "2025-11-15T0#:##:##.#######Z npm ~ ~@#.##.#: ~ ~ ~ ~ ~ ~",
        ],
    ),
];

const SHORT: &str = "(SubnetIsFull) Subnet nodes with address prefix 10.0.0.0/24 does not have enough capacity for 1 IP addresses. az aks\n";

/// A seeded generator (`SplitMix64`).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap() % limit
    }
}

/// The words of this repository's prose, so that lines are as varied as those of programs.
fn words() -> Vec<&'static str> {
    let prose =
        concat!(include_str!("../../../ARCHITECTURE.md"), include_str!("../../../CONTRIBUTING.md"));
    prose.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2).collect()
}

fn line(template: &str, words: &[&str], random: &mut Random, text: &mut Vec<u8>) {
    for byte in template.bytes() {
        match byte {
            b'#' => text.push(b'0' + u8::try_from(random.below(10)).unwrap()),
            b'@' => text.push(b"0123456789abcdef"[random.below(16)]),
            b'~' => text.extend_from_slice(words[random.below(words.len())].as_bytes()),
            other => text.push(other),
        }
    }
    text.push(b'\n');
}

/// Texts of the corpus in any order, with other digits.
fn failures(random: &mut Random, length: usize) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let cases = reader::read(&corpus).unwrap();
    let mut text = Vec::new();
    while text.len() < length {
        for byte in &cases[random.below(cases.len())].text {
            let digit = byte.is_ascii_digit().then(|| u8::try_from(random.below(10)).unwrap());
            text.push(digit.map_or(*byte, |digit| b'0' + digit));
        }
        text.push(b'\n');
    }
    text
}

fn input(kind: &str, length: usize) -> Vec<u8> {
    let random = &mut Random(1);
    if kind == "failures" {
        return failures(random, length);
    }
    let Some((_, templates)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        return std::fs::read(kind).unwrap();
    };
    let words = words();
    let mut text = Vec::new();
    while text.len() < length {
        line(templates[random.below(templates.len())], &words, random, &mut text);
    }
    text
}

/// Processor time of this process in seconds: wall time on a shared host is unreliable.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    stat.split(' ').nth(13).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or_default() / 100.0
}

fn main() {
    let megabytes: usize = std::env::args().nth(2).map_or(50, |word| word.parse().unwrap());
    let Some(kind) = std::env::args().nth(1) else {
        let own = std::env::current_exe().unwrap();
        for kind in KINDS.iter().map(|(name, _)| *name).chain(["failures", "short"]) {
            std::process::Command::new(&own).arg(kind).status().unwrap();
        }
        return;
    };
    if kind == "short" {
        let log = input("journal", 1024 - SHORT.len());
        let text = [&log[log.len() + SHORT.len() - 1024..], SHORT.as_bytes()].concat();
        let begun = Instant::now();
        let found = diagnose(&text, Hints::default());
        println!("short: first use {:?}: {}", begun.elapsed(), found[0].reason);
        return;
    }
    let text = input(&kind, megabytes * 1_000_000);
    let (begun, before) = (Instant::now(), processor_time());
    let mut stream = DiagnosisStream::new(Hints::default());
    for chunk in text.chunks(1 << 16) {
        stream.push(chunk);
    }
    let found = stream.finish().diagnoses.len();
    let (wall, processor) = (begun.elapsed().as_secs_f64(), processor_time() - before);
    let megabytes = text.len() as f64 / 1e6;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!(
        "{kind}: {megabytes:.0} MB at {:.0} MB/s, {:.0} MB per second of processor time, {found} diagnoses, {} with the text",
        megabytes / wall,
        megabytes / processor.max(0.01),
        peak.trim()
    );
}

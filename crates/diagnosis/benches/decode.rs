//! Decoding speed: `cargo bench -p mooring-diagnosis`. Target: 250 MB/s on plain text.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mooring_diagnosis::{Hints, decode, diagnose};

fn main() {
    divan::main();
}

/// A node's log: traces, package manager, kubelet.
fn plain(mib: usize) -> String {
    let lines = "+ echo 'installing cached version of the container runtime'\n\
        Reading package lists... Building dependency tree... Reading state information...\n\
        I1115 03:49:25.000000    4907 server.go:440] \"Kubelet version\" kubeletVersion=\"v1.34.1\"\n\
        Get:12 http://azure.archive.ubuntu.com/ubuntu jammy-updates/main amd64 Packages [2,014 kB]\n\
        * Connected to mcr.microsoft.com (204.79.197.219) port 443 (#0)\n";
    lines.repeat((mib << 20) / lines.len())
}

/// Returns a message in nested JSON strings.
fn escaped(times: usize) -> String {
    let output = plain(1)[..3000].replace('\n', "\\n").replace('"', "\\\"");
    let report =
        format!("{{\"ExitCode\": \"51\", \"Output\": \"{output}\", \"ExecDuration\": \"60\"}}");
    let message = format!(
        "VM has reported a failure when processing extension 'vmssCSE'. Error message: \"Enable \
         failed: failed to execute command: command terminated with exit status=1\n[stdout]\n\
         {report}\n\n[stderr]\n\"."
    );
    (0..times).fold(message, |text, _| {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
    })
}

#[divan::bench(args = [1, 16])]
fn plain_text_mib(bencher: Bencher, mib: usize) {
    let text = plain(mib);
    bencher.counter(BytesCount::new(text.len())).bench(|| decode(black_box(text.as_bytes())));
}

#[divan::bench(args = [0, 1, 3, 5])]
fn message_in_json_strings(bencher: Bencher, times: usize) {
    let text = escaped(times);
    assert_eq!(decode(text.as_bytes())[0].code, Some(51), "the input must decode");
    bencher.counter(BytesCount::new(text.len())).bench(|| decode(black_box(text.as_bytes())));
}

#[divan::bench]
fn diagnose_a_message(bencher: Bencher) {
    let text = escaped(2);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| diagnose(black_box(text.as_bytes()), Hints::default()));
}

//! Time of redaction: `cargo bench -p mooring-redact`.
//!
//! Aims: a redactor for a node's secrets, a private key among them, in under 2 ms; redacting output
//! without secrets at more than 100 MB/s; any hostile text at more than 1 MB/s.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mooring_redact::Redactor;

fn main() {
    divan::main();
}

/// Reproducible noise: a 64-bit linear congruential generator.
fn noise(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed;
    std::iter::from_fn(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(state.to_be_bytes()[0])
    })
}

/// A file like a private key of 4096 bits: 3.2 KB in lines of 64 characters.
fn private_key(seed: u64) -> String {
    let body = STANDARD.encode(noise(seed).take(2350).collect::<Vec<_>>());
    let mut file = String::from("-----BEGIN RSA PRIVATE KEY-----\n");
    for line in body.as_bytes().chunks(64) {
        file.push_str(&String::from_utf8_lossy(line));
        file.push('\n');
    }
    file + "-----END RSA PRIVATE KEY-----\n"
}

/// The secrets of a node config.
fn secrets() -> Vec<String> {
    vec![
        "abcdef.0123456789abcdef".into(),
        STANDARD.encode("A~very.secret-service_principal"),
        STANDARD.encode(private_key(1)),
        "realm & 'password'".into(),
        "user:p%40ss".into(),
        "p%40ss".into(),
    ]
}

/// Output of a bootstrap script under `set -x`.
fn output() -> Vec<u8> {
    let line =
        "+ retrycmd_if_failure 120 5 25 apt-get install -y --no-install-recommends nodejs=20.1.2\n";
    line.bytes().cycle().take(1 << 20).collect()
}

#[divan::bench]
fn build_for_a_node(bencher: Bencher) {
    let secrets = secrets();
    bencher.bench(|| Redactor::new(black_box(&secrets)));
}

#[divan::bench]
fn build_for_two_private_keys(bencher: Bencher) {
    let keys = [STANDARD.encode(private_key(1)), STANDARD.encode(private_key(2))];
    bencher.bench(|| Redactor::new(black_box(&keys)));
}

#[divan::bench]
fn clean_output(bencher: Bencher) {
    redact(bencher, &secrets(), &output());
}

#[divan::bench]
fn base64_noise(bencher: Bencher) {
    let noise = STANDARD.encode(noise(7).take(786_432).collect::<Vec<_>>());
    redact(bencher, &secrets(), noise.as_bytes());
}

#[divan::bench]
fn nothing_but_a_private_key(bencher: Bencher) {
    let text: Vec<u8> = private_key(1).bytes().cycle().take(1 << 20).collect();
    redact(bencher, &secrets(), &text);
}

/// Every position is the start of a secret that differs from the text in its last byte only.
#[divan::bench]
fn almost_a_secret_everywhere(bencher: Bencher) {
    let secrets: Vec<String> = (4..60).map(|length| "a".repeat(length) + "b").collect();
    redact(bencher, &secrets, &vec![b'a'; 1 << 20]);
}

#[divan::bench]
fn stream_of_single_bytes(bencher: Bencher) {
    let redactor = Redactor::new(secrets());
    let text = output();
    bencher.counter(BytesCount::of_slice(&text)).bench(|| {
        let mut out = Vec::with_capacity(text.len());
        let mut stream = redactor.stream();
        for byte in &text {
            stream.push(std::slice::from_ref(byte), &mut out);
        }
        stream.finish(&mut out);
        out
    });
}

fn redact(bencher: Bencher, secrets: &[String], text: &[u8]) {
    let redactor = Redactor::new(secrets);
    bencher
        .counter(BytesCount::of_slice(text))
        .bench(|| redactor.redact_bytes(black_box(text)).into_owned());
}

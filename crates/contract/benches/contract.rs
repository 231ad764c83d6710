//! Benchmarks of the contract: `cargo bench -p mooring-contract`.
//!
//! Aim: a 64 KiB config in under 1 ms.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use mooring_contract::node_config::parse;

fn main() {
    divan::main();
}

/// A config of about `kib` KiB in the shape of a real one: mostly labels, flags and certificates.
fn config(kib: usize) -> String {
    let mut document = String::from(
        r#"{"version": "v1", "kubernetes_version": "1.34.1", "vm_size": "Standard_D4s_v5", "is_vhd": true,
        "cluster_config": {"location": "westeurope", "resource_group": "group", "vm_type": "VM_TYPE_VMSS",
        "cluster_network_config": {"vnet_name": "vnet", "route_table": "routes"}},
        "api_server_config": {"api_server_name": "api.example"}, "cse_timeout": 900,
        "custom_ca_certs": ["MIIB\nAAAA\nBBBB\nCCCC"], "kubelet_config": {"kubelet_flags": {"--v": "2""#,
    );
    let tail = "}}}";
    for flag in 0.. {
        let entry = format!(", \"--flag-number-{flag}\": \"value-{flag}\"");
        if document.len() + entry.len() + tail.len() > kib * 1024 {
            break;
        }
        document.push_str(&entry);
    }
    document + tail
}

#[divan::bench(args = [1, 64])]
fn parse_config_kib(bencher: Bencher, kib: usize) {
    let document = config(kib);
    assert!(parse(document.as_bytes()).is_ok(), "the benchmark's own config must be valid");
    bencher
        .counter(BytesCount::new(document.len()))
        .bench(|| parse(black_box(document.as_bytes())));
}

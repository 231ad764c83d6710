//! Stands for a program of a node image: starts, prints its version, ends.

fn main() {
    let name = std::env::args().next().unwrap_or_default();
    match name.rsplit('/').next() {
        Some("containerd") => println!("containerd github.com/containerd/containerd/v2 2.0.6 0123abc"),
        Some("oras") => println!("Version:        1.2.0"),
        _ => println!("1.34.1"),
    }
}

//! Links the agent at a fixed address, as the upstream Go agent is: else every start relocates thousands of pointers to constants.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    // The static build for images gets its own flags from `cargo xtask`: with musl the compiler chooses the start files.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

//! `registry-login` against a test registry and a test IMDS on loopback.

mod harness;
mod outcomes;
mod probe;
mod proxies;
mod secrets;
mod server;
mod virtual_time;

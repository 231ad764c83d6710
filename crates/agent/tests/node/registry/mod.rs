//! `registry-login` against a registry and an IMDS of our own, on loopback.

mod lab;
mod outcomes;
mod probe;
mod proxies;
mod secrets;
mod server;
mod virtual_time;

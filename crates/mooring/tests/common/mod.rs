//! What several tests of the built binary need.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and not every one needs all of this"
)]

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;

/// How long a response of the simulation may take.
const ANSWER: Duration = Duration::from_secs(30);

pub(crate) fn mooring() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mooring"))
}

/// A running `mooring sim`; it ends with the test.
pub(crate) struct Sim {
    pub(crate) child: Child,
    pub(crate) port: u16,
    state: PathBuf,
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sim {
    /// Starts one with its files in this folder, and waits until it is ready.
    pub(crate) fn start(state: &Path, more: &[&str]) -> Self {
        let mut child = mooring()
            .args(["sim", "--state"])
            .arg(state)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("ready https://127.0.0.1:");
        let port = port.expect("one line that says where").parse().unwrap();
        Self { child, port, state: state.to_owned() }
    }

    /// The value of one variable of its env.sh.
    pub(crate) fn variable(&self, name: &str) -> String {
        self.environment().into_iter().find(|(key, _)| key == name).unwrap().1
    }

    /// What its env.sh exports.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.state.join("env.sh")).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            (name.to_owned(), value.trim_matches('\'').to_owned())
        };
        text.lines().map(pair).collect()
    }

    /// Sends a request to the admin API and returns the whole response.
    pub(crate) fn admin(&self, head: &str, body: &str) -> String {
        let token = self.variable("MOORING_SIM_TOKEN");
        let headers = format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {token}", self.port);
        ask_as(self, &self.state, head, &headers, body)
    }
}

/// Sends one request over TLS, trusting the simulation's own authority only, and returns the whole response. The headers include
/// the host.
pub(crate) fn ask_as(sim: &Sim, state: &Path, head: &str, headers: &str, body: &str) -> String {
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(rustls::pki_types::CertificateDer::from_pem_file(state.join("ca.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection =
        rustls::ClientConnection::new(Arc::new(config), "127.0.0.1".try_into().unwrap()).unwrap();
    let tcp = TcpStream::connect(("127.0.0.1", sim.port)).unwrap();
    tcp.set_read_timeout(Some(ANSWER)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, tcp);
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut answer = Vec::new();
    // A server that closes without a farewell has still answered.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// Waits for a command with piped streams, but not for ever.
pub(crate) fn ended(mut child: Child, patience: Duration) -> Output {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            bytes
        })
    }
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > patience {
            let _ = child.kill();
            let said = [out.join().unwrap(), err.join().unwrap()].concat();
            panic!("it took too long: {}", text(&said));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// Exit code (-1 if a signal ended it), standard output and error.
pub(crate) fn told(output: &Output) -> (i32, String, String) {
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

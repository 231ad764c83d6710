//! Simulated Azure and Kubernetes with its files, in the process of the test or as a process of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "for tests, which fail by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use mooring_simulator::scenario::Scenario;
use mooring_simulator::sim::{self, SimulationSettings};
use rustls::pki_types::pem::PemObject as _;
use tokio::sync::oneshot;

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// A running simulator, ended at the end of the test.
pub struct Sim {
    pub port: u16,
    state: PathBuf,
    runs: Runs,
}

enum Runs {
    Thread { stop: Option<oneshot::Sender<()>>, thread: Option<JoinHandle<()>> },
    Process(Child),
}

impl Drop for Sim {
    fn drop(&mut self) {
        match &mut self.runs {
            Runs::Thread { stop, thread } => {
                drop(stop.take());
                let _ = thread.take().map(JoinHandle::join);
            }
            Runs::Process(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

impl Sim {
    /// Starts it in this process with its files in `state`, and waits until it is ready. Takes flags of `mooring-lab sim`.
    pub fn start(state: &Path, flags: &[&str]) -> Self {
        let settings = parse_flags(state, flags);
        let (ready, started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let simulation = sim::start(settings).await.unwrap();
                ready.send(simulation.url()).unwrap();
                let _ = stopped.await;
                simulation.stop().await;
            });
        });
        let url = started.recv().expect("the simulator did not start");
        let runs = Runs::Thread { stop: Some(stop), thread: Some(thread) };
        Self { port: port_of(&url), state: state.to_owned(), runs }
    }

    /// Starts it as a process of `mooring-lab`.
    pub fn spawn(lab: &Path, state: &Path, flags: &[&str]) -> Self {
        let mut command = Command::new(lab);
        command.args(["sim", "--state"]).arg(state).args(flags).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("ready ").expect("`ready URL`");
        Self { port: port_of(url), state: state.to_owned(), runs: Runs::Process(child) }
    }

    /// Returns the process of one that was spawned.
    pub fn process(&mut self) -> &mut Child {
        let Runs::Process(child) = &mut self.runs else { panic!("it runs in this process") };
        child
    }

    /// Returns the value of a variable in env.sh.
    pub fn variable(&self, name: &str) -> String {
        self.environment().into_iter().find(|(key, _)| key == name).unwrap().1
    }

    /// Returns the variables that env.sh exports.
    pub fn environment(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.state.join("env.sh")).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.strip_prefix("export ")?.split_once('=').unwrap();
            Some((name.to_owned(), value.trim_matches('\'').to_owned()))
        };
        text.lines().filter_map(pair).collect()
    }

    /// Sends a request to the admin API and returns the whole response.
    pub fn admin(&self, head: &str, body: &str) -> String {
        let token = self.variable("MOORING_SIM_TOKEN");
        let headers = format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {token}", self.port);
        send_with(self, &self.state, head, &headers, body)
    }
}

fn port_of(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().parse().unwrap()
}

fn parse_flags(state: &Path, flags: &[&str]) -> SimulationSettings {
    let mut settings = SimulationSettings {
        scenario: Scenario::named("healthy").unwrap(),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        state: state.to_owned(),
        speed: 60.0,
        seed: 1,
        kube_port: None,
        karpenter: None,
    };
    for pair in flags.chunks(2) {
        let [flag, value] = pair else { panic!("{flags:?}: a flag without a value") };
        match *flag {
            "--scenario" if value.contains(['/', '.']) => {
                let text = std::fs::read_to_string(value).unwrap();
                settings.scenario = Scenario::parse(value, &text).unwrap();
            }
            "--scenario" => settings.scenario = Scenario::named(value).unwrap(),
            "--kube-port" => settings.kube_port = Some(value.parse().unwrap()),
            "--speed" => settings.speed = value.parse().unwrap(),
            "--seed" => settings.seed = value.parse().unwrap(),
            _ => panic!("{flags:?}: unknown flag"),
        }
    }
    settings
}

/// Sends a request over TLS, trusting only the simulator's CA, and returns the response. `headers` include the host.
pub fn send_with(sim: &Sim, state: &Path, head: &str, headers: &str, body: &str) -> String {
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
    tcp.set_read_timeout(Some(RESPONSE_TIMEOUT)).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, tcp);
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\n{headers}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut response = Vec::new();
    // The server may close without close_notify.
    let _ = stream.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

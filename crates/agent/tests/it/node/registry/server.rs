//! An HTTP or HTTPS server on loopback with programmable responses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

#[derive(Debug, Clone)]
pub(super) struct ReceivedRequest {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    /// Number of earlier requests for the same path.
    pub(super) before: usize,
}

impl ReceivedRequest {
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Reaction of a server.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// Status, further headers, body.
    Whole(u16, Vec<(&'static str, String)>, String),
    /// These bytes, and then the connection is closed.
    Raw(Vec<u8>),
    Silence,
    /// A head, then a byte of the body every 10 milliseconds, and then none.
    Drip(Vec<u8>, Vec<u8>),
}

impl Reply {
    pub(super) fn json(status: u16, body: impl Into<String>) -> Self {
        Self::Whole(status, Vec::new(), body.into())
    }

    pub(super) fn header(self, name: &'static str, value: impl Into<String>) -> Self {
        match self {
            Self::Whole(status, mut headers, body) => {
                headers.push((name, value.into()));
                Self::Whole(status, headers, body)
            }
            other => other,
        }
    }
}

pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Each has a separate name, which distinguishes an unknown issuer from a forged one.
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("authority {}", COUNT.fetch_add(1, Ordering::Relaxed));
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self { issuer: CertifiedIssuer::self_signed(params, key).unwrap() }
    }

    pub(super) fn pem(&self) -> String {
        self.issuer.pem()
    }

    fn server_config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)
            .unwrap();
        Arc::new(config)
    }
}

/// A running server. It ends with the test process.
pub(super) struct Server {
    address: SocketAddr,
    tls: bool,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// A server without TLS.
    pub(super) fn http(answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::start(None, answer)
    }

    /// A server with a certificate for 127.0.0.1 and for `registry.test`.
    pub(super) fn https(
        authority: &Authority,
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(authority.server_config(&["127.0.0.1", "registry.test"])), answer)
    }

    fn start(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            tls: tls.is_some(),
            seen: Arc::default(),
        };
        let (seen, answer) = (Arc::clone(&server.seen), Arc::new(answer));
        thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                let (tls, seen, answer) = (tls.clone(), Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || match tls {
                    None => serve(tcp, &seen, &*answer),
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, tcp), &seen, &*answer);
                    }
                });
            }
        });
        server
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(super) fn url(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    pub(super) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

/// One connection, one request, one answer.
fn serve(
    stream: impl Read + Write,
    seen: &Mutex<Vec<ReceivedRequest>>,
    answer: &dyn Fn(&ReceivedRequest) -> Reply,
) {
    let mut reader = BufReader::new(stream);
    let Some(mut request) = read_request(&mut reader) else { return };
    {
        let mut seen = seen.lock().unwrap();
        request.before = seen.iter().filter(|other| other.path() == request.path()).count();
        seen.push(request.clone());
    }
    let mut stream = reader.into_inner();
    let _ = match answer(&request) {
        Reply::Whole(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
            for (name, value) in headers {
                head.extend([name, ": ", &value, "\r\n"]);
            }
            stream.write_all(format!("{head}\r\n{body}").as_bytes()).and_then(|()| stream.flush())
        }
        Reply::Raw(bytes) => stream.write_all(&bytes).and_then(|()| stream.flush()),
        Reply::Silence => stream.read(&mut [0]).map(drop),
        Reply::Drip(head, body) => stream.write_all(&head).and_then(|()| {
            body.iter()
                .try_for_each(|byte| {
                    stream.write_all(&[*byte]).and_then(|()| stream.flush())?;
                    thread::sleep(Duration::from_millis(10));
                    Ok(())
                })
                .and_then(|()| stream.read(&mut [0]).map(drop))
        }),
    };
}

/// Returns `None` for an invalid request, such as a failed handshake.
fn read_request(reader: &mut impl BufRead) -> Option<ReceivedRequest> {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut seen = ReceivedRequest { method, target, headers, body: String::new(), before: 0 };
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    seen.body = String::from_utf8(body).ok()?;
    Some(seen)
}

/// A proxy that tunnels any accepted request to `to`.
pub(super) fn proxy(to: u16, accepts: impl Fn(&ReceivedRequest) -> u16 + Send + 'static) -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::<Mutex<Vec<ReceivedRequest>>>::default();
    let log = Arc::clone(&seen);
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Some(request) = read_request(&mut BufReader::new(&client)) else { continue };
            let status = accepts(&request);
            log.lock().unwrap().push(request);
            let _ = (&client).write_all(format!("HTTP/1.1 {status} X\r\n\r\n").as_bytes());
            if status == 200 {
                let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Write);
                    });
                }
            }
        }
    });
    Proxy { port, seen }
}

pub(super) struct Proxy {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Proxy {
    pub(super) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

/// Returns a port without a listener. A recently freed port could be reused by another test.
pub(super) const DEAD_PORT: u16 = 1;

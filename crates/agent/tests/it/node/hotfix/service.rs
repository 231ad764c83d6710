//! A live-patching service on loopback, with a certificate of a made CA.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{Acceptor, ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, StreamOwned};

/// The name that the service's certificate is for.
pub(super) const NAME: &str = "aks-security-patch.data.mcr.microsoft.com";

/// A certificate authority for one test.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    fn config(&self, name: &str, protocols: &[&str]) -> Arc<ServerConfig> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &self.0).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![leaf.der().clone()], key)
                .unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Arc::new(config)
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ReceivedCall {
    pub(super) server_name: String,
    pub(super) protocols: Vec<String>,
    /// Everything after the handshake.
    pub(super) request: Vec<u8>,
}

/// The response of the service to a call.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    /// A success with the component's JSON.
    Config(String),
    /// A failure with this status.
    Status(u8),
    /// No response at all.
    Silence,
    /// A byte now and then, of a frame that never ends.
    Drip,
}

pub(super) struct Service {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<ReceivedCall>>>,
}

/// A certificate resolver that has a key and no certificate.
#[derive(Debug)]
struct NoCertificate(Arc<CertifiedKey>);

impl ResolvesServerCert for NoCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }
}

impl Service {
    /// Serves TLS with an empty list of certificates.
    pub(super) fn without_certificate() -> Self {
        let key = PrivateKeyDer::try_from(KeyPair::generate().unwrap().serialize_der()).unwrap();
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let resolver = NoCertificate(Arc::new(CertifiedKey::new(Vec::new(), key)));
        let mut config =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![b"h2".to_vec()];
        Self::serving(move |stream, seen| {
            serve(stream, &Arc::new(config.clone()), &Reply::Silence, seen);
        })
    }

    /// Serves a front that selects no application protocol.
    pub(super) fn without_protocol(authority: &Authority) -> Self {
        let config = authority.config(NAME, &[]);
        Self::serving(move |stream, seen| serve(stream, &config, &Reply::Silence, seen))
    }

    /// Serves HTTP/2 in clear text.
    pub(super) fn without_tls() -> Self {
        Self::serving(|mut stream, seen| {
            seen.lock().unwrap().push(ReceivedCall::default());
            let _ = respond(&mut stream, &Reply::Config("{}".to_owned()));
        })
    }

    /// Serves every connection alike, until the test process ends.
    pub(super) fn start(authority: &Authority, name: &str, reply: Reply) -> Self {
        let config = authority.config(name, &["h2", "aks-live-patching"]);
        Self::serving(move |stream, seen| serve(stream, &config, &reply, seen))
    }

    fn serving(serve: impl Fn(TcpStream, &Mutex<Vec<ReceivedCall>>) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let service = Self { port: listener.local_addr().unwrap().port(), seen: Arc::default() };
        let seen = Arc::clone(&service.seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(stream, &seen);
            }
        });
        service
    }

    pub(super) fn seen(&self) -> Vec<ReceivedCall> {
        self.seen.lock().unwrap().clone()
    }
}

/// A client that goes away ends its connection; the next one is served.
fn serve(
    mut tcp: TcpStream,
    config: &Arc<ServerConfig>,
    reply: &Reply,
    all: &Mutex<Vec<ReceivedCall>>,
) {
    let mut acceptor = Acceptor::default();
    let accepted = loop {
        if acceptor.read_tls(&mut tcp).is_err() {
            return;
        }
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => break accepted,
            Err(_) => return,
        }
    };
    let hello = accepted.client_hello();
    let protocols = hello.alpn().into_iter().flatten();
    let protocols = protocols.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let server_name = hello.server_name().unwrap_or_default().to_owned();
    all.lock().unwrap().push(ReceivedCall { server_name, protocols, request: Vec::new() });
    let Ok(connection) = accepted.into_connection(Arc::clone(config)) else { return };
    let mut stream = StreamOwned::new(connection, tcp);
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    // The call ends with the component's name.
    while !request.ends_with(b"aksNodeController") {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => request.extend_from_slice(&buffer[..count]),
            _ => return,
        }
    }
    all.lock().unwrap().last_mut().unwrap().request = request;
    let _ = respond(&mut stream, reply);
}

fn respond(stream: &mut (impl Read + Write), reply: &Reply) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    frame(&mut bytes, 4, 0, 0, &[]);
    let status = match reply {
        Reply::Silence => 0,
        Reply::Drip => {
            stream.write_all(&[0, 0x3f, 0xff, 0, 0, 0, 0, 0, 1])?;
            loop {
                stream.write_all(b".")?;
                stream.flush()?;
                thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        Reply::Status(status) => *status,
        Reply::Config(config) => {
            let mut head = vec![0x88];
            header(&mut head, "content-type", "application/grpc");
            frame(&mut bytes, 1, 4, 1, &head);
            let mut message = vec![0x12];
            let mut length = config.len();
            while length >= 0x80 {
                message.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
                length >>= 7;
            }
            message.push(u8::try_from(length).unwrap());
            message.extend(config.as_bytes());
            let mut body = vec![0];
            body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
            body.extend(message);
            for piece in body.chunks(9000) {
                frame(&mut bytes, 0, 0, 1, piece);
            }
            0
        }
    };
    if !matches!(reply, Reply::Silence) {
        let mut trailers = Vec::new();
        if !matches!(reply, Reply::Config(_)) {
            trailers.push(0x88);
            header(&mut trailers, "content-type", "application/grpc");
        }
        header(&mut trailers, "grpc-status", &status.to_string());
        frame(&mut bytes, 1, 4 | 1, 1, &trailers);
    }
    stream.write_all(&bytes)?;
    stream.flush()?;
    // Until the client goes away.
    stream.read_to_end(&mut Vec::new()).map(drop)
}

fn frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    bytes.extend(&u32::try_from(payload.len()).unwrap().to_be_bytes()[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
}

fn header(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        block.push(u8::try_from(text.len()).unwrap());
        block.extend(text.as_bytes());
    }
}

//! Services for a node of `cargo xtask lab node`, in addition to a real docker-registry: IMDS, the
//! registry's token endpoints, and servers in place of the registry. Writes certificates into the
//! given directory, then serves.
//!
//! The models authenticate; access tokens are signed for docker-registry, which verifies them
//! itself.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a lab: what fails ends it, with the reason"
)]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::Timestamp;
use mooring_simulator::exchange::{Body, Request, Response, ServerReply, json as json_response};
use mooring_simulator::imds::Imds;
use mooring_simulator::registry::Registry;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_rustls::TlsAcceptor;

/// Kubelet identity of the lab's nodes, and its tenant.
const CLIENT: &str = "00000000-0000-4000-8000-00000000c1d0";
const TENANT: &str = "00000000-0000-4000-8000-000000007e4a";
/// Address of docker-registry with token authentication.
const BACKEND: &str = "127.0.0.1:5001";
/// Name server for the name that has an IPv4 address and returns NXDOMAIN for IPv6.
const NAME_SERVER: &str = "127.0.0.1:5353";
const HALF_NAME_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 224, 1, 20);
/// Servers in front of docker-registry, with their certificates.
const CERTIFICATES: [(&str, &[&str]); 3] = [
    ("anonymous", &["anonymous.lab", "half.lab"]),
    ("expired", &["expired.lab"]),
    ("unknown-ca", &["unknown-ca.lab"]),
];
const DAY: i64 = 24 * 3600;

/// Behavior of a server in place of the registry.
#[derive(Clone, Copy)]
enum Door {
    /// Accepts the lab's identity.
    Open,
    /// The identity has no role.
    Forbidden,
    /// Belongs to another tenant: no token of this one is accepted.
    OtherTenant,
    /// A web server, but not a registry.
    NotFound,
    /// Returns its login page for every request.
    Portal,
}

const DOORS: [(&str, [u8; 4], Door); 5] = [
    ("registry.lab", [10, 224, 1, 10], Door::Open),
    ("forbidden.lab", [10, 224, 1, 11], Door::Forbidden),
    ("unauthorized.lab", [10, 224, 1, 12], Door::OtherTenant),
    ("missing.lab", [10, 224, 1, 13], Door::NotFound),
    ("portal.lab", [10, 224, 1, 14], Door::Portal),
];

fn main() {
    let directory = std::env::args().nth(1).unwrap();
    let directory = Path::new(&directory);
    let authority = Authority::new("mooring lab CA");
    let stranger = Authority::new("a CA that nodes do not know");
    fs::write(directory.join("ca.pem"), &authority.pem).unwrap();
    for (name, hosts) in CERTIFICATES {
        let issuer = if name == "unknown-ca" { &stranger } else { &authority };
        let (certificate, key) = issuer.sign(hosts, name == "expired");
        fs::write(directory.join(format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(directory.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
    let signer = Arc::new(Signer::new(&authority));
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let imds = Imds::new("westeurope", "aks-pool-1", CLIENT, TENANT);
        listen(([169, 254, 169, 254], 80).into(), None, move |request| {
            let outcome = imds.handle(&request, Timestamp::now());
            Box::pin(async move { response(outcome) })
        })
        .await;
        for (host, address, door) in DOORS {
            let (certificate, key) = authority.sign(&[host], false);
            let signer = Arc::clone(&signer);
            listen((address, 443).into(), Some(tls(&certificate, &key)), move |request| {
                Box::pin(enter(host, door, request, Arc::clone(&signer)))
            })
            .await;
        }
        let names = UdpSocket::bind(NAME_SERVER).await.unwrap();
        println!("ready");
        serve_half_a_name(&names).await;
    });
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    fn sign(&self, hosts: &[&str], is_expired: bool) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, hosts[0]);
        if is_expired {
            params.not_before = date_time_ymd(2020, 1, 1);
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        (params.signed_by(&key, &self.issuer).unwrap(), key)
    }
}

/// Signs access tokens for docker-registry.
struct Signer {
    key: EcdsaKeyPair,
    header: String,
}

impl Signer {
    fn new(authority: &Authority) -> Self {
        let (certificate, key) = authority.sign(&["tokens.lab"], false);
        let random = ring::rand::SystemRandom::new();
        let pkcs8 = key.serialize_der();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8, &random);
        let header =
            json!({"typ": "JWT", "alg": "ES256", "x5c": [STANDARD.encode(certificate.der())]});
        Self { key: key.unwrap(), header: URL_SAFE_NO_PAD.encode(header.to_string()) }
    }

    fn token(&self, service: &str, scope: &str) -> String {
        let now = Timestamp::now().as_second();
        let access = scope.split(' ').filter_map(|scope| {
            let mut parts = scope.splitn(3, ':');
            let (kind, name, actions) = (parts.next()?, parts.next()?, parts.next()?);
            let actions: Vec<&str> = actions.split(',').collect();
            Some(json!({"type": kind, "name": name, "actions": actions}))
        });
        let claims = json!({
            "iss": "mooring-lab", "sub": CLIENT, "aud": service, "jti": now.to_string(),
            "exp": now + DAY, "nbf": now - DAY, "iat": now, "access": access.collect::<Vec<_>>(),
        });
        let signed = format!("{}.{}", self.header, URL_SAFE_NO_PAD.encode(claims.to_string()));
        let random = ring::rand::SystemRandom::new();
        let signature = self.key.sign(&random, signed.as_bytes()).unwrap();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

async fn enter(
    host: &'static str,
    door: Door,
    request: Request,
    signer: Arc<Signer>,
) -> http::Response<Full<Bytes>> {
    let is_exchange = request.uri().path() == "/oauth2/exchange";
    let readers: &[&str] = if matches!(door, Door::Open) { &[CLIENT] } else { &[] };
    match door {
        Door::Portal => {
            let page = "<html><body>Please accept the terms of use.</body></html>";
            return http::Response::new(Full::from(page));
        }
        Door::NotFound => return plain(StatusCode::NOT_FOUND, "404 page not found\n"),
        Door::OtherTenant if is_exchange => {
            let error = json!({"errors": [{"code": "UNAUTHORIZED", "message": "authentication required, the token is of another tenant"}]});
            return response(ServerReply::Answer(json_response(StatusCode::UNAUTHORIZED, &error)));
        }
        _ if request.uri().path().starts_with("/v2/") => return forward(host, &request).await,
        _ => {}
    }
    let reply = response(Registry::new(host, readers).handle(&request, Timestamp::now()));
    if request.uri().path() != "/oauth2/token" || reply.status() != StatusCode::OK {
        return reply;
    }
    let scope = form_value(request.body(), "scope");
    let body = json!({"access_token": signer.token("registry.lab", &scope)});
    response(ServerReply::Answer(json_response(StatusCode::OK, &body)))
}

/// Returns a form value, decoded as far as scopes need it.
fn form_value(form: &[u8], name: &str) -> String {
    let form = String::from_utf8_lossy(form);
    let values = form.split('&').filter_map(|pair| pair.split_once('='));
    let found: Vec<&str> = values.filter(|(key, _)| *key == name).map(|(_, value)| value).collect();
    found.join(" ").replace("%3A", ":").replace("%2A", "*").replace("%2F", "/").replace('+', " ")
}

/// Forwards a request to docker-registry, whose challenge names this host.
async fn forward(host: &str, request: &Request) -> http::Response<Full<Bytes>> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let mut backend = TcpStream::connect(BACKEND).await.unwrap();
    let asked = format!(
        "{} {target} HTTP/1.0\r\nHost: {host}\r\nAuthorization: {authorization}\r\n\r\n",
        request.method()
    );
    let asked = asked.replace("Authorization: \r\n", "");
    backend.write_all(asked.as_bytes()).await.unwrap();
    let mut raw = Vec::new();
    backend.read_to_end(&mut raw).await.unwrap();
    let text = String::from_utf8_lossy(&raw).replace("registry.lab", host);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap();
    let mut reply = http::Response::builder().status(status);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if !name.eq_ignore_ascii_case("content-length") {
            reply = reply.header(name, value);
        }
    }
    reply.body(Full::from(body.to_owned())).unwrap()
}

fn plain(status: StatusCode, text: &'static str) -> http::Response<Full<Bytes>> {
    let mut reply = http::Response::new(Full::from(text));
    *reply.status_mut() = status;
    reply
}

fn response(outcome: ServerReply) -> http::Response<Full<Bytes>> {
    let ServerReply::Answer(response) = outcome else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "a fault rule in the lab\n");
    };
    let (parts, body): (_, Body) = Response::into_parts(response);
    http::Response::from_parts(parts, Full::from(body.bytes()))
}

fn tls(certificate: &rcgen::Certificate, key: &KeyPair) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key);
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

type Reply = futures::future::BoxFuture<'static, http::Response<Full<Bytes>>>;

/// Serves on an address until the process ends.
async fn listen(
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    handle: impl Fn(Request) -> Reply + Send + Sync + 'static,
) {
    let listener = TcpListener::bind(address).await.unwrap();
    let handle: Arc<dyn Fn(Request) -> Reply + Send + Sync> = Arc::new(handle);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (tls, handle) = (tls.clone(), Arc::clone(&handle));
            tokio::spawn(async move {
                match tls {
                    None => converse(stream, handle).await,
                    // A client that does not trust the certificate disconnects.
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            converse(stream, handle).await;
                        }
                    }
                }
            });
        }
    });
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    handle: Arc<dyn Fn(Request) -> Reply + Send + Sync>,
) {
    let service = service_fn(move |request: http::Request<Incoming>| {
        let handle = Arc::clone(&handle);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, hyper::Error>(handle(Request::from_parts(head, body)).await)
        }
    });
    // The client ends the connection.
    let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Returns one address for IPv4 and NXDOMAIN for everything else, as the name servers of some load balancers do.
async fn serve_half_a_name(socket: &UdpSocket) {
    const A: u16 = 1;
    let mut buffer = [0; 512];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).await.unwrap();
        let Some(end) = question_end(&buffer[..length]) else { continue };
        let is_a = u16::from_be_bytes([buffer[end - 4], buffer[end - 3]]) == A;
        let mut reply = buffer[..end].to_vec();
        // A response, recursion available; NXDOMAIN or one record.
        reply[2] = 0x84 | (reply[2] & 1);
        reply[3] = if is_a { 0x80 } else { 0x83 };
        reply[6..12].fill(0);
        if is_a {
            reply[7] = 1;
            // The name of the question, type A, class IN, 60 seconds, four bytes.
            reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            reply.extend(HALF_NAME_ADDRESS.octets());
        }
        let _ = socket.send_to(&reply, peer).await;
    }
}

/// Returns the end of a message's only question.
fn question_end(message: &[u8]) -> Option<usize> {
    let mut at = 12;
    loop {
        let length = usize::from(*message.get(at)?);
        at += length + 1;
        if length == 0 {
            return (at + 4 <= message.len()).then_some(at + 4);
        }
    }
}

//! Every page that links lead to, and every document of the page that has a schema.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::mem::discriminant;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mooring_page::{PageView, Route};

use super::claims::Claims;
use super::screens::Shown;
use super::worlds::World;
use crate::common::controller::{Process, controller, free_address, sourced, wait_for};
use crate::common::{mooring, text};

/// A page that has read nothing by then never will.
const LOADING: Duration = Duration::from_secs(2);

/// Process that serves the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// `mooring ui --local`.
    Local,
    /// A replica of the controller that does not lead, and so changes nothing.
    Controller,
}

/// A page of a running server.
struct Page {
    server: Server,
    _process: Process,
    host: String,
    cookie: String,
}

impl Page {
    /// Starts a server. Without an address, it has ended, and nothing is shown.
    fn open(world: &World, server: Server, timeout: &str) -> Self {
        if server == Server::Controller {
            let host = free_address();
            let mut command = controller(&world.sim, &host);
            let process = Process(command.stderr(Stdio::null()).spawn().unwrap());
            return Self { server, _process: process, host, cookie: String::new() };
        }
        let mut command = sourced(&world.sim);
        command.args(["ui", "--local", "--no-browser", "--timeout", timeout]);
        command.env("HOME", world.folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let lines = BufReader::new(process.0.stdout.take().unwrap()).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            let (_, address) = line.split_once("http://")?;
            Some(address.split(' ').next()?.to_owned())
        });
        let address = address.unwrap_or_default();
        let (host, path) = address.split_once('/').unwrap_or_default();
        let opened = fetch(host, &format!("/{path}"), "");
        let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap_or_default().split(';').next().unwrap_or_default();
        let (host, cookie) = (host.to_owned(), cookie.to_owned());
        Self { server, _process: process, host, cookie }
    }

    /// Waits until something was read, or cannot be. A controller without its sources may not even serve the page.
    fn wait(&self) {
        let start = Instant::now();
        while !self.host.is_empty() && start.elapsed() < LOADING {
            let overview = self.get("/");
            let is_loading = overview.is_empty() || overview.contains("data-loading");
            if !is_loading || overview.contains("cannot be read") {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until all nodes were read.
    fn wait_for_all(&self) {
        wait_for("all nodes", || {
            let nodes = self.get("/api/v1/nodes");
            let names = ["\"default-good3\"", "\"default-new2\"", "\"aks-user-"];
            names.iter().all(|name| nodes.contains(name)).then_some(())
        });
    }

    fn get(&self, path: &str) -> String {
        fetch(&self.host, path, &self.cookie)
    }

    fn show(&self, path: &str) -> Shown {
        let response = self.get(path);
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
        let claims = match serde_json::from_str(body) {
            Ok(document) => Claims::of_document(&document),
            Err(_) if head.contains("text/html") => Claims::of_html(body),
            Err(_) => Claims::default(),
        };
        let line = format!("page ({:?}) {path}", self.server);
        Shown { line, code: None, out: body.to_owned(), err: String::new(), claims }
    }
}

/// Returns the whole response; empty if the server has ended.
fn fetch(host: &str, path: &str, cookie: &str) -> String {
    let mut response = Vec::new();
    if let Ok(mut stream) = TcpStream::connect(host) {
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let headers = format!("Host: {host}\r\nCookie: {cookie}\r\nConnection: close");
        let _ = write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n\r\n");
        let _ = stream.read_to_end(&mut response);
    }
    text(&response)
}

/// A page of each kind; false for those that take no part. A new kind fails to compile here.
fn routes() -> Vec<(Route, bool)> {
    let name = String::new;
    let all = [
        Route::Overview,
        Route::Failures,
        Route::Joining,
        Route::Pool(name()),
        Route::Node(name()),
        Route::Image(name()),
        Route::Cause(name()),
        Route::Code(0),
        Route::Run(name()),
    ];
    let takes_part = |route: &Route| match route {
        Route::Overview
        | Route::Failures
        | Route::Joining
        | Route::Pool(_)
        | Route::Node(_)
        | Route::Image(_)
        | Route::Cause(_)
        | Route::Code(_) => true,
        // It shows a journal, which is none of the sources.
        Route::Run(_) => false,
    };
    all.into_iter().map(|route| (route.clone(), takes_part(&route))).collect()
}

/// Fails unless there is an address of each kind.
fn check_routes(addresses: &BTreeSet<String>) {
    let routes_of = addresses.iter().filter_map(|address| PageView::parse(address, None));
    let found: Vec<_> = routes_of.map(|view| discriminant(&view.route)).collect();
    for (route, _) in routes().iter().filter(|(_, takes_part)| *takes_part) {
        assert!(found.contains(&discriminant(route)), "no page is {route:?}");
    }
}

/// Follows links, to one page of each kind, and adds the documents.
pub(super) fn find_addresses(worlds: &[&World]) -> BTreeSet<String> {
    let mut addresses = BTreeSet::new();
    for world in worlds {
        let page = Page::open(world, Server::Local, "30s");
        page.wait_for_all();
        // The lists are linked only where the first page has too many rows.
        let mut next = ["/", "/failures", "/joining"].map(str::to_owned).to_vec();
        let mut known: BTreeMap<String, String> =
            next.iter().map(|address| (address[1..].to_owned(), address.clone())).collect();
        while let Some(address) = next.pop() {
            let body = page.get(&address);
            for link in body.split("href=\"/").skip(1) {
                let path = link.split(['"', '?']).next().unwrap_or_default();
                let kind = path.split('/').next().unwrap_or_default();
                if kind.contains('.') || known.contains_key(kind) {
                    continue;
                }
                known.insert(kind.to_owned(), format!("/{path}"));
                next.push(format!("/{path}"));
            }
        }
        addresses.extend(known.into_values());
        addresses.extend(documents(&page));
    }
    check_routes(&addresses);
    addresses
}

/// Returns the addresses of documents, by the names of their schemas.
fn documents(page: &Page) -> Vec<String> {
    let listed = mooring().arg("schema").output().unwrap();
    let listed = text(&listed.stdout);
    let ids = listed.split_whitespace().filter_map(|word| word.strip_prefix("mooring."));
    let mut found = Vec::new();
    for name in ids.filter_map(|id| id.split('/').next()) {
        let kind = name.strip_prefix("page.").unwrap_or(name);
        let addresses = [format!("/api/v1/{kind}"), format!("/api/v1/{kind}s/default-new1")];
        let is_served = |address: &&String| page.get(address).starts_with("HTTP/1.1 200");
        let address = addresses.iter().find(is_served);
        let is_page = name.starts_with("page.") && kind != "event";
        assert!(address.is_some() || !is_page, "no address has the document {name}");
        found.extend(address.cloned());
    }
    found
}

/// Reads all addresses from a new server. Without faults, all nodes are waited for.
pub(super) fn show(
    world: &World,
    server: Server,
    addresses: &BTreeSet<String>,
    timeout: Option<&str>,
) -> Vec<Shown> {
    let page = Page::open(world, server, timeout.unwrap_or("30s"));
    match timeout {
        Some(_) => page.wait(),
        None => page.wait_for_all(),
    }
    addresses.iter().map(|address| page.show(address)).collect()
}

//! Network, names and registries around a node. All end with the lab's namespaces.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::host::{leave, shell};
use super::image;
use super::machine::{NETWORK, eventually};
use crate::step::{Failed, output};

/// Names and addresses. Nothing listens on the address of `refused.lab`; packets for `silent.lab` are dropped.
const NAMES: [(&str, &str); 10] = [
    ("registry.lab", "10.224.1.10"),
    ("forbidden.lab", "10.224.1.11"),
    ("unauthorized.lab", "10.224.1.12"),
    ("missing.lab", "10.224.1.13"),
    ("portal.lab", "10.224.1.14"),
    ("anonymous.lab", "10.224.1.20"),
    ("expired.lab", "10.224.1.21"),
    ("unknown-ca.lab", "10.224.1.22"),
    ("refused.lab", "10.224.1.30"),
    ("silent.lab", UNREACHABLE),
];
const UNREACHABLE: &str = "192.0.2.1";
const GATEWAY: &str = "10.224.0.1";
const IMDS: &str = "169.254.169.254";
/// Address of the name server for `half.lab`.
const HALF_NAME_SERVER: &str = "127.0.0.1#5353";

/// Sets up everything, and returns the certificate that nodes trust.
pub(super) fn set_up(lab: &Path, work: &Path) -> Result<String, Failed> {
    network()?;
    names(work)?;
    services(work)?;
    registries(work)?;
    push(lab, work)?;
    Ok(fs::read_to_string(work.join("ca.pem"))?)
}

fn network() -> Result<(), Failed> {
    let mut text = format!(
        "ip link set lo up
         ip netns add {NETWORK}
         ip link add lab0 type veth peer name eth0 netns {NETWORK}
         ip address add {GATEWAY}/16 dev lab0
         ip address add {IMDS}/32 dev lab0
         ip link set lab0 up
         ip -n {NETWORK} link set lo up
         ip -n {NETWORK} address add 10.224.0.4/16 dev eth0
         ip -n {NETWORK} link set eth0 up
         ip -n {NETWORK} route add default via {GATEWAY}\n"
    );
    for (_, address) in NAMES.iter().filter(|(_, address)| *address != UNREACHABLE) {
        let _ = writeln!(text, "ip address add {address}/32 dev lab0");
    }
    shell(&text, &[])?;
    Ok(())
}

fn names(work: &Path) -> Result<(), Failed> {
    let mut dnsmasq = Command::new("dnsmasq");
    dnsmasq.args(["--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts"]);
    dnsmasq.args(["--user=root", "--pid-file=", "--cache-size=0", "--local=/lab/"]);
    dnsmasq.args(["--bind-interfaces", "--except-interface=lo"]);
    dnsmasq.arg(format!("--listen-address={GATEWAY}"));
    dnsmasq.arg(format!("--server=/half.lab/{HALF_NAME_SERVER}"));
    // Unlike `--address`, a record is empty for IPv6, not NXDOMAIN.
    for (name, address) in NAMES {
        dnsmasq.arg(format!("--host-record={name},{address}"));
    }
    start(&mut dnsmasq, work, "dnsmasq")
}

fn start(command: &mut Command, work: &Path, name: &str) -> Result<(), Failed> {
    let log =
        fs::OpenOptions::new().create(true).append(true).open(work.join(format!("{name}.log")))?;
    let errors = log.try_clone()?;
    let started = command.stdin(Stdio::null()).stdout(log).stderr(errors).spawn();
    started.map(drop).map_err(|error| Failed(format!("cannot start {name}: {error}")))
}

fn services(work: &Path) -> Result<(), Failed> {
    let mut services = Command::new(image::services()?);
    let mut services = services.arg(work).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let printed = services.stdout.take().map(BufReader::new);
    let first = printed.and_then(|printed| printed.lines().next()).transpose()?;
    if first.as_deref() == Some("ready") {
        return Ok(());
    }
    Err(Failed("the services that nodes talk to did not start".to_owned()))
}

/// Four docker-registries on the same images.
fn registries(work: &Path) -> Result<(), Failed> {
    let shown = work.display();
    let common = format!(
        "version: 0.1\nlog: {{level: warn}}\nstorage: {{filesystem: {{rootdirectory: {shown}/images}}}}\n"
    );
    let token = format!(
        "{common}http: {{addr: '127.0.0.1:5001', secret: lab}}\nauth: {{token: {{realm: 'https://registry.lab/oauth2/token', \
         service: registry.lab, issuer: mooring-lab, rootcertbundle: {shown}/ca.pem}}}}\n"
    );
    let mut configs = vec![("token", token)];
    for name in ["anonymous", "expired", "unknown-ca"] {
        let host = format!("{name}.lab");
        let address =
            NAMES.iter().find(|(name, _)| *name == host).map_or("", |(_, address)| *address);
        let tls = format!("{{certificate: {shown}/{name}.pem, key: {shown}/{name}.key}}");
        configs.push((
            name,
            format!("{common}http: {{addr: '{address}:443', secret: lab, tls: {tls}}}\n"),
        ));
    }
    for (name, config) in configs {
        let file = work.join(format!("registry-{name}.yaml"));
        leave(&file, &config)?;
        let mut registry = Command::new("docker-registry");
        start(registry.arg("serve").arg(&file), work, &format!("registry-{name}"))?;
    }
    Ok(())
}

/// Gives the registries something to list.
fn push(lab: &Path, work: &Path) -> Result<(), Failed> {
    let oras = image::unpack_oras(lab, &work.join("oras"))?;
    leave(&work.join("component"), "a component of the node image\n")?;
    let mut pushed = Err(Failed("oras was not started".to_owned()));
    eventually(|| {
        let mut push = Command::new(&oras);
        push.current_dir(work).env("HOME", work).args(["push", "--ca-file", "ca.pem"]);
        push.args(["--resolve", "anonymous.lab:443:10.224.1.20"]);
        push.args(["anonymous.lab/aks/components/kubernetes-node:v1", "component"]);
        pushed = output(&mut push).map(drop);
        pushed.is_ok()
    });
    pushed
}

//! Values that `check-hotfix` reads from custom data: the API server, the cluster CA, and a fallback map.

use std::collections::BTreeMap;
use std::io;

use mooring_contract::json::{Error, MAX_DEPTH, Reader, ValueKind};

use crate::format::go_text::{decode_base64, json_error, read_failure};
use crate::format::json;
use crate::hotfix::pointer::read_hotfixes;
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::nbc;
use crate::node::paths::{NBC_COMMAND, NODE_CONFIG};
use crate::node::secrets::MAX_FILE_BYTES;
use crate::world::ReadFailure;

/// The address and the CA of the live-patching service.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServiceTarget {
    /// The API server's name, without a port.
    pub(super) host: String,
    /// The cluster CA in PEM; may be empty.
    pub(super) ca: Vec<u8>,
}

/// A node config, as far as it can be read.
#[derive(Debug, Default)]
struct Excerpt {
    api_server: String,
    ca: String,
    hotfixes: BTreeMap<String, String>,
    error: Option<String>,
}

/// Finds the target: in the node config, or in the NBC command without a config.
pub(super) fn find(agent: &mut Agent<'_>) -> Result<ServiceTarget, String> {
    let Some(excerpt) = read_config(agent)? else {
        let path = ("path", Text(NODE_CONFIG));
        agent.info("node config not found, trying nbc-cmd.sh fallback", &[path]);
        return find_in_nbc_command(agent);
    };
    if let Some(error) = &excerpt.error {
        let attributes = [("error", Text(error))];
        agent.info("node config parsed with errors, continuing with partial config", &attributes);
    }
    if excerpt.api_server.is_empty() {
        let why = excerpt.error.map(|error| format!(" (parse error: {error})")).unwrap_or_default();
        return Err(format!("node config has no api_server_config.api_server_name{why}"));
    }
    target(&excerpt.api_server, excerpt.ca.as_bytes())
        .ok_or_else(|| "decoding node config kubernetes_ca_cert: invalid base64".to_owned())
}

fn find_in_nbc_command(agent: &mut Agent<'_>) -> Result<ServiceTarget, String> {
    let text =
        agent.world.read(&agent.layout.at(NBC_COMMAND), MAX_FILE_BYTES).map_err(|failure| {
            format!(
                "reading nbc-cmd {NBC_COMMAND}: {}",
                read_failure(NBC_COMMAND.as_ref(), &failure)
            )
        })?;
    let assigned = nbc::assignments(&text);
    let api_server = assigned.expose("API_SERVER_NAME").unwrap_or_default();
    let api_server = String::from_utf8_lossy(api_server).into_owned();
    if api_server.is_empty() {
        return Err(format!("nbc-cmd {NBC_COMMAND} has no API_SERVER_NAME"));
    }
    let target = target(&api_server, assigned.expose("KUBE_CA_CRT").unwrap_or_default())
        .ok_or_else(|| "decoding nbc-cmd KUBE_CA_CRT: invalid base64".to_owned())?;
    let attributes = [("fqdn", Text(&api_server)), ("path", Text(NBC_COMMAND))];
    agent.info("loaded LPS target from nbc-cmd.sh fallback", &attributes);
    Ok(target)
}

/// The map of last resort in the node config; `None` where there is none.
pub(super) fn cold_start(
    agent: &mut Agent<'_>,
) -> Result<Option<BTreeMap<String, String>>, String> {
    match read_config(agent)? {
        Some(Excerpt { error: Some(error), .. }) => {
            Err(format!("parsing cold-start hotfixes from node config: {error}"))
        }
        excerpt => {
            Ok(excerpt.map(|excerpt| excerpt.hotfixes).filter(|hotfixes| !hotfixes.is_empty()))
        }
    }
}

fn read_config(agent: &mut Agent<'_>) -> Result<Option<Excerpt>, String> {
    let text = match agent.world.read(&agent.layout.at(NODE_CONFIG), MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(ReadFailure::Open(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(failure) => {
            let failure = read_failure(NODE_CONFIG.as_ref(), &failure);
            return Err(format!("reading node config {NODE_CONFIG}: {failure}"));
        }
    };
    let mut excerpt = Excerpt::default();
    if let Err(error) = read_members(&text, &mut excerpt) {
        excerpt.error = Some(json_error(&text, &error));
    }
    Ok(Some(excerpt))
}

fn read_members(text: &[u8], excerpt: &mut Excerpt) -> Result<(), Error> {
    json::object(text, &mut |reader, name| {
        match (name, reader.peek()?) {
            ("api_server_config" | "apiServerConfig", ValueKind::Object) => {
                read_api_server(reader, &mut excerpt.api_server)?;
            }
            ("kubernetes_ca_cert" | "kubernetesCaCert", ValueKind::String) => {
                excerpt.ca = reader.string()?.into_owned();
            }
            (name, _) if name.eq_ignore_ascii_case("hotfixes") => {
                read_hotfixes(reader, &mut excerpt.hotfixes)?;
            }
            _ => reader.skip(MAX_DEPTH)?,
        }
        Ok(())
    })
}

fn read_api_server(reader: &mut Reader<'_>, api_server: &mut String) -> Result<(), Error> {
    json::members(reader, &mut |reader, name| match (name, reader.peek()?) {
        ("api_server_name" | "apiServerName", ValueKind::String) => {
            json::set_string(reader, api_server)
        }
        _ => reader.skip(MAX_DEPTH),
    })
}

/// `None` if the CA is not base64.
fn target(api_server: &str, ca: &[u8]) -> Option<ServiceTarget> {
    let host = without_port(api_server).to_owned();
    Some(ServiceTarget { host, ca: decode_base64(ca)? })
}

/// A host without its port and brackets. The service listens where the API server does, on 443.
fn without_port(authority: &str) -> &str {
    let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((host, _)) = bracketed {
        return host;
    }
    match authority.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_of_the_api_server_is_dropped() {
        for (authority, host) in [
            ("a.hcp.westeurope.azmk8s.io", "a.hcp.westeurope.azmk8s.io"),
            ("a:6443", "a"),
            ("a:", "a"),
            ("10.0.0.1:443", "10.0.0.1"),
            ("[fd00::1]:443", "fd00::1"),
            ("fd00::1", "fd00::1"),
        ] {
            assert_eq!(without_port(authority), host);
        }
    }

    #[test]
    fn config_is_used_as_far_as_it_can_be_read() {
        let mut excerpt = Excerpt::default();
        let text =
            br#"{"apiServerConfig":{"x":1,"apiServerName":"a:443"},"kubernetes_ca_cert":"QQ==","#;
        assert!(read_members(text, &mut excerpt).is_err());
        assert_eq!((excerpt.api_server.as_str(), excerpt.ca.as_str()), ("a:443", "QQ=="));
        assert_eq!(target("a", b"QUI=\n").unwrap().ca, b"AB");
        assert_eq!(target("a", b"?"), None);
    }
}

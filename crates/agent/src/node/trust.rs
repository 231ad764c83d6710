//! Proxy of the registry, from variables with the rules of Go, since oras is written in Go, and trusted certificates.

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};

use mooring_redact::ProxyUrl;

use crate::node::paths::Layout;
use crate::world::{Url, World};

/// The variables that matter.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    https: ProxyUrl,
    exceptions: String,
}

impl Proxies {
    pub(crate) fn from_environment(variables: &[(OsString, OsString)]) -> Self {
        let value = |names: [&str; 2]| {
            let texts = names.map(|name| {
                let found = variables.iter().find(|(variable, _)| variable == OsStr::new(name));
                found.map_or(String::new(), |(_, value)| value.to_string_lossy().into_owned())
            });
            texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
        };
        Self {
            https: value(["HTTPS_PROXY", "https_proxy"]).into(),
            exceptions: value(["NO_PROXY", "no_proxy"]),
        }
    }

    /// Returns the secrets: user and password.
    pub(crate) fn secrets(&self) -> Vec<Vec<u8>> {
        self.https.expose_secrets().map(|text| text.as_bytes().to_vec()).collect()
    }

    /// Returns the proxy for an address; none for plain HTTP, which only tests use, and for loopback.
    pub(crate) fn of(&self, url: &Url) -> Option<&ProxyUrl> {
        let is_needless = url.is_loopback() || url.host == "localhost";
        let is_excepted = self.exceptions.split(',').any(|entry| covers(entry.trim(), url));
        (url.tls && !self.https.is_empty() && !is_needless && !is_excepted).then_some(&self.https)
    }
}

/// Returns true if an entry of `NO_PROXY` covers an address: `*`, a domain with all below it, `.domain` for
/// those below it alone, an address, a network; each of them may have a port.
fn covers(entry: &str, url: &Url) -> bool {
    if entry == "*" {
        return true;
    }
    let host = url.host.to_ascii_lowercase();
    if let Ok(address) = host.parse::<IpAddr>() {
        return match entry.split_once('/') {
            Some((network, bits)) => is_in_network(address, network, bits),
            None => {
                entry.parse() == Ok(address)
                    || entry.parse() == Ok(SocketAddr::new(address, url.port))
            }
        };
    }
    let entry = entry.to_ascii_lowercase();
    let entry = match entry.rsplit_once(':') {
        Some((name, port)) if port.parse() == Ok(url.port) => name,
        Some(_) => return false,
        None => &entry,
    };
    let entry = entry.strip_prefix('*').unwrap_or(entry);
    match entry.strip_prefix('.') {
        Some("") => false,
        Some(_) => host.ends_with(entry),
        None => {
            let below = host.strip_suffix(entry);
            !entry.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        }
    }
}

fn is_in_network(address: IpAddr, network: &str, bits: &str) -> bool {
    let in_bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    let ((address, length), (network, other_length)) = (in_bits(address), in_bits(network));
    let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or_default();
    length == other_length && bits <= length && address & mask == network & mask
}

/// Paths on Ubuntu and Azure Linux.
pub(crate) const CERTIFICATES: [&str; 2] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"];
/// Several times what a system has.
pub(crate) const MAX_CERTIFICATE_BYTES: u64 = 8 * 1024 * 1024;

/// The certificates of the system, in its own format.
pub(crate) fn system_certificates(world: &mut dyn World, layout: &Layout) -> Vec<Vec<u8>> {
    CERTIFICATES
        .iter()
        .filter_map(|file| world.read(&layout.at(file), MAX_CERTIFICATE_BYTES).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_proxied(exceptions: &str, url: &str) -> bool {
        let variables = [("https_proxy", "http://p:1"), ("NO_PROXY", exceptions)];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        Proxies::from_environment(&variables).of(&Url::parse(url).unwrap()).is_some()
    }

    #[test]
    fn exceptions_are_read_as_go_reads_them() {
        let registry = "https://my.azurecr.io/v2/";
        for exceptions in [
            "*",
            "azurecr.io",
            " AzureCR.io ,x",
            ".azurecr.io",
            "*.azurecr.io",
            "x,my.azurecr.io",
            "azurecr.io:443",
        ] {
            assert!(!is_proxied(exceptions, registry), "{exceptions}");
        }
        for exceptions in [
            "",
            ",",
            ".",
            "*.",
            "recr.io",
            ".my.azurecr.io",
            "azurecr.io:80",
            "10.0.0.0/8",
            "azurecr",
        ] {
            assert!(is_proxied(exceptions, registry), "{exceptions}");
        }
        for exceptions in ["10.1.2.3", "10.1.2.3:443", "10.0.0.0/8", "10.1.2.3/32", "0.0.0.0/0"] {
            assert!(!is_proxied(exceptions, "https://10.1.2.3/"), "{exceptions}");
        }
        for exceptions in ["10.1.2.4", "10.1.2.3:80", "11.0.0.0/8", "10.1.2.3/33", "::/0", "10/8"] {
            assert!(is_proxied(exceptions, "https://10.1.2.3/"), "{exceptions}");
        }
    }

    #[test]
    fn user_information_of_the_proxy_is_secret() {
        let variables = [("HTTPS_PROXY".into(), "http://user:hunter2@proxy:1".into())];
        let secrets = Proxies::from_environment(&variables).secrets();
        for secret in ["user:hunter2", "hunter2"] {
            assert!(secrets.contains(&secret.as_bytes().to_vec()), "{secret}");
        }
    }

    #[test]
    fn this_machine_and_plain_http_are_never_proxied() {
        for url in ["https://127.0.0.1/", "https://localhost/", "http://my.azurecr.io/"] {
            assert!(!is_proxied("", url), "{url}");
        }
        let none = Proxies::from_environment(&[("HTTPS_PROXY".into(), "".into())]);
        assert!(none.of(&Url::parse("https://a/").unwrap()).is_none());
    }
}

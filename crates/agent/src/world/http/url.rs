//! An address, taken apart.

use std::fmt;
use std::net::IpAddr;

/// An `http` or `https` address without user information.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub tls: bool,
    /// A name or an address, without brackets.
    pub host: String,
    pub port: u16,
    /// The path and the query; begins with `/`.
    pub target: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an address of the form https://HOST[:PORT][/PATH]")]
pub struct UrlError;

impl Url {
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (tls, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            _ => return Err(UrlError),
        };
        let target_at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(target_at);
        let (host, port) = split_authority(authority).ok_or(UrlError)?;
        if !target.bytes().all(|byte| byte.is_ascii_graphic()) || target.contains('#') {
            return Err(UrlError);
        }
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        Ok(Self { tls, host: host.to_owned(), port: port.unwrap_or(default_port(tls)), target })
    }

    /// The same server, another path and query.
    #[must_use]
    pub fn with_target(&self, target: impl Into<String>) -> Self {
        Self { target: target.into(), ..self.clone() }
    }

    /// The host, and the port where it is not the scheme's own.
    pub fn authority(&self) -> String {
        if self.port == default_port(self.tls) {
            bracketed(&self.host)
        } else {
            self.authority_with_port()
        }
    }

    pub(super) fn authority_with_port(&self) -> String {
        format!("{}:{}", bracketed(&self.host), self.port)
    }

    pub fn is_loopback(&self) -> bool {
        self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub fn is_same_server(&self, other: &Self) -> bool {
        (self.tls, self.port) == (other.tls, other.port)
            && self.host.eq_ignore_ascii_case(&other.host)
    }
}

/// Omits the query, which may contain secrets.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "{scheme}://{}{path}", self.authority())
    }
}

/// `host`, `host:port` or `[address]:port`.
pub(super) fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => {
            let (host, behind) = bracketed.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, behind)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_host_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if host.is_empty() || host.starts_with('-') || !host.bytes().all(is_host_byte) {
        return None;
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        None => return None,
        Some(digits) => Some(digits.parse().ok().filter(|&port| port > 0)?),
    };
    Some((host, port))
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, shown, port, target) in [
            ("https://a.azurecr.io", "https://a.azurecr.io/", 443, "/"),
            ("https://a:8443/v2/?n=1", "https://a:8443/v2/", 8443, "/v2/?n=1"),
            ("http://169.254.169.254/x?y=z", "http://169.254.169.254/x", 80, "/x?y=z"),
            ("http://[::1]:81?q", "http://[::1]:81/", 81, "/?q"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.to_string().as_str(), url.port), (shown, port));
            assert_eq!(url.target, target);
        }
    }

    #[test]
    fn servers_are_the_same_by_scheme_port_and_name() {
        let server = Url::parse("https://a.azurecr.io/v2/").unwrap();
        for (text, is_same) in [
            ("https://A.azurecr.io:443/oauth2", true),
            ("https://b.azurecr.io/v2/", false),
            ("https://a.azurecr.io:444/v2/", false),
            ("http://a.azurecr.io:443/v2/", false),
        ] {
            assert_eq!(server.is_same_server(&Url::parse(text).unwrap()), is_same, "{text}");
        }
    }

    #[test]
    fn an_address_cannot_smuggle_a_header_or_a_password() {
        for bad in [
            "",
            "a.azurecr.io",
            "ftp://a",
            "https://",
            "https://u:p@a/",
            "https://-a/",
            "https://a b/",
            "https://a\r\nX: y/",
            "https://a/\r\nX: y",
            "https://a/é",
            "https://a/#b",
            "https://a:0/",
            "https://a:99999/",
            "https://a:x/",
            "https://[::1/",
            "https://[a]/",
            "https://[::1]x/",
        ] {
            assert_eq!(Url::parse(bad), Err(UrlError), "{bad:?}");
        }
    }
}

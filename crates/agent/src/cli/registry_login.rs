//! The flags of `registry-login`.

use std::path::PathBuf;
use std::time::Duration;

use super::flags::{self, Args, Flags, invalid, read_duration};
use crate::registry::{Identity, LoginFlags};
use crate::world::Url;

pub(super) const FLAGS: Flags = Flags {
    values: &[
        "registry",
        "client-id",
        "tenant-id",
        "ca-file",
        "registry-config",
        "budget",
        "attempt-timeout",
        "registry-endpoint",
        "imds-endpoint",
    ],
    switches: &[],
};

const BUDGET: Duration = Duration::from_mins(10);
/// Half of upstream's minute, so that the time limit allows a retry.
const ATTEMPT: Duration = Duration::from_secs(30);
/// Link-local address of IMDS.
const IMDS: &str = "http://169.254.169.254";

pub(super) fn read(words: &Args) -> Result<LoginFlags, String> {
    if let Some(word) = words.others.first() {
        return Err(format!("unexpected word \"{}\"", flags::word(&word.to_string_lossy())));
    }
    let registry = text(words, "registry")?.ok_or("missing flag: --registry HOST")?;
    let (registry, registry_url) = read_registry(&registry)?;
    let registry_url = match text(words, "registry-endpoint")? {
        None => registry_url,
        Some(typed) => read_url("registry-endpoint", &typed)?,
    };
    if !registry_url.tls && !registry_url.is_loopback() {
        return Err("-registry-endpoint: tokens need https, but for tests on loopback".to_owned());
    }
    let identity = match (text(words, "client-id")?, text(words, "tenant-id")?) {
        (Some(client_id), Some(tenant_id)) => Some(Identity { client_id, tenant_id }),
        _ => None,
    };
    let imds_url = read_imds(words)?;
    Ok(LoginFlags {
        registry,
        identity,
        ca_file: words.value("ca-file").map(PathBuf::from),
        registry_config: words.value("registry-config").map(PathBuf::from),
        budget: read_duration(words, "budget")?.unwrap_or(BUDGET),
        attempt_timeout: read_duration(words, "attempt-timeout")?.unwrap_or(ATTEMPT),
        registry_url,
        imds_url,
    })
}

/// Returns the host and optional port. As upstream, it drops the path of an image name.
fn read_registry(typed: &str) -> Result<(String, Url), String> {
    let host = typed.split('/').next().unwrap_or_default();
    match Url::parse(&format!("https://{host}")) {
        Ok(url) => Ok((host.to_owned(), url)),
        Err(_) => Err(invalid("registry", typed, "write a host such as my.azurecr.io")),
    }
}

fn read_url(name: &str, typed: &str) -> Result<Url, String> {
    Url::parse(typed).map_err(|_| invalid(name, typed, "write https://HOST[:PORT]"))
}

fn text(words: &Args, name: &str) -> Result<Option<String>, String> {
    let value = words.value(name).map(|value| {
        let text = value.to_str().map(str::to_owned);
        text.ok_or_else(|| invalid(name, &value.to_string_lossy(), "write it in UTF-8"))
    });
    value.transpose()
}

/// The metadata service: the same on every Azure VM, but not in tests.
pub(super) fn read_imds(words: &Args) -> Result<Url, String> {
    let typed = text(words, "imds-endpoint")?;
    read_url("imds-endpoint", typed.as_deref().unwrap_or(IMDS))
}

#[cfg(test)]
mod tests {
    use super::super::{Command, UsageError, read};
    use super::*;
    use std::ffi::OsString;

    fn read_words(words: &str) -> Result<LoginFlags, UsageError> {
        let words = format!("registry-login {words}");
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        match read(&words, None).command? {
            Command::RegistryLogin(flags) => Ok(*flags),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_registry_and_an_identity_are_enough() {
        let flags = read_words("--registry my.azurecr.io/aks --client-id c --tenant-id t").unwrap();
        assert_eq!(flags.registry, "my.azurecr.io");
        assert_eq!(flags.registry_url.to_string(), "https://my.azurecr.io/");
        assert_eq!(flags.imds_url.to_string(), "http://169.254.169.254/");
        assert_eq!(flags.budget, Duration::from_mins(10));
        let identity = Identity { client_id: "c".to_owned(), tenant_id: "t".to_owned() };
        assert_eq!(flags.identity, Some(identity));
        assert_eq!(read_words("--registry a --client-id= --tenant-id t").unwrap().identity, None);
    }

    #[test]
    fn usage_error_is_exit_code_1_with_its_cause() {
        for (words, expected) in [
            ("", "--registry HOST"),
            ("--registry -x", "-registry"),
            ("--registry a@b", "-registry"),
            ("--registry https://a", "-registry"),
            ("--registry a --budget soon", "-budget"),
            ("--registry a --attempt-timeout 5x", "-attempt-timeout"),
            ("--registry a --registry-endpoint http://10.0.0.1", "need https"),
            ("--registry a --imds-endpoint x", "-imds-endpoint"),
            ("--registry a stray", "stray"),
            ("--registry a --nosuch", "-nosuch"),
        ] {
            let error = read_words(words).unwrap_err();
            assert_eq!(error.exit_code, 1, "{words}");
            assert!(error.text.contains(expected), "{words}: {}", error.text);
        }
    }
    #[test]
    fn password_in_an_address_is_never_printed() {
        for words in [
            "--registry user:hunter-two@my.azurecr.io",
            "--registry user:hunter-two/x@my.azurecr.io",
            "--registry a --registry-endpoint https://user:hunter-two@host",
            "--registry a --registry-endpoint https://host/?code=hunter-two#",
            "--registry a --imds-endpoint http://user:hunter-two@host",
            "--registry a user:hunter-two@host",
        ] {
            let error = read_words(words).unwrap_err();
            assert!(!error.text.contains("hunter-two"), "{}", error.text);
            assert!(error.text.contains("[secret]"), "{}", error.text);
        }
    }
}

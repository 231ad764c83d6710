//! Commands, and their options.

mod flags;
mod help;

pub use flags::parse_duration;
pub(crate) use help::{general as general_help, of_command as help_of_command};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use mooring_contract::custom_data::CustomDataForm;
use mooring_redact::identifier;

use crate::cli::flags::{Args, Flags, invalid, read_duration};
use crate::node::paths::PreflightStage;
use crate::world::Url;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Provision(ProvisionFlags),
    ProvisionWait {
        timeout: Option<Duration>,
    },
    Version,
    /// `--version`: with the program's name.
    VersionFlag,
    /// The text to print.
    Help(String),
    CheckHotfix {
        has_extra_words: bool,
    },
    DownloadHotfix,
    ApplyEmbeddedHotfix,
    Render(RenderFlags),
    Preflight(PreflightFlags),
    RegistryLogin(Box<LoginFlags>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProvisionFlags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) nbc_command: Option<PathBuf>,
    pub(crate) dry_run: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PreflightFlags {
    pub(crate) stage: PreflightStage,
    pub(crate) config: Option<PathBuf>,
    /// The metadata service to probe, if the network is to be probed at all.
    pub(crate) network: Option<Url>,
    pub(crate) format: OutputFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    Table,
    Json,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RenderFlags {
    pub(crate) what: Rendered,
    pub(crate) config: Option<PathBuf>,
    pub(crate) components: Option<PathBuf>,
    pub(crate) validate: bool,
    pub(crate) show_secrets: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rendered {
    Environment { nul_separated: bool },
    CustomData(CustomDataForm),
    CseCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginFlags {
    pub(crate) registry: String,
    /// None if a part of it is missing; a login is then impossible.
    pub(crate) identity: Option<Identity>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) registry_config: Option<PathBuf>,
    pub(crate) budget: Duration,
    pub(crate) attempt_timeout: Duration,
    pub(crate) registry_url: Url,
    pub(crate) imds_url: Url,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) client_id: String,
    pub(crate) tenant_id: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError {
    pub(crate) text: String,
    /// Prints the general help to standard output.
    pub(crate) with_help: bool,
    /// True for `provision`, whose result a `provision-wait` may be waiting for.
    pub(crate) of_provision: bool,
    pub(crate) exit_code: u8,
}

#[derive(Debug)]
pub(crate) struct Invocation {
    /// `--root`, from any place among the words, or the environment.
    pub(crate) root: Option<PathBuf>,
    pub(crate) command: Result<Command, UsageError>,
}

const PROVISION: Flags = Flags { values: &["provision-config", "nbc-cmd"], switches: &["dry-run"] };
const PROVISION_WAIT: Flags = Flags { values: &["timeout"], switches: &[] };
const RENDER: Flags = Flags {
    values: &["provision-config", "components", "format"],
    switches: &["validate", "show-secrets", "0"],
};
const PREFLIGHT: Flags =
    Flags { values: &["stage", "provision-config", "imds-endpoint", "o"], switches: &["network"] };

/// Parses the arguments. `root` comes from the environment.
pub(crate) fn read(words: &[OsString], root: Option<OsString>) -> Invocation {
    match take_root(words) {
        Ok((flag, words)) => {
            Invocation { root: flag.or(root).map(PathBuf::from), command: read_command(&words) }
        }
        Err(error) => Invocation { root: root.map(PathBuf::from), command: Err(error) },
    }
}

/// Accepts `--root DIR` anywhere, since the upstream Go agent does not have it.
fn take_root(words: &[OsString]) -> Result<(Option<OsString>, Vec<OsString>), UsageError> {
    let mut root = None;
    let mut others = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            others.push(word.clone());
            others.extend(rest.by_ref().cloned());
        } else if word == "--root" || word == "-root" {
            let Some(value) = rest.next() else {
                return Err(incorrect("flag needs an argument: --root", words));
            };
            root = Some(value.clone());
        } else if let Some(value) = word.to_str().and_then(|word| word.strip_prefix("--root=")) {
            root = Some(value.into());
        } else {
            others.push(word.clone());
        }
    }
    Ok((root, others))
}

fn read_command(words: &[OsString]) -> Result<Command, UsageError> {
    let Some((first, behind)) = words.split_first() else {
        return Err(unknown("missing command"));
    };
    let name = first.to_string_lossy();
    match &*name {
        "--help" | "-h" | "-help" | "--h" | "help" | "h" => read_help(behind),
        "--version" | "-v" | "-version" | "--v" => Ok(Command::VersionFlag),
        "version" => Ok(Command::Version),
        "provision" => with_flags(words, PROVISION, |words| {
            Ok(Command::Provision(ProvisionFlags {
                config: words.value("provision-config").map(PathBuf::from),
                nbc_command: words.value("nbc-cmd").map(PathBuf::from),
                dry_run: words.switch("dry-run"),
            }))
        }),
        "provision-wait" => with_flags(words, PROVISION_WAIT, |words| {
            Ok(Command::ProvisionWait { timeout: read_duration(words, "timeout")? })
        }),
        "render" => with_flags(words, RENDER, read_render),
        "preflight" => with_flags(words, PREFLIGHT, read_preflight),
        "registry-login" => with_flags(words, REGISTRY_LOGIN, |words| {
            read_registry_login(words).map(|flags| Command::RegistryLogin(Box::new(flags)))
        }),
        "check-hotfix" => with_flags(words, Flags::default(), |words| {
            Ok(Command::CheckHotfix { has_extra_words: !words.others.is_empty() })
        }),
        "download-hotfix" => {
            with_flags(words, Flags::default(), |words| match words.others.first() {
                None => Ok(Command::DownloadHotfix),
                Some(_) => Err("download-hotfix takes no arguments".to_owned()),
            })
        }
        "apply-embedded-hotfix" => {
            with_flags(words, Flags::default(), |_| Ok(Command::ApplyEmbeddedHotfix))
        }
        flag if flag.starts_with('-') && flag.len() > 1 => {
            let name = flag.trim_start_matches('-');
            let name = identifier(name.split_once('=').map_or(name, |(name, _)| name));
            let text = format!("flag provided but not defined: -{name}");
            Err(UsageError { with_help: true, ..incorrect(&text, words) })
        }
        other => Err(unknown(&format!("unknown command `{}`", flags::word(other)))),
    }
}

/// Parses a command's flags, unless help is requested.
fn with_flags(
    words: &[OsString],
    known: Flags,
    command: impl FnOnce(&Args) -> Result<Command, String>,
) -> Result<Command, UsageError> {
    let read = flags::read(&words[1..], known).map_err(|text| incorrect(&text, words))?;
    let asks_help = read.others.first().is_some_and(|word| word == "help" || word == "h");
    if asks_help || read.switch("help") || read.switch("h") {
        return read_help(words);
    }
    command(&read).map_err(|text| incorrect(&text, words))
}

fn read_help(words: &[OsString]) -> Result<Command, UsageError> {
    let Some(name) = words.iter().find(|word| !word.to_string_lossy().starts_with('-')) else {
        return Ok(Command::Help(general_help()));
    };
    help_of_command(&name.to_string_lossy()).map(Command::Help).ok_or_else(|| UsageError {
        exit_code: 3,
        ..unknown(&format!("no help for `{}`", flags::word(&name.to_string_lossy())))
    })
}

fn read_render(words: &Args) -> Result<Command, String> {
    const WHAT: &str = "missing argument: env, custom-data or cse";
    let what = match words.others.first().and_then(|word| word.to_str()) {
        Some("env") => Rendered::Environment { nul_separated: words.switch("0") },
        Some("custom-data") => Rendered::CustomData(match words.value("format") {
            None => CustomDataForm::Boothook,
            Some(format) => {
                format.to_string_lossy().parse::<CustomDataForm>().map_err(|e| e.to_string())?
            }
        }),
        Some("cse") => Rendered::CseCommand,
        _ => return Err(WHAT.to_owned()),
    };
    Ok(Command::Render(RenderFlags {
        what,
        config: words.value("provision-config").map(PathBuf::from),
        components: words.value("components").map(PathBuf::from),
        validate: words.switch("validate"),
        show_secrets: words.switch("show-secrets"),
    }))
}

fn read_preflight(words: &Args) -> Result<Command, String> {
    let choice = |flag: &str| words.value(flag).map(|value| value.to_string_lossy().into_owned());
    Ok(Command::Preflight(PreflightFlags {
        stage: match choice("stage").as_deref() {
            None | Some("node") => PreflightStage::Node,
            Some("image") => PreflightStage::Image,
            Some(other) => return Err(invalid("stage", other, "node or image")),
        },
        format: match choice("o").as_deref() {
            None | Some("table") => OutputFormat::Table,
            Some("json") => OutputFormat::Json,
            Some(other) => return Err(invalid("o", other, "table or json")),
        },
        config: words.value("provision-config").map(PathBuf::from),
        network: words.switch("network").then(|| read_imds(words)).transpose()?,
    }))
}

/// A bad flag: the first words are the upstream Go agent's.
fn incorrect(text: &str, words: &[OsString]) -> UsageError {
    UsageError {
        text: format!("Incorrect Usage: {text}\n\n"),
        with_help: false,
        of_provision: words.first().is_some_and(|word| word == "provision"),
        exit_code: 1,
    }
}

/// Returns the error for a missing or unknown command. The upstream Go agent prints nothing here.
fn unknown(text: &str) -> UsageError {
    UsageError {
        text: format!("{text}\nhint: `aks-node-controller help` lists the commands\n"),
        with_help: false,
        of_provision: false,
        exit_code: 1,
    }
}

const REGISTRY_LOGIN: Flags = Flags {
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

fn read_registry_login(words: &Args) -> Result<LoginFlags, String> {
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
fn read_imds(words: &Args) -> Result<Url, String> {
    let typed = text(words, "imds-endpoint")?;
    read_url("imds-endpoint", typed.as_deref().unwrap_or(IMDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &[&str]) -> Invocation {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>(), None)
    }

    #[test]
    fn root_flag_is_accepted_anywhere() {
        for words in [
            &["--root", "/r", "provision", "--dry-run"][..],
            &["provision", "--root=/r", "--dry-run"],
            &["provision", "--dry-run", "--root", "/r"],
        ] {
            let invocation = read_words(words);
            assert_eq!(invocation.root, Some("/r".into()), "{words:?}");
            let flags = ProvisionFlags { dry_run: true, ..ProvisionFlags::default() };
            assert_eq!(invocation.command, Ok(Command::Provision(flags)));
        }
        let from_environment = read(&["version".into()], Some("/e".into()));
        assert_eq!(from_environment.root, Some("/e".into()));
        assert!(read_words(&["provision", "--root"]).command.unwrap_err().of_provision);
    }

    #[test]
    fn help_flag_is_accepted_anywhere() {
        for words in [
            &["help", "provision"][..],
            &["h", "provision"],
            &["provision", "--help"],
            &["provision", "-h"],
            &["provision", "help"],
            &["provision", "h"],
            &["--help", "provision"],
        ] {
            assert_eq!(
                read_words(words).command,
                Ok(Command::Help(help_of_command("provision").unwrap())),
                "{words:?}"
            );
        }
        assert_eq!(read_words(&["help"]).command, Ok(Command::Help(general_help())));
        assert_eq!(read_words(&["help", "nosuch"]).command.unwrap_err().exit_code, 3);
    }

    #[test]
    fn first_argument_selects_what_is_rendered() {
        for (word, what) in [
            ("env", Rendered::Environment { nul_separated: false }),
            ("custom-data", Rendered::CustomData(CustomDataForm::Boothook)),
            ("cse", Rendered::CseCommand),
        ] {
            let Ok(Command::Render(flags)) = read_words(&["render", word]).command else {
                panic!("{word}")
            };
            assert_eq!(flags.what, what);
        }
    }

    #[test]
    fn usage_errors_name_the_cause() {
        for (words, expected) in [
            (&[][..], "missing command\nhint: "),
            (&["unknown"], "unknown command `unknown`\nhint: "),
            (&["Provision"], "unknown command `Provision`\n"),
            (&["-"], "unknown command `-`\n"),
            (&["--foo"], "Incorrect Usage: flag provided but not defined: -foo\n\n"),
            (
                &["provision-wait", "--timeout=x"],
                "Incorrect Usage: invalid value \"x\" for flag -timeout",
            ),
            (&["render"], "Incorrect Usage: missing argument: env"),
            (&["render", "custom-data", "--format=x"], "Incorrect Usage: "),
        ] {
            let error = read_words(words).command.unwrap_err();
            assert!(error.text.starts_with(expected), "{words:?}: {}", error.text);
            assert_eq!(error.exit_code, 1);
        }
    }

    fn read_login(words: &str) -> Result<LoginFlags, UsageError> {
        let words = format!("registry-login {words}");
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        match read(&words, None).command? {
            Command::RegistryLogin(flags) => Ok(*flags),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_registry_and_an_identity_are_enough() {
        let flags = read_login("--registry my.azurecr.io/aks --client-id c --tenant-id t").unwrap();
        assert_eq!(flags.registry, "my.azurecr.io");
        assert_eq!(flags.registry_url.to_string(), "https://my.azurecr.io/");
        assert_eq!(flags.imds_url.to_string(), "http://169.254.169.254/");
        assert_eq!(flags.budget, Duration::from_mins(10));
        let identity = Identity { client_id: "c".to_owned(), tenant_id: "t".to_owned() };
        assert_eq!(flags.identity, Some(identity));
        assert_eq!(read_login("--registry a --client-id= --tenant-id t").unwrap().identity, None);
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
            let error = read_login(words).unwrap_err();
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
            let error = read_login(words).unwrap_err();
            assert!(!error.text.contains("hunter-two"), "{}", error.text);
            assert!(error.text.contains("[secret]"), "{}", error.text);
        }
    }
}

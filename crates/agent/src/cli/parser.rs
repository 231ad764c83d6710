//! Parser of commands and options.

use std::ffi::OsString;
use std::path::PathBuf;

use mooring_contract::custom_data::CustomDataForm;
use mooring_redact::identifier;

use super::command::{
    Command, Invocation, OutputFormat, PreflightFlags, PreflightStage, ProvisionFlags, RenderFlags,
    Rendered, UsageError,
};
use super::flags::{self, Args, Flags, invalid, read_duration};
use super::{help, registry_login};

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
        "registry-login" => with_flags(words, registry_login::FLAGS, |words| {
            registry_login::read(words).map(|flags| Command::RegistryLogin(Box::new(flags)))
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
        return Ok(Command::Help(help::general()));
    };
    help::of_command(&name.to_string_lossy()).map(Command::Help).ok_or_else(|| UsageError {
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
        network: words.switch("network").then(|| registry_login::read_imds(words)).transpose()?,
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
                Ok(Command::Help(help::of_command("provision").unwrap())),
                "{words:?}"
            );
        }
        assert_eq!(read_words(&["help"]).command, Ok(Command::Help(help::general())));
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
}

//! Flags as Go's `flag` package reads them: one or two dashes, `=` or the next word, anywhere among
//! the words, the last one wins, `--` ends them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use jiff::SignedDuration;
use mooring_redact::{MASK, ProxyUrl, identifier};

/// The flags of a command; all commands have `help` and `h`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    /// With a value.
    pub(super) values: &'static [&'static str],
    /// With nothing, or `=true` and the like.
    pub(super) switches: &'static [&'static str],
}

/// Arguments after the command.
#[derive(Debug, Default)]
pub(super) struct Args {
    values: Vec<(&'static str, OsString)>,
    switches: Vec<(&'static str, bool)>,
    pub(super) others: Vec<OsString>,
}

impl Args {
    /// The value of a flag; an empty one counts as not given.
    pub(super) fn value(&self, name: &str) -> Option<&OsStr> {
        let last = self.values.iter().rev().find(|(flag, _)| *flag == name);
        last.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn switch(&self, name: &str) -> bool {
        self.switches.iter().rev().find(|(flag, _)| *flag == name).is_some_and(|(_, on)| *on)
    }
}

/// Splits arguments into flags and others. The error is for users.
pub(super) fn read(words: &[OsString], known: Flags) -> Result<Args, String> {
    let mut read = Args::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            read.others.extend(rest.cloned());
            break;
        }
        let Some((name, value)) = split(word) else {
            read.others.push(word.clone());
            continue;
        };
        let is_named = |flag: &&&str| flag.as_bytes() == name;
        if let Some(flag) = known.values.iter().find(is_named) {
            let value = value.or_else(|| rest.next().cloned()).ok_or_else(|| {
                format!("flag needs an argument: {}", identifier(&word.to_string_lossy()))
            })?;
            read.values.push((flag, value));
        } else if let Some(flag) = known.switches.iter().chain(&["help", "h"]).find(is_named) {
            let on = value.map_or(Ok(true), |value| {
                boolean(&value)
                    .ok_or_else(|| invalid(flag, &value.to_string_lossy(), "parse error"))
            })?;
            read.switches.push((flag, on));
        } else {
            let name = identifier(&String::from_utf8_lossy(name));
            return Err(format!("flag provided but not defined: -{name}"));
        }
    }
    Ok(read)
}

/// Returns a flag's name and the value after `=`; `None` for other arguments.
fn split(word: &OsStr) -> Option<(&[u8], Option<OsString>)> {
    let bytes = word.as_bytes();
    let name = bytes.strip_prefix(b"--").or_else(|| bytes.strip_prefix(b"-"))?;
    if name.is_empty() {
        return None;
    }
    Some(match name.iter().position(|&byte| byte == b'=') {
        None => (name, None),
        Some(at) => (&name[..at], Some(OsString::from_vec(name[at + 1..].to_vec()))),
    })
}

/// Returns the message of Go for an invalid value, and a hint.
pub(super) fn invalid(name: &str, typed: &str, advice: &str) -> String {
    format!("invalid value \"{}\" for flag -{name}: {advice}", word(typed))
}

/// A word as it may be shown: an address without user information and query, which may be secrets.
pub(super) fn word(typed: &str) -> String {
    let masked = ProxyUrl::from(typed).masked();
    match masked.find('?').filter(|_| masked.contains("://")) {
        Some(query) => format!("{}?{MASK}", identifier(&masked[..query])),
        None => identifier(&masked),
    }
}

pub(super) fn read_duration(words: &Args, name: &str) -> Result<Option<Duration>, String> {
    let duration = words.value(name).map(|value| {
        let value = value.to_string_lossy();
        parse_duration(&value).ok_or_else(|| invalid(name, &value, "write it as 15m, 90s or 1h30m"))
    });
    duration.transpose()
}

fn boolean(value: &OsStr) -> Option<bool> {
    match value.to_str()? {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// A deadline beyond a year is a slip of the pen.
const MAX_DURATION: Duration = Duration::from_hours(366 * 24);

/// Parses a duration such as `1h30m`, `15m`, `90s`, `1.5s` or `100ms`; a number without a unit is in seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let duration = Duration::try_from(text.parse::<SignedDuration>().ok()?).ok()?;
    (duration <= MAX_DURATION).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: Flags = Flags { values: &["config"], switches: &["dry"] };

    fn read_words(words: &[&str]) -> Result<Args, String> {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>(), KNOWN)
    }

    #[test]
    fn flags_are_read_in_all_spellings() {
        for words in [
            &["--config=a", "-dry"][..],
            &["-config", "a", "--dry=true"],
            &["x", "--config", "a", "y", "--dry=T"],
            &["--config=b", "--config=a", "--dry=false", "--dry"],
            &["--dry", "--config=a", "--", "--config=b"],
        ] {
            let read = read_words(words).unwrap();
            assert_eq!(read.value("config"), Some(OsStr::new("a")), "{words:?}");
            assert!(read.switch("dry"), "{words:?}");
        }
        assert_eq!(read_words(&["--config="]).unwrap().value("config"), None);
        assert_eq!(read_words(&["-", "a"]).unwrap().others, ["-", "a"]);
    }

    #[test]
    fn invalid_flags_have_the_messages_of_go() {
        let message = |words: &[&str]| read_words(words).unwrap_err();
        assert_eq!(message(&["--nosuch"]), "flag provided but not defined: -nosuch");
        assert_eq!(message(&["--config"]), "flag needs an argument: --config");
        assert_eq!(message(&["--dry=maybe"]), "invalid value \"maybe\" for flag -dry: parse error");
        assert_eq!(message(&["--a\u{1b}b=c"]), "flag provided but not defined: -a\\u{1b}b");
    }
    #[test]
    fn address_is_printed_without_secrets() {
        for (typed, expected) in [
            ("user:V@reg.io", "[secret]@reg.io"),
            ("http://user:V/x@host:80/y", "http://[secret]@host:80/y"),
            ("https://host/x?token=V#", "https://host/x?[secret]"),
            ("what?", "what?"),
        ] {
            assert_eq!(word(typed), expected);
        }
    }

    #[test]
    fn durations_are_parsed_in_common_forms() {
        let milliseconds = |text| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(milliseconds("90"), Some(90_000));
        assert_eq!(milliseconds("15m"), Some(900_000));
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("1.5s"), Some(1500));
        assert_eq!(milliseconds("100ms"), Some(100));
        assert_eq!(milliseconds("7000us"), Some(7));
        assert_eq!(milliseconds("7000µs"), Some(7));
        assert_eq!(milliseconds("7000000ns"), Some(7));
        // 366 days are the most.
        assert_eq!(milliseconds("8784h"), Some(31_622_400_000));
        assert_eq!(milliseconds("8784h1s"), None);
        for bad in ["", "m", "15x", "-5s", "1..5s", "5m3", "1e9h", "9999999h", " 5s"] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }
}

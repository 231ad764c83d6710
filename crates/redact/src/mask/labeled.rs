//! Values after a label: a name, a header, a flag, a verb.

use std::ops::Range;

use super::values::{Syntax, skip_blanks, value, word_end};
use crate::names;

/// Commands whose `-p` takes a password.
const WITH_PASSWORD: &[&str] = &["login", "mysql", "mysqladmin", "mysqldump", "sshpass"];

pub(super) fn find(line: &str, found: &mut Vec<Range<usize>>) {
    let bytes = line.as_bytes();
    let mut takes_password = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if !is_name_byte(byte) {
            takes_password &= !b"|;&".contains(&byte);
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().position(|&byte| !is_name_byte(byte));
        let name = at..length.map_or(bytes.len(), |length| at + length);
        let password = if takes_password { short_flag(line, &name) } else { None };
        takes_password =
            takes_password && password.is_none() || WITH_PASSWORD.contains(&&line[name.clone()]);
        at = name.end;
        let value = password
            .or_else(|| password_of_user(line, &name))
            .or_else(|| value_of_name(line, &name));
        if let Some(value) = value {
            at = value.end;
            found.push(value);
        }
    }
}

/// Finds the value after the name of a secret.
fn value_of_name(line: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let text = with_word_before(line, name);
    if !names::names_secret(text) {
        return None;
    }
    let closed = name.end + bytes[name.end..].iter().take_while(|b| b"\"'`\\]".contains(b)).count();
    let in_quotes = closed > name.end;
    let sign = skip_blanks(bytes, closed);
    let syntax = if in_quotes { Syntax::Json } else { Syntax::Word };
    match bytes.get(sign) {
        Some(b'=') => {
            let (start, is_apart) = skip_sign(bytes, sign);
            if names::is_path(&line[start..]) {
                return None;
            }
            let value = value(line, start, syntax)?;
            let word = &line[value.clone()];
            // `TOKEN= OTHER=x` assigns nothing to the first.
            let is_next = is_apart && (word.contains('=') || names::is_harmless(word));
            (!is_next).then_some(value)
        }
        Some(b':') => {
            let (start, is_apart) = skip_sign(bytes, sign);
            let is_address = bytes[sign..].starts_with(b"://");
            if is_address || !in_quotes && !is_label(bytes, name, text, start, is_apart) {
                return None;
            }
            labeled_value(line, text, start, syntax)
        }
        Some(b'>') if !in_quotes && name.start > 0 && bytes[name.start - 1] == b'<' => {
            let end = line[sign..].find('<').map_or(line.len(), |length| sign + length);
            (end > sign + 1).then_some(sign + 1..end)
        }
        // `["--token", "V"]`, and a member whose colon is lost.
        Some(b',') if in_quotes && text.starts_with('-') => {
            let start = skip_blanks(bytes, sign + 1);
            quoted(line, start).filter(|value| !line[value.clone()].starts_with('-'))
        }
        _ if closed == sign || !names::is_label(text) => None,
        Some(b'"' | b'\'') if in_quotes => quoted(line, sign),
        _ if text.starts_with('-') && !in_quotes => value_of_flag(line, text, sign),
        _ if text.eq_ignore_ascii_case("bearer") => {
            let is_question = in_quotes || line[sign..].starts_with("realm=");
            if is_question { None } else { labeled_value(line, text, sign, syntax) }
        }
        _ if names::is_noun(text) => value_of_verb(line, text, sign),
        _ => None,
    }
}

/// Returns true if a colon after a name makes it a label, unlike `image/secret:v1` and `token.go:12`.
fn is_label(bytes: &[u8], name: &Range<usize>, text: &str, start: usize, is_apart: bool) -> bool {
    let in_path = name.start > 0 && bytes[name.start - 1] == b'/';
    let in_quotes = bytes.get(start).is_some_and(|byte| b"\"'\\".contains(byte));
    let is_plain = is_apart || in_quotes || names::is_noun(text) && !in_path;
    names::is_label(text) && !names::is_event(text) && is_plain
}

/// `password is V`, `the token was: V`.
fn value_of_verb(line: &str, name: &str, at: usize) -> Option<Range<usize>> {
    let rest = &line[at..];
    let verb = ["is", "was"].into_iter().find(|verb| {
        let after = rest.strip_prefix(verb);
        after.is_some_and(|after| after.starts_with([' ', ':', '=']))
    })?;
    let (start, _) = skip_sign(line.as_bytes(), at + verb.len());
    labeled_value(line, name, start, Syntax::Word)
}

/// `curl -u user:V`: the password follows the colon.
fn password_of_user(line: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    if !["-u", "-U", "--user", "--proxy-user"].contains(&&line[name.clone()]) {
        return None;
    }
    let (start, _) = skip_sign(bytes, name.end);
    let both = value(line, start, Syntax::Word).filter(|_| start > name.end)?;
    let (user, password) = line[both.clone()].split_once(':')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_other = user.is_empty()
        || password.is_empty()
        || password.starts_with("//")
        || user.starts_with('+')
        || is_number(user) && is_number(password);
    (!is_other).then_some(both.start + user.len() + 1..both.end)
}

/// `sshpass -p V`, `mysql -pV`.
fn short_flag(line: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let is_flag = line[name.clone()].starts_with("-p")
        && name.start.checked_sub(1).is_none_or(|before| bytes[before].is_ascii_whitespace());
    let start = name.start + "-p".len();
    match bytes.get(start).filter(|_| is_flag)? {
        byte if byte.is_ascii_whitespace() => value(line, skip_blanks(bytes, start), Syntax::Word),
        _ => value(line, start, Syntax::Word),
    }
}

/// Finds the value of a flag: neither another flag nor a word of a message about it.
fn value_of_flag(line: &str, name: &str, start: usize) -> Option<Range<usize>> {
    let takes_none = line[start..].starts_with('-') || name.ends_with("stdin");
    if takes_none { None } else { labeled_value(line, name, start, Syntax::Word) }
}

/// Finds the value after a label: neither a word of a message nor the scheme of a header.
fn labeled_value(line: &str, name: &str, start: usize, syntax: Syntax) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    let first = value(line, start, syntax)?;
    let word = &line[first.clone()];
    let in_quotes = first.start > start || word.starts_with(['[', '{']);
    if in_quotes || syntax == Syntax::Json && !names::is_harmless(word) {
        return Some(first);
    }
    let next = skip_blanks(bytes, first.end);
    if names::is_scheme(word) {
        return value(line, next, syntax).filter(|value| !names::is_harmless(&line[value.clone()]));
    }
    if names::is_harmless(word) {
        return None;
    }
    let mut end = first.end;
    // A header may continue, and a sign may precede the value.
    let continues = |word: &str| {
        names::is_list(name) && word.ends_with([';', ','])
            || !word.contains(|c: char| c.is_alphanumeric())
    };
    let mut last = first.clone();
    while continues(&line[last.clone()]) {
        let next = skip_blanks(bytes, last.end);
        if next == bytes.len() {
            break;
        }
        last = next..word_end(bytes, next).max(next + 1);
        end = last.end;
    }
    Some(first.start..end)
}

/// Finds a value that must be in quotes.
fn quoted(line: &str, start: usize) -> Option<Range<usize>> {
    value(line, start, Syntax::Word).filter(|value| value.start > start)
}

/// Returns the start of the value after `=`, `:` and the like, and whether a blank separates them.
fn skip_sign(bytes: &[u8], sign: usize) -> (usize, bool) {
    let signs = bytes[sign..].iter().take_while(|byte| b"=:>".contains(byte)).count();
    let start = skip_blanks(bytes, sign + signs);
    (start, start > sign + signs)
}

/// `private key` is a name of two words.
fn with_word_before<'l>(line: &'l str, name: &Range<usize>) -> &'l str {
    let text = &line[name.clone()];
    if !text.eq_ignore_ascii_case("key") {
        return text;
    }
    let before = line[..name.start].strip_suffix(' ').unwrap_or_default();
    let length = before.bytes().rev().take_while(|&byte| is_name_byte(byte)).count();
    if length == 0 { text } else { &line[before.len() - length..name.end] }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

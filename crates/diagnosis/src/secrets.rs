//! Secrets in foreign text, masked. Everything that is quoted goes through here.

use mooring_contract::MASK;

/// Words of a name behind which a secret stands. Masking too much is harmless.
const SECRET_NAMES: &[&str] = &[
    "token",
    "secret",
    "passw",
    "pwd",
    "credential",
    "authorization",
    "bearer",
    "sig",
    "private",
    "accountkey",
    "api_key",
    "apikey",
    "client_key",
    "principal_file_content",
    "cert",
];

/// The line with every word masked that is, or may hold, a secret.
///
/// A trace of a shell prints whatever the shell is given, so this works word by word and masks a
/// word whole, rather than look for the exact end of a secret.
#[must_use]
pub fn masked(line: &str) -> String {
    masked_around(line, 0).0
}

/// The same, and where the word that holds `focus` begins then.
pub(crate) fn masked_around(line: &str, focus: usize) -> (String, usize) {
    let mut shown = String::with_capacity(line.len());
    let mut named = false;
    let (mut at, mut shown_focus) = (0, None);
    for word in line.split(' ') {
        if at > 0 {
            shown.push(' ');
        }
        let (begin, inside) = (shown.len(), focus.saturating_sub(at));
        at += word.len() + 1;
        if shown_focus.is_none() && focus < at {
            // A word that is shown whole keeps its focus; a masked one is short anyway.
            shown_focus = Some((begin, inside));
        }
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_scheme =
            ["basic", "bearer", "negotiate"].iter().any(|s| bare.eq_ignore_ascii_case(s));
        if named && !bare.is_empty() && !is_scheme {
            shown.push_str(MASK);
            named = false;
            continue;
        }
        named = (named && is_scheme) || announces_secret(word);
        match mask_word(word) {
            Some(masked) => shown.push_str(&masked),
            None => shown.push_str(word),
        }
    }
    let focus = shown_focus.map_or(shown.len(), |(begin, inside)| begin + inside);
    let focus = shown.floor_char_boundary(focus.min(shown.len()));
    (shown, focus)
}

/// `Authorization:`, `--token`, `Bearer`: the next word is a secret.
fn announces_secret(word: &str) -> bool {
    let flag = word.starts_with("--") && !word.contains('=');
    let label = word.ends_with(':') || word.ends_with("\":");
    (flag || label || word.eq_ignore_ascii_case("bearer")) && names_secret(word)
}

fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
}

fn mask_word(word: &str) -> Option<String> {
    if let Some(at) = word.find("://") {
        let rest = &word[at + 3..];
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let host = authority.rfind('@').map_or(0, |end| end + 1);
        let query = rest.find('?').unwrap_or(rest.len());
        if host > 0 || query < rest.len() {
            let user = if host > 0 { format!("{MASK}@") } else { String::new() };
            let asked = if query < rest.len() { format!("?{MASK}") } else { String::new() };
            return Some(format!(
                "{}{user}{}{asked}",
                &word[..at + 3],
                &rest[host..query.max(host)]
            ));
        }
    }
    if let Some((name, value)) = word.split_once('=').or_else(|| word.split_once("\":"))
        && !value.is_empty()
        && names_secret(name)
    {
        return Some(format!("{name}={MASK}"));
    }
    looks_secret(word).then(|| MASK.to_owned())
}

/// A JWT, a bootstrap token (`abcdef.0123456789abcdef`) or a long run of base64 or hexadecimal digits.
fn looks_secret(word: &str) -> bool {
    let runs = |fits: fn(u8) -> bool| word.as_bytes().split(move |b| !fits(*b));
    let jwt = runs(|b| b.is_ascii_alphanumeric() || b"._-=".contains(&b)).any(|run| {
        let at = run.windows(3).position(|w| w == b"eyJ");
        at.is_some_and(|at| run.len() - at >= 20)
    });
    let token = runs(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.').any(|run| {
        run.len() == 23 && run[6] == b'.' && !run[..6].contains(&b'.') && !run[7..].contains(&b'.')
    });
    let blob = runs(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)).any(|run| {
        let has = |class: fn(&u8) -> bool| run.iter().any(class);
        let mixed =
            has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        let hex = run.iter().all(u8::is_ascii_hexdigit);
        run.len() >= 40 && (mixed || hex)
    });
    jwt || token || blob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_all_else_stays() {
        for (line, shown) in [
            ("token abcdef.0123456789abcdef used", "token [secret] used"),
            (
                "Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
                "Authorization: Bearer [secret]",
            ),
            ("+ TLS_BOOTSTRAP_TOKEN=abc", "+ TLS_BOOTSTRAP_TOKEN=[secret]"),
            ("kubeadm join --token hunter2 --v=5", "kubeadm join --token [secret] --v=5"),
            ("https://u:p@proxy:3128/x refused", "https://[secret]@proxy:3128/x refused"),
            ("https://b/y?sv=1&sig=abc%2F", "https://b/y?[secret]"),
            ("https://u:p@b/y?sig=1", "https://[secret]@b/y?[secret]"),
            ("MIIB0123456789abcdefABCDEFMIIB0123456789abcdefABCDEF==", "[secret]"),
            ("http://u:p@proxy:3128/ refused", "http://[secret]@proxy:3128/ refused"),
            (
                "Authorization: x eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln",
                "Authorization: [secret] [secret]",
            ),
            ("+ curl https://mcr.microsoft.com/v2/", "+ curl https://mcr.microsoft.com/v2/"),
            ("oras: command not found", "oras: command not found"),
            (
                "/var/lib/waagent/custom-script/download/0/script.sh",
                "/var/lib/waagent/custom-script/download/0/script.sh",
            ),
        ] {
            assert_eq!(masked(line), shown);
        }
    }

    #[test]
    fn what_was_found_is_found_again_behind_a_masked_word() {
        let line = "TOKEN=abcdef oras: command not found";
        let (shown, focus) = masked_around(line, line.find("oras").unwrap());
        assert_eq!(&shown[focus..], "oras: command not found");
        assert_eq!(masked_around("", 0), (String::new(), 0));
    }
}

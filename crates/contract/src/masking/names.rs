//! Names behind which a secret stands, and words that are none.

/// Parts of a name behind which a secret stands, in small letters and without `-`, `_` and `.`.
const SECRET_PARTS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "signature",
    "privatekey",
    "accountkey",
    "apikey",
    "authkey",
    "accesskey",
    "clientkey",
    "sharedkey",
    "storagekey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "functionskey",
    "subscriptionkey",
    "principalfilecontent",
];

/// Names, or parts of one between `-`, `_` and `.`, that are too short to be looked for within words.
const SECRET_WORDS: &[&str] = &["sig", "pass"];

/// Ends of a name that tells of an event, not of a secret: `AuthorizationFailed: The client …`.
const EVENTS: &[&str] =
    &["failed", "failure", "error", "exception", "denied", "unavailable", "invalid", "required"];

/// Ends of a name behind which stands the secret itself, also where nothing but a colon parts them.
const NOUNS: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "authorization",
    "cookie",
    "key",
    "signature",
    "credential",
];

/// What follows `token:` or `password is` in a sentence. None of these is a secret.
const HARMLESS: &[&str] = &[
    "a",
    "access",
    "already",
    "an",
    "and",
    "are",
    "as",
    "at",
    "auth",
    "authentication",
    "authorization",
    "bad",
    "be",
    "by",
    "can",
    "cannot",
    "certificate",
    "client",
    "connection",
    "context",
    "correct",
    "could",
    "couldn't",
    "denied",
    "dial",
    "does",
    "empty",
    "eof",
    "error",
    "expired",
    "failed",
    "failure",
    "file",
    "for",
    "forbidden",
    "from",
    "get",
    "has",
    "http",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "it",
    "line",
    "malformed",
    "missing",
    "must",
    "needed",
    "no",
    "none",
    "not",
    "of",
    "on",
    "or",
    "permission",
    "post",
    "read",
    "refused",
    "rejected",
    "request",
    "required",
    "revoked",
    "server",
    "set",
    "status",
    "that",
    "the",
    "this",
    "timeout",
    "to",
    "too",
    "unable",
    "unauthorized",
    "unexpected",
    "unknown",
    "unset",
    "used",
    "valid",
    "was",
    "when",
    "will",
    "with",
    "without",
    "wrong",
    "x509",
];

/// Where files are: a secret's path is no secret.
const FOLDERS: &[&str] =
    &["/dev/", "/etc/", "/home/", "/opt/", "/proc/", "/root/", "/run/", "/tmp/", "/usr/", "/var/"];

/// What stands before a secret in a header, and is none.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "negotiate", "ntlm", "sharedkey", "token"];

/// Whether what is assigned to this name may be a secret.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    let plain = plain(name);
    // A certificate is public, but what carries one by name often carries its key.
    plain.contains("cert") || holds_secret(name, &plain)
}

/// Whether this name announces a secret in a sentence, a header or a flag, too.
pub(super) fn announces(name: &str) -> bool {
    holds_secret(name, &plain(name))
}

fn holds_secret(name: &str, plain: &str) -> bool {
    let is_word = |part: &str| SECRET_WORDS.iter().any(|word| part.eq_ignore_ascii_case(word));
    SECRET_PARTS.iter().any(|part| plain.contains(part)) || name.split(['-', '_', '.']).any(is_word)
}

/// Whether a name tells of an event.
pub(super) fn is_event(name: &str) -> bool {
    let name = plain(name);
    EVENTS.iter().any(|end| name.ends_with(end))
}

/// Whether a name is that of the secret itself: `db_password`, not `token.go`.
pub(super) fn is_noun(name: &str) -> bool {
    let name = plain(name);
    NOUNS.iter().any(|noun| name.ends_with(noun))
}

/// Whether a header's value goes on behind `;` and `,`.
pub(super) fn is_list(name: &str) -> bool {
    let name = plain(name);
    name.contains("cookie") || name.contains("authorization")
}

/// Whether a word is one of a sentence, or a path.
pub(super) fn is_harmless(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    HARMLESS.binary_search(&bare.as_str()).is_ok() || is_path(word)
}

/// Whether a value is the path of a file.
pub(super) fn is_path(value: &str) -> bool {
    FOLDERS.iter().any(|folder| value.starts_with(folder))
}

pub(super) fn is_scheme(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    SCHEMES.iter().any(|scheme| bare.eq_ignore_ascii_case(scheme))
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '-' | '_' | '.' | ' '))
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_in_every_spelling() {
        for name in ["client_secret", "clientSecret", "X-Auth-Key", "AccountKey", "sig", "DB_PASS"]
        {
            assert!(announces(name), "{name}");
        }
        for name in ["signal", "assigned", "privatelink", "bypass", "design", "key"] {
            assert!(!announces(name), "{name}");
        }
        assert!(names_secret("client_cert") && !announces("client_cert"));
    }

    #[test]
    fn harmless_words_are_in_order() {
        assert!(HARMLESS.is_sorted());
        assert!(is_harmless("not") && is_harmless("Expired.") && !is_harmless("hunter2"));
    }
}

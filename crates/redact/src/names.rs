//! The names of secrets, and words that are not secrets.

/// Parts of names of secrets, in lower case and without `-`, `_`, `.` and spaces.
const COMMON: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "credential",
    "privatekey",
    "accountkey",
    "apikey",
    "accesskey",
    "sharedkey",
];

/// Names in logs and messages; in a document some of these are harmless titles.
const TEXT: Names = Names {
    parts: [
        COMMON,
        &[
            "authorization",
            "bearer",
            "cookie",
            "signature",
            "authkey",
            "clientkey",
            "storagekey",
            "signingkey",
            "encryptionkey",
            "masterkey",
            "functionskey",
            "subscriptionkey",
            "principalfilecontent",
        ],
    ],
    words: &["sig", "pass"],
};

/// Names of members of JSON documents; in a message some of these precede a path or a title.
#[cfg(feature = "json")]
const DOCUMENT: Names = Names {
    parts: [
        COMMON,
        &["kubeconfig", "sasurl", "customheaders", "connectionstring", "protectedsettings"],
    ],
    words: &["dsn"],
};

struct Names {
    parts: [&'static [&'static str]; 2],
    /// Names, or parts of one between `-`, `_` and `.`, that are too short to be searched for within words.
    words: &'static [&'static str],
}

impl Names {
    /// `plain` is the name in lower case and without separators.
    fn contain(&self, name: &str, plain: &str) -> bool {
        let is_word = |part: &str| self.words.iter().any(|word| part.eq_ignore_ascii_case(word));
        self.parts.iter().copied().flatten().any(|part| plain.contains(part))
            || name.split(['-', '_', '.']).any(is_word)
    }
}

/// Suffixes of events, which are not secrets: `AuthorizationFailed: The client …`.
const EVENTS: &[&str] =
    &["failed", "failure", "error", "exception", "denied", "unavailable", "invalid", "required"];

/// Suffixes of names whose value is the secret itself, also where only a colon separates them.
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

/// Words that follow `token:` or `password is` in a message. None of these is a secret.
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

/// Directories of files: the path of a secret is not a secret.
const DIRECTORIES: &[&str] =
    &["/dev/", "/etc/", "/home/", "/opt/", "/proc/", "/root/", "/run/", "/tmp/", "/usr/", "/var/"];

/// Schemes that precede a secret in a header.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "negotiate", "ntlm", "sharedkey", "token"];

pub fn names_secret(name: &str) -> bool {
    let plain = plain(name);
    // A certificate is public, but a value with that name often contains its key.
    plain.contains("cert") || TEXT.contain(name, &plain)
}

/// Returns true if this name labels a secret also in a message, a header or a flag.
pub(crate) fn is_label(name: &str) -> bool {
    TEXT.contain(name, &plain(name))
}

/// Returns true if this is the name of a member of a JSON document that must not be stored or printed.
#[cfg(feature = "json")]
pub(crate) fn is_secret_member(name: &str) -> bool {
    DOCUMENT.contain(name, &plain(name))
}

pub(crate) fn is_event(name: &str) -> bool {
    let name = plain(name);
    EVENTS.iter().any(|end| name.ends_with(end))
}

/// Returns true for the name of the secret itself: `db_password`, not `token.go`.
pub(crate) fn is_noun(name: &str) -> bool {
    let name = plain(name);
    NOUNS.iter().any(|noun| name.ends_with(noun))
}

/// Returns true for a header whose value continues after `;` and `,`.
pub(crate) fn is_list(name: &str) -> bool {
    let name = plain(name);
    name.contains("cookie") || name.contains("authorization")
}

/// Returns true for a word of a message, or a path.
pub(crate) fn is_harmless(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    HARMLESS.binary_search(&bare.as_str()).is_ok() || is_path(word)
}

pub(crate) fn is_path(value: &str) -> bool {
    DIRECTORIES.iter().any(|directory| value.starts_with(directory))
}

pub(crate) fn is_scheme(word: &str) -> bool {
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
    fn names_of_secrets_match_in_every_spelling() {
        for name in ["client_secret", "clientSecret", "X-Auth-Key", "AccountKey", "sig", "DB_PASS"]
        {
            assert!(is_label(name), "{name}");
        }
        for name in ["signal", "assigned", "privatelink", "bypass", "design", "key"] {
            assert!(!is_label(name), "{name}");
        }
        assert!(names_secret("client_cert") && !is_label("client_cert"));
    }

    #[test]
    #[cfg(feature = "json")]
    fn document_members_have_separate_names() {
        for name in ["adminPassword", "kubeConfig", "custom-Headers", "dsn", "api.key"] {
            assert!(is_secret_member(name), "{name}");
        }
        for name in ["signature", "pass", "cookie", "adsn", "vmSize"] {
            assert!(!is_secret_member(name), "{name}");
        }
        assert!(!names_secret("kubeconfig"), "a message names its path");
    }

    #[test]
    fn harmless_words_are_sorted() {
        assert!(HARMLESS.is_sorted());
        assert!(is_harmless("not") && is_harmless("Expired.") && !is_harmless("hunter2"));
    }
}

//! Texts that are likely secrets by their form alone.

/// Returns true for a text with a JWT, a bootstrap token (`abcdef.0123456789abcdef`) or many base64 or hex digits.
pub fn looks_secret(text: &str) -> bool {
    let runs = |fits: fn(u8) -> bool| text.as_bytes().split(move |b| !fits(*b));
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
    use super::looks_secret;

    #[test]
    fn tokens_keys_and_hashes_look_secret_but_names_do_not() {
        for secret in [
            "eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
            "abcdef.0123456789abcdef",
            "MIIB0123456789abcdefABCDEFMIIB0123456789abcdefABCDEF==",
            "0123456789abcdef0123456789abcdef01234567",
        ] {
            assert!(looks_secret(secret), "{secret}");
        }
        for name in [
            "kubernetes.azure.com/cluster",
            "/var/lib/waagent/custom-script/download/0/script.sh",
            "11111111-2222-3333-4444-555555555555",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}

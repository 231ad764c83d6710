//! Versions of the form `YYYYMM.DD.PATCH`, and which of them repairs which.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackageVersion {
    major: u64,
    minor: u64,
    patch: u64,
    /// The version without `v`, `-1` and `+x`: digits and dots only, zeros kept.
    pub(crate) core: String,
}

impl PackageVersion {
    /// Reads a version as upstream's library does: `v`, zeros, missing parts and what follows `-` or `+` are tolerated.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let (core, suffix) = text.split_at(end);
        let is_suffix_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"-+.".contains(&byte);
        if suffix.len() == 1 || !suffix.bytes().all(is_suffix_byte) {
            return None;
        }
        let mut numbers = [0; 3];
        for (at, part) in core.split('.').enumerate() {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            *numbers.get_mut(at)? = part.parse().ok().filter(|_| is_number)?;
        }
        let [major, minor, patch] = numbers;
        Some(Self { major, minor, patch, core: core.to_owned() })
    }
}

/// Returns whether `asked` is a hotfix of `own`: the same base and a strictly higher patch. `None` if unknown.
pub(crate) fn is_hotfix_of(own: &str, asked: &str) -> Option<bool> {
    let (own, asked) = (PackageVersion::parse(own)?, PackageVersion::parse(asked)?);
    Some((own.major, own.minor) == (asked.major, asked.minor) && asked.patch > own.patch)
}

/// The literal base `YYYYMM.DD` of a version with three parts.
pub(crate) fn base(version: &str) -> Option<&str> {
    let version = version.trim();
    let parts: Vec<&str> = version.split('.').collect();
    let is_whole = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
    is_whole.then(|| version.rsplit_once('.').map(|(base, _)| base)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hotfix_has_the_same_base_and_a_higher_patch() {
        for (own, asked, expected) in [
            ("202604.01.0", "202604.01.1", Some(true)),
            ("202604.01.0", "202604.1.1", Some(true)),
            ("202604.01.0", " v202604.01.1-1+x ", Some(true)),
            ("202604.01.9", "202604.01.10", Some(true)),
            ("202604.01.1", "202604.01.1", Some(false)),
            ("202604.01.2", "202604.01.1", Some(false)),
            ("202605.01.0", "202604.01.1", Some(false)),
            ("202604.01.0", "202605.30.2", Some(false)),
            ("202604.01.0", "202604.02.1", Some(false)),
            ("dev", "202604.01.1", None),
            ("202604.01.0", "", None),
            ("202604.01.0", "202604.01.1.1", None),
            ("202604.01.0", "202604.01.x", None),
            ("202604.01.0", "202604.01.1-", None),
            ("202604.01.0", "202604.01.1-a b", None),
            ("202604.01.0", "202604..1", None),
            ("202604.01.0", "99999999999999999999.01.1", None),
        ] {
            assert_eq!(is_hotfix_of(own, asked), expected, "{own} {asked}");
        }
    }

    #[test]
    fn base_is_literal_and_needs_three_parts() {
        assert_eq!(base("202604.01.0"), Some("202604.01"));
        assert_eq!(base("202604.1.0"), Some("202604.1"));
        for bad in ["dev", "", "202604.01", "202604.01.", ".01.0", "202604.01.0.1"] {
            assert_eq!(base(bad), None, "{bad}");
        }
    }
}

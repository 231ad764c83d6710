//! Patterns of paths and of actions.

/// Returns true if a text matches a pattern in which `*` matches any characters, ignoring case.
pub(crate) fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_and_in_any_case() {
        for (pattern, action, fits) in [
            ("*", "A/b/read", true),
            ("*/read", "A/b/READ", true),
            ("*/read", "A/b/write", false),
            ("a/*/read", "A/b/c/read", true),
            ("a/*/read", "A/read", false),
            ("a/*", "A/b/delete", true),
            ("A/b/join/action", "a/B/join/Action", true),
            ("a/*/c/*/read", "a/b/c/d/read", true),
            ("a/*/x/*/read", "a/b/c/d/read", false),
        ] {
            assert_eq!(is_match(pattern, action), fits, "{pattern} {action}");
        }
    }

    #[test]
    fn star_in_a_path_matches_any_characters() {
        for (pattern, path, expected) in [
            ("*", "/a", true),
            ("/a", "/a", true),
            ("/a", "/a/b", false),
            ("/a/*", "/a/b/c", true),
            ("*/agentpools/*", "/x/agentPools/y", true),
            ("*/agentpools", "/x/agentPools/y", false),
            ("/a*b*c", "/a1b2c", true),
            ("/a*b*c", "/ac", false),
            ("*aa", "/a", false),
        ] {
            assert_eq!(is_match(pattern, path), expected, "{pattern} {path}");
        }
    }
}

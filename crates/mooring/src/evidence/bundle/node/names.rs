//! Names as file names and as segments of paths.

/// Returns `name` as a safe file name.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain: String = name.chars().take(100).map(|c| if is_plain(c) { c } else { '-' }).collect();
    if plain.is_empty() { "node".to_owned() } else { plain }
}

/// Returns true for a name that is one segment of a path.
pub(super) fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !text.is_empty() && !text.starts_with('.') && text.len() <= 253 && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::{file_name, is_name};

    #[test]
    fn names_cannot_leave_their_path() {
        for name in ["default-1", "aks-system-1-vmss000003", "a.b_c"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "..", "a/b", "a?b=c", "a%2fb", "é", ".hidden"] {
            assert!(!is_name(name), "{name}");
        }
        assert!(is_name(&"n".repeat(253)) && !is_name(&"n".repeat(254)));
        assert_eq!(file_name("../a b"), "---a-b");
        assert_eq!(file_name("a-b_C9"), "a-b_C9");
        assert_eq!(file_name(""), "node");
    }
}

//! Counts in texts.

use std::fmt::Display;

/// Returns `1 node`, `2 nodes`.
pub fn counted<N: Copy + Display + PartialEq + From<bool>>(count: N, what: &str) -> String {
    let one = count == N::from(true);
    format!("{count} {what}{}", if one { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn plural_is_used_except_for_one() {
        assert_eq!([0, 1, 2].map(|n: i64| counted(n, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }
}

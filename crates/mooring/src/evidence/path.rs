//! Paths and names of nodes, which the same argument takes.

use std::path::Path;

use mooring_redact::identifier;

use crate::output::failure::CommandFailure;

/// Rejects `--run-command` for a path.
pub(super) fn ensure_node(run_command: bool, what: &str) -> Result<(), CommandFailure> {
    if !run_command {
        return Ok(());
    }
    let what = identifier(what);
    Err(CommandFailure::usage(format!(
        "--run-command needs the name of a node, and `{what}` is a path"
    )))
}

/// Returns true for a text that cannot be the name of a node: a path that does not exist.
pub(super) fn is_path(text: &str) -> bool {
    const SUFFIXES: [&str; 7] = ["tar", "gz", "tgz", "zip", "json", "log", "txt"];
    let suffix = Path::new(text).extension().and_then(|suffix| suffix.to_str());
    text.starts_with(['/', '.', '~'])
        || text.matches('/').count() > 1
        || suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix))
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn names_of_nodes_are_not_paths() {
        for name in ["default-1", "aks-system-1-vmss000003", "system/3", "node.example.com"] {
            assert!(!is_path(name), "{name}");
        }
        for path in ["/", "./x", "../x", "a/b/c", "x.tar.gz", "provision.json", "~/x"] {
            assert!(is_path(path), "{path}");
        }
    }
}

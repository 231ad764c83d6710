//! Shell completions: the script of clap, with names of contexts, pools, nodes, causes and codes.
//!
//! The scripts get the names from the hidden command `mooring complete`, which prints only names that a shell does not
//! expand.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::{CommandFactory as _, ValueEnum};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::cli::cluster_args::{AzureMode, ClusterArguments, SourceArguments};
use crate::cluster::read_cluster;
use crate::output::failure::Failure;
use crate::output::show;
use crate::workflows::runs::build_runtime;

/// A shell waits this long for names of the cluster.
const LIMIT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    Contexts,
    Pools,
    /// Nodes and NodeClaims, and pools.
    Nodes,
    Causes,
    /// Numbers and names of exit codes, and causes.
    Codes,
}

/// Flags whose values are names.
const FLAGS: [(&str, &str); 3] = [("context", "contexts"), ("pool", "pools"), ("cause", "causes")];

/// Commands whose argument is a name.
const COMMANDS: [(&str, &str); 5] = [
    ("why", "nodes"),
    ("trace", "nodes"),
    ("bundle", "nodes"),
    ("explain", "codes"),
    ("show", "codes"),
];

/// Prints names, one per line. Without a cluster there are none.
pub(crate) fn complete(what: Names) -> Result<(), Failure> {
    let names = names(what);
    show::print_names(names.iter().map(String::as_str).filter(|name| is_plain(name)))
}

fn names(what: Names) -> BTreeSet<String> {
    let causes = || mooring_diagnosis::cause_pages().into_iter().map(|page| page.reason.to_owned());
    match what {
        Names::Contexts => mooring_kube::kubeconfig::contexts(None).into_iter().collect(),
        Names::Causes => causes().collect(),
        Names::Codes => {
            let codes = mooring_codes::all();
            codes
                .flat_map(|code| [code.number.to_string(), code.name.to_owned()])
                .chain(causes())
                .collect()
        }
        Names::Pools | Names::Nodes => of_cluster(what == Names::Nodes).unwrap_or_default(),
    }
}

fn of_cluster(with_nodes: bool) -> Option<BTreeSet<String>> {
    let cluster = ClusterArguments::default();
    let arguments = SourceArguments { cluster, azure: AzureMode::Never, timeout: LIMIT };
    let facts = build_runtime().ok()?.block_on(read_cluster(&arguments)).ok()?.facts;
    let mut names: BTreeSet<String> = facts.node_pools.into_iter().collect();
    for node in &facts.inventory.nodes {
        names.extend(node.pool.clone());
        if with_nodes {
            names.extend([&node.node, &node.node_claim].into_iter().flatten().cloned());
        }
    }
    Some(names)
}

/// Returns true for a name without characters that a shell expands or splits.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/@:-".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mooring", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script.push_str(&bash()),
        Shell::Fish => script.push_str(&fish()),
        Shell::Zsh => script = zsh(&script),
        // The others complete commands and flags.
        _ => {}
    }
    show::print_raw(script.as_bytes())
}

fn bash() -> String {
    let flags = FLAGS.map(|(flag, names)| format!("        --{flag}) names={names} ;;\n"));
    let commands =
        COMMANDS.map(|(command, names)| format!("        {command}) names={names} ;;\n"));
    let cases = [flags.concat(), commands.concat()].concat();
    format!(
        r#"
_mooring_names() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" names=
    case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{cases}    esac
    if [[ -n $names && $cur != -* ]]; then
        COMPREPLY=( $(compgen -W "$(mooring complete "$names" 2>/dev/null)" -- "$cur") )
        [[ ${{#COMPREPLY[@]}} -gt 0 ]] && return 0
    fi
    _mooring "$@"
}}
complete -F _mooring_names -o bashdefault -o default mooring
"#
    )
}

fn fish() -> String {
    let names = |names: &str| format!("-a \"(mooring complete {names} 2>/dev/null)\"");
    let flags =
        FLAGS.map(|(flag, kind)| format!("complete -c mooring -l {flag} -x {}\n", names(kind)));
    let commands = COMMANDS.map(|(command, kind)| {
        let is_used = format!("__fish_seen_subcommand_from {command}");
        format!("complete -c mooring -n \"{is_used}\" {}\n", names(kind))
    });
    [flags.concat(), commands.concat()].concat()
}

/// Replaces the actions of flags.
fn zsh(script: &str) -> String {
    let mut all = String::with_capacity(script.len());
    for line in script.split_inclusive('\n') {
        let starts = |flag: &str| line.trim_start().starts_with(&format!("'--{flag}=["));
        match FLAGS.into_iter().find(|(flag, _)| starts(flag)) {
            Some((_, names)) => {
                let action =
                    format!(":{{compadd -- ${{(f)\"$(mooring complete {names} 2>/dev/null)\"}}}}'");
                all.push_str(&line.replacen(":_default'", &action, 1));
            }
            None => all.push_str(line),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_shell_expands_are_left_out() {
        for name in ["prod-weu-admin", "user@cluster", "arn:aws:eks/x", "ERR_ORAS", "211"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", "-rf", "$(id)", "a b", "`id`", "a;b", "*", "é"] {
            assert!(!is_plain(name), "{name}");
        }
        assert!(
            names(Names::Codes).contains("211")
                && names(Names::Codes).contains("OrasBinaryMissing")
        );
    }

    #[test]
    fn flags_of_zsh_have_names() {
        let line = "'--context=[Context of the kubeconfig]:NAME:_default' \\\n'--out=[File]:FILE:_files' \\\n";
        let script = zsh(line);
        assert!(script.contains("(mooring complete contexts 2>/dev/null)"), "{script}");
        assert!(script.contains("]:FILE:_files'"), "{script}");
    }
}

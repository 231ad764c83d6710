//! Shell completions: the script of clap, with names of contexts, pools, nodes, causes and codes.
//!
//! The scripts get the names from the hidden command `mooring complete`, which reads the line.

use std::collections::BTreeSet;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::parser::Cli;
use crate::output::failure::CommandFailure;
use crate::output::show;

/// Flags whose values are names.
const FLAGS: [(&str, &str); 4] =
    [("context", "contexts"), ("pool", "pools"), ("cause", "causes"), ("image", "images")];

/// Commands whose argument is a name and no file.
const NAMED: [&str; 3] = ["why", "show", "schema"];

/// Commands whose argument is a name.
const COMMANDS: [(&str, &str); 6] = [
    ("why", "nodes"),
    ("trace", "nodes"),
    ("bundle", "nodes"),
    ("explain", "codes"),
    ("show", "codes"),
    ("schema", "schemas"),
];

pub(super) fn completions(shell: Shell) -> Result<(), CommandFailure> {
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

/// Returns the flags that have a value, of all commands.
fn value_flags() -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    let mut commands = vec![Cli::command()];
    while let Some(command) = commands.pop() {
        for option in command.get_opts() {
            flags.extend(option.get_long().map(|long| format!("--{long}")));
            flags.extend(option.get_short().map(|short| format!("-{short}")));
        }
        commands.extend(command.get_subcommands().cloned());
    }
    flags
}

/// Completes the value of a flag, or the argument of the command, with the cluster that the line names. Bash splits
/// words at `=`.
fn bash() -> String {
    let flags = FLAGS.map(|(flag, names)| format!("        --{flag}) names={names} ;;\n"));
    let commands = COMMANDS
        .map(|(command, names)| format!("            {command}) names={names}; break ;;\n"));
    let (flags, commands) = (flags.concat(), commands.concat());
    let with_value = value_flags().into_iter().collect::<Vec<_>>().join("|");
    format!(
        r#"
_mooring_names() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" before=$((COMP_CWORD - 1)) names= i
    [[ $cur == = ]] && cur=
    [[ ${{COMP_WORDS[before]}} == = ]] && before=$((before - 1))
    case "${{COMP_WORDS[before]}}" in
{flags}        {with_value}) ;;
        *)
        for ((i = 1; i < COMP_CWORD; i++)); do
            case "${{COMP_WORDS[i]}}" in
            {with_value})
                [[ ${{COMP_WORDS[i+1]}} == = ]] && i=$((i + 1))
                i=$((i + 1))
                ;;
{commands}            esac
        done
        ;;
    esac
    if [[ -n $names && $cur != -* ]]; then
        COMPREPLY=( $(compgen -W "$(mooring complete "$names" -- "${{COMP_WORDS[@]:1:COMP_CWORD-1}}" 2>/dev/null)" -- "$cur") )
        [[ ${{#COMPREPLY[@]}} -gt 0 ]] && return 0
    fi
    _mooring "$@"
}}
complete -F _mooring_names -o bashdefault -o default mooring
"#
    )
}

fn fish() -> String {
    let names = |names: &str| {
        format!("-a \"(mooring complete {names} -- (commandline -opc) 2>/dev/null)\"")
    };
    let flags =
        FLAGS.map(|(flag, kind)| format!("complete -c mooring -l {flag} -x {}\n", names(kind)));
    let commands = COMMANDS.map(|(command, kind)| {
        let is_used = format!("__fish_seen_subcommand_from {command}");
        let no_files = if NAMED.contains(&command) { "-f " } else { "" };
        format!("complete -c mooring -n \"{is_used}\" {no_files}{}\n", names(kind))
    });
    [flags.concat(), commands.concat()].concat()
}

/// Adds names to the actions of flags, and of arguments of commands: `(why)` starts the arguments of a command.
fn zsh(script: &str) -> String {
    let mut all = String::with_capacity(script.len());
    let mut of_command = None;
    for line in script.split_inclusive('\n') {
        let word = line.trim();
        if let Some(command) = word.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            of_command = COMMANDS.into_iter().find(|(one, _)| *one == command);
        }
        let is_flag = |flag: &str| word.starts_with(&format!("'--{flag}=["));
        let is_argument =
            ["':what -- ", "'::what -- ", "'::id -- "].iter().any(|one| word.starts_with(one));
        let found = FLAGS.into_iter().find(|(flag, _)| is_flag(flag));
        match found.or(of_command.filter(|_| is_argument)) {
            Some((_, names)) => all.push_str(&zsh_action(line, names)),
            None => all.push_str(line),
        }
    }
    all
}

/// Replaces the action at the end of a line. An argument that may be a file stays one.
fn zsh_action(line: &str, names: &str) -> String {
    let Some((before, rest)) = line.rsplit_once(':') else { return line.to_owned() };
    let add =
        format!("compadd -- ${{(f)\"$(mooring complete {names} -- ${{(Q)words}} 2>/dev/null)\"}}");
    let Some((action, end)) = rest.split_once('\'') else { return line.to_owned() };
    if action.starts_with("_files") {
        return format!("{before}:{{{add}; {action}}}'{end}");
    }
    format!("{before}:{{{add}}}'{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fish_passes_the_cluster_of_the_line() {
        let script = fish();
        let names = script.lines().filter(|line| line.contains("mooring complete "));
        for line in names {
            assert!(line.contains(" -- (commandline -opc) 2>/dev/null)"), "{line}");
        }
    }

    #[test]
    fn zsh_has_names_of_flags_and_arguments() {
        let add = |names: &str| {
            format!(
                "compadd -- ${{(f)\"$(mooring complete {names} -- ${{(Q)words}} 2>/dev/null)\"}}"
            )
        };
        let script = "\
autoload -U is-at-least
(why)
'--context=[Context]:NAME:_default' \\
'--out=[File]:FILE:_files' \\
'::what -- Pool or node \\[default\\: all\\]:_default' \\
(trace)
':what -- Node or file:_files' \\
(schema)
'::id -- ID:_default' \\
(man)
'::page -- Page:_default' \\
";
        let expected = format!(
            "\
autoload -U is-at-least
(why)
'--context=[Context]:NAME:{{{contexts}}}' \\
'--out=[File]:FILE:_files' \\
'::what -- Pool or node \\[default\\: all\\]:{{{nodes}}}' \\
(trace)
':what -- Node or file:{{{nodes}; _files}}' \\
(schema)
'::id -- ID:{{{schemas}}}' \\
(man)
'::page -- Page:_default' \\
",
            contexts = add("contexts"),
            nodes = add("nodes"),
            schemas = add("schemas"),
        );
        assert_eq!(zsh(script), expected);
    }
}

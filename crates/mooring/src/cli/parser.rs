//! Definition of the command line.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

use super::names::Names;
use crate::about::version;
use crate::answers::{
    FLEET_HELP, FleetArguments, STATUS_HELP, StatusArguments, WHY_HELP, WhyArguments,
};
use crate::controller::{CONTROLLER_HELP, ControllerArguments};
use crate::output::error_document;
use crate::output::failure::CommandFailure;
use crate::output::show;
use crate::output::{AnswerFormat, OutputArguments, is_plugin};

/// Diagnose AKS nodes that fail to join the cluster, and repair wedged node pools
#[derive(Debug, Parser)]
#[command(
    name = "mooring",
    version = version::SHORT,
    long_version = version::LONG,
    after_help = EXIT_CODES,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    #[command(flatten)]
    pub(crate) early: EarlyFlags,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Flags of a cluster may be before the command, as for kubectl: commands that have them get the values by their ids.
#[derive(Debug, Args)]
pub(crate) struct EarlyFlags {
    #[arg(long, global = true, hide = true)]
    pub(crate) kubeconfig: Option<PathBuf>,
    #[arg(long, global = true, hide = true)]
    pub(crate) context: Option<String>,
    #[arg(short, long, global = true, hide = true)]
    pub(crate) namespace: Option<String>,
}

/// Returns the definition. Help of the plugin `kubectl-mooring` shows `kubectl mooring`.
fn command() -> clap::Command {
    let command = Cli::command();
    let template = help_template(&command);
    let command = command.help_template(template);
    if is_plugin() { command.bin_name("kubectl mooring") } else { command }
}

/// Commands by what they are for, in the order of the help. All others are in the last group.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "Troubleshooting commands",
        &["status", "why", "fleet", "explain", "codes", "trace", "bundle", "ui"],
    ),
    ("Repair commands", &["repair", "finalizers"]),
    ("Setup commands", &["doctor", "controller"]),
];

/// Returns the template of the help without a command: clap has one list of commands only.
fn help_template(command: &clap::Command) -> String {
    let visible: Vec<_> = command.get_subcommands().filter(|inner| !inner.is_hide_set()).collect();
    let width = visible.iter().map(|inner| inner.get_name().len()).max().unwrap_or_default();
    let line = |name: &str, about: &str| format!("  {name:<width$}  {about}\n");
    let of_command = |inner: &&clap::Command| {
        line(inner.get_name(), &inner.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let style = command.get_styles().get_header();
    let heading = |name: &str| format!("{style}{name}:{style:#}\n");
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (name, names) in GROUPS {
        let named =
            names.iter().filter_map(|name| visible.iter().find(|inner| inner.get_name() == *name));
        let lines: String = named.map(of_command).collect();
        let _ = writeln!(text, "{}{lines}", heading(name));
    }
    let is_other = |inner: &&&clap::Command| {
        !GROUPS.iter().any(|(_, names)| names.contains(&inner.get_name()))
    };
    let lines: String = visible.iter().filter(is_other).map(of_command).collect();
    let help = line("help", "Print the help of a command");
    let (others, options) = (heading("Other commands"), heading("Options"));
    let _ = write!(text, "{others}{lines}{help}\n{options}{{options}}{{after-help}}");
    text
}

/// Parses the command line.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let matches = command().try_get_matches();
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| report(&error))
}

/// Prints the help of a command line without a command.
pub(crate) fn print_help() -> ExitCode {
    show::print_note(command().render_help().to_string().trim_end());
    ExitCode::from(2)
}

/// Prints help, the version or a usage error.
fn report(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && error_document::requested().is_some() {
        let text = error.render().to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        return CommandFailure::usage(usage_text(text)).report();
    }
    // A closed pipe is not an error.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Returns the message of a usage error, with clap's tips as hints and without the usage.
fn usage_text(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let hint = |line: &str| line.strip_prefix("tip: ").map(|tip| format!("hint: {tip}"));
    lines.map(|line| hint(line).unwrap_or_else(|| line.to_owned())).collect::<Vec<_>>().join("\n")
}

pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0  success, or nothing to do
  1  problem found: a node failed or a pool is wedged
  2  usage error
  3  I/O or API error
  4  blocked by a check
  5  interrupted; can be resumed
  6  throttled by Azure

Results go to stdout, messages to stderr.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the state of the cluster: findings, pools, controller
    #[command(after_help = STATUS_HELP)]
    Status(StatusArguments),
    /// Explain an exit code, a cause, an error name or an error message
    #[command(after_help = crate::explain::EXPLAIN_EXAMPLES)]
    Explain(crate::explain::ExplainArguments),
    /// List, show and search exit codes
    Codes(crate::explain::codes::CodesArguments),
    /// Detect and rebuild wedged node pools
    Repair(crate::workflows::repair::RepairArguments),
    /// Remove the resources of an uninstalled operator
    Finalizers(crate::workflows::finalizers::FinalizersArguments),
    /// Show why nodes failed to join the cluster, in groups
    #[command(after_help = WHY_HELP)]
    Why(WhyArguments),
    /// Show bootstrap failures by node image and cause
    #[command(after_help = FLEET_HELP)]
    Fleet(FleetArguments),
    /// Check connection, permissions, sign-in and the controller
    #[command(after_help = crate::doctor::HELP)]
    Doctor(crate::doctor::DoctorArguments),
    /// Open the live page of the cluster in a browser
    #[command(after_help = crate::ui::HELP)]
    Ui(crate::ui::UiArguments),
    /// Run the controller that reports bootstrap failures on NodeClaims
    #[command(after_help = CONTROLLER_HELP)]
    Controller(ControllerArguments),
    /// Show a node's bootstrap as a timeline
    #[command(after_help = crate::evidence::trace::HELP)]
    Trace(crate::evidence::trace::TraceArguments),
    /// Collect node logs for a support case, with secrets redacted
    #[command(after_help = crate::evidence::bundle::HELP)]
    Bundle(crate::evidence::bundle::BundleArguments),
    /// Print the version and the build
    Version {
        /// Output format
        #[arg(short, long, value_parser = AnswerFormat::described(version::FORMATS), default_value = "table")]
        output: AnswerFormat,
    },
    /// Print the JSON Schema of a document, or list all
    Schema {
        /// ID, such as mooring.explain/v1
        id: Option<String>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell to print the script for
        shell: Shell,
    },
    /// Print names for completion scripts
    #[command(hide = true)]
    Complete {
        /// Kind of the names
        what: Names,
        /// Words of the line
        #[arg(last = true)]
        line: Vec<String>,
    },
    /// Print a manual page, or write all of them to a directory
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
}

const MAN_EXAMPLES: &str = "\
Examples:
  mooring man | man -l -
  mooring man repair-apply | man -l -
  mooring man --out share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Page of a command, such as repair or repair-apply [default: mooring]
    pub(crate) page: Option<String>,
    /// Directory to write the pages of all commands to
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) out: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_not_part_of_a_message() {
        let text = "unexpected argument\n\n  tip: a similar argument exists: '--output'\n\nUsage: mooring status\n\nFor more information, try '--help'.\n";
        let expected = "unexpected argument\nhint: a similar argument exists: '--output'";
        assert_eq!(usage_text(text), expected);
    }

    #[test]
    fn command_definition_is_valid() {
        Cli::command().debug_assert();
    }
}

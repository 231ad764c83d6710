//! Command line: the one source of parsing, help, completions and manual pages.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use mooring_codes::Date;

use crate::cluster_args::{
    CONTROLLER_HELP, ControllerArguments, FLEET_HELP, FleetArguments, STATUS_HELP, StatusArguments,
    WHY_HELP, WhyArguments,
};
use crate::failure::Failure;
use crate::output::{AnswerFormat, OutputArguments};
use crate::speed::parse_speed;
use crate::{error_document, schema, show, version};

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
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Returns the definition. Help of the plugin `kubectl-mooring` shows `kubectl mooring`.
fn command() -> clap::Command {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let command = Cli::command();
    match called.file_name() {
        Some(name) if name == "kubectl-mooring" => command.bin_name("kubectl mooring"),
        _ => command,
    }
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
        return Failure::usage(usage_text(text)).report();
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

const EXIT_CODES: &str = "\
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
    /// Show the state of the cluster until `q`, as `status --watch`
    #[command(after_help = STATUS_HELP)]
    Top(StatusArguments),
    /// Explain an exit code, a cause, an error name or an error message
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
    /// List, show and search exit codes
    Codes(CodesArguments),
    /// Detect and rebuild wedged node pools
    Repair(crate::repair::RepairArguments),
    /// Remove the resources of an uninstalled operator (finalizers, CRs, CRDs, Helm release)
    Finalizers(crate::finalizers::FinalizersArguments),
    /// Show why nodes failed to join the cluster, in groups
    #[command(after_help = WHY_HELP)]
    Why(WhyArguments),
    /// Show bootstrap failures by node image and cause
    #[command(after_help = FLEET_HELP)]
    Fleet(FleetArguments),
    /// Check what commands need: connection, permissions, sign-in, controller
    #[command(after_help = crate::doctor::HELP)]
    Doctor(crate::doctor::DoctorArguments),
    /// Open the live page of the cluster in a browser
    #[command(after_help = crate::ui::HELP)]
    Ui(crate::ui::UiArguments),
    /// Run the controller that reports bootstrap failures on NodeClaims
    #[command(after_help = CONTROLLER_HELP)]
    Controller(ControllerArguments),
    /// Run an end-to-end demo on this machine
    #[command(after_help = crate::demo::DEMO_HELP)]
    Demo(crate::demo::DemoArguments),
    /// Show a node's bootstrap as a timeline
    #[command(after_help = crate::trace::HELP)]
    Trace(crate::trace::TraceArguments),
    /// Collect node logs for a support case, with secrets redacted
    #[command(after_help = crate::bundle::HELP)]
    Bundle(crate::bundle::BundleArguments),
    /// Run a local simulator of the Azure and Kubernetes APIs
    #[command(after_help = SIM_EXAMPLES)]
    Sim(SimArguments),
    /// Print the version and the build
    Version {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = VersionFormat::Table)]
        output: VersionFormat,
    },
    /// Print the JSON Schema of a document, or list all
    Schema {
        /// ID, such as mooring.explain/v2
        id: Option<String>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell to print the script for
        shell: Shell,
    },
    /// Print a manual page, or write all of them to a directory
    #[command(after_help = MAN_EXAMPLES)]
    Man(ManArguments),
    /// Run the node agent
    #[command(hide = true, disable_help_flag = true)]
    Agent {
        /// Arguments of the agent
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
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

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  mooring explain 211
  mooring explain 0xD3 --image 202601.27.0
  mooring explain OrasBinaryMissing
  mooring explain ERR_ORAS_PULL_NETWORK_TIMEOUT
  mooring explain VMExtensionError_OutboundConnFail
  mooring explain provision.json
  az vm get-instance-view … | mooring explain
  mooring explain \"(SubnetIsFull) Subnet nodes … does not have enough capacity\"

Exits with 0 even if no cause was found, and with 2 if nothing has the name.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Exit code (decimal or 0x…), cause, error name, file, message, or - for stdin [default: -]
    #[arg(value_name = "CODE|NAME|FILE|TEXT|-", allow_negative_numbers = true)]
    pub(crate) what: Option<String>,
    /// Operating system of the node, if the input does not show it
    #[arg(long, value_enum)]
    pub(crate) os: Option<Os>,
    /// Node image version (202601.27.0) or date
    ///
    /// Some codes have changed their meaning over time.
    #[arg(long, value_name = "VERSION", value_parser = image_date)]
    pub(crate) image: Option<Date>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser(crate::explain::SCHEMAS))]
    pub(crate) schema: Option<String>,
}

const SIM_EXAMPLES: &str = "\
Examples:
  mooring sim --list
  mooring sim --show oras-missing > own.yaml
  mooring sim --scenario wedged-system-pool --state demo &
  until [ -e demo/env.sh ] && . demo/env.sh; do sleep 0.1; done
  mooring sim --scenario oras-missing --kube-port 0 --state demo &
  kubectl --kubeconfig demo/kubeconfig get nodes,nodeclaims

Prints `ready https://127.0.0.1:PORT` when the files are written and all ports
accept connections. Stop it with Ctrl-C or SIGTERM.

env.sh fails, and sets nothing, after its simulator has stopped. A directory is
used by one simulator at a time.

GET /admin/ on the same port lists the faults that can be injected:
  curl --cacert demo/ca.pem -H \"Authorization: Bearer $MOORING_SIM_TOKEN\" \\
    \"$AZURE_RESOURCE_MANAGER_ENDPOINT/admin/\"

Secrets are random for every run. Only env.sh and kubeconfig (mode 0600) have
them.";

#[derive(Debug, Args)]
pub(crate) struct SimArguments {
    /// List the built-in scenarios
    #[arg(long, conflicts_with = "show")]
    pub(crate) list: bool,
    /// Print the YAML of a built-in scenario, as a start for your own
    #[arg(long, value_name = "NAME")]
    pub(crate) show: Option<String>,
    /// Built-in scenario, or a YAML file (a path with a / or a .)
    #[arg(long, value_name = "NAME|FILE", default_value = "healthy")]
    pub(crate) scenario: String,
    /// Port to listen on; 0 picks a free port
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// Speed-up factor (60 = one minute per second)
    #[arg(long, default_value_t = 60.0, value_parser = parse_speed)]
    pub(crate) speed: f64,
    /// Port of the Kubernetes API; 0 picks a free port [default: not served]
    #[arg(long, value_name = "PORT")]
    pub(crate) kube_port: Option<u16>,
    /// Run the Karpenter simulator in the cluster
    #[arg(long)]
    pub(crate) karpenter: bool,
    /// Directory for ca.pem, env.sh and, with --kube-port, kubeconfig
    #[arg(long, value_name = "DIR", default_value = "mooring-sim")]
    pub(crate) state: PathBuf,
    /// Random seed, for reproducible runs
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct CodesArguments {
    #[command(subcommand)]
    pub(crate) command: CodesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CodesCommand {
    /// List the exit codes that nodes report
    List {
        /// Operating system of the node
        #[arg(long, value_enum)]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_enum)]
        owner: Option<Owner>,
        /// Include past, raw, proposed and image-build codes
        #[arg(long)]
        all: bool,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
    /// Show the pages of an exit code
    Show {
        /// Exit code (decimal or 0x…) or error name
        #[arg(value_name = "CODE|NAME", allow_negative_numbers = true)]
        what: String,
        /// Operating system of the node
        #[arg(long, value_enum)]
        os: Option<Os>,
        /// Node image version (202601.27.0) or date
        #[arg(long, value_name = "VERSION", value_parser = image_date)]
        image: Option<Date>,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
    /// Find exit codes and causes by words in their names and texts, also with typos
    #[command(after_help = SEARCH_EXAMPLES)]
    Search {
        /// Words; all are required
        #[arg(required = true)]
        words: Vec<String>,
        /// Operating system of the node
        #[arg(long, value_enum)]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_enum)]
        owner: Option<Owner>,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
        output: AnswerFormat,
    },
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  mooring codes search oras registry
  mooring codes search timeout --os windows
  mooring codes search OrasBinryMising";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Os {
    Linux,
    Windows,
}

impl From<Os> for mooring_codes::Os {
    fn from(os: Os) -> Self {
        match os {
            Os::Linux => Self::Linux,
            Os::Windows => Self::Windows,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Owner {
    Operator,
    Image,
    Platform,
    Network,
}

impl From<Owner> for mooring_codes::Owner {
    fn from(owner: Owner) -> Self {
        match owner {
            Owner::Operator => Self::Operator,
            Owner::Image => Self::Image,
            Owner::Platform => Self::Platform,
            Owner::Network => Self::Network,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum VersionFormat {
    /// One line
    Table,
    /// JSON; `mooring schema` prints its schema
    Json,
    /// YAML with the members of the JSON document
    Yaml,
}

fn image_date(text: &str) -> Result<Date, String> {
    mooring_codes::image_date(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_definition_is_valid() {
        Cli::command().debug_assert();
    }
}

//! One definition for parsing, help, completions and the manual page.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use mooring_codes::Date;

use crate::cluster_cli::{
    CONTROLLER_HELP, ControllerArguments, FLEET_HELP, FleetArguments, WHY_HELP, WhyArguments,
};
use crate::speed::speed;
use crate::version;

/// Says why a node did not join its AKS cluster.
#[derive(Debug, Parser)]
#[command(
    name = "mooring",
    version = version::SHORT,
    long_version = version::LONG,
    after_help = EXIT_CODES,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Reads the process' words. As a plugin (`kubectl-mooring`) it speaks of itself as people call it.
pub(crate) fn parse() -> Cli {
    let called = std::env::args_os().next().map(PathBuf::from).unwrap_or_default();
    let mut command = Cli::command();
    if called.file_name().is_some_and(|name| name == "kubectl-mooring") {
        command = command.bin_name("kubectl mooring");
    }
    let matches = command.get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

const EXIT_CODES: &str = "\
Exit codes:
  0  fine, or nothing to do
  1  a negative finding: a node failed, a pool is wedged
  2  the command line means nothing
  3  something could not be read, written, reached or listened on
  4  a guard refused
  5  interrupted, but resumable
  6  Azure is throttling

Data goes to standard output, everything else to standard error.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say why a node failed, from an exit code, a name, or any text about it
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArguments),
    /// Browse the exit-code catalogue
    Codes(CodesArguments),
    /// Prove that a node pool is wedged, and rebuild it so that a kill at any instant loses nothing
    Repair(crate::repair::RepairArguments),
    /// Remove what a retired operator left: stuck finalizers, custom resources, definitions, release, namespace
    Finalizers(crate::finalizers::FinalizersArguments),
    /// Say why a node did not join, from Azure, the cluster and the record
    #[command(after_help = WHY_HELP)]
    Why(WhyArguments),
    /// Show which node image fails with what
    #[command(after_help = FLEET_HELP)]
    Fleet(FleetArguments),
    /// Put the cause of a failed bootstrap on its NodeClaim, in events, metrics and a record
    #[command(after_help = CONTROLLER_HELP)]
    Controller(ControllerArguments),
    /// Watch the whole story: failing nodes, the cause, the fleet verdict, a pool that is rebuilt
    #[command(after_help = crate::demo::DEMO_HELP)]
    Demo(crate::demo::DemoArguments),
    /// Turn a node's report, event files and logs into one timeline
    #[command(after_help = crate::trace::HELP)]
    Trace(crate::trace::TraceArguments),
    /// Collect what support asks for, without secrets, in one archive
    #[command(after_help = crate::bundle::HELP)]
    Bundle(crate::bundle::BundleArguments),
    /// Serve a simulated Azure on loopback, over TLS
    #[command(after_help = SIM_EXAMPLES)]
    Sim(SimArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page (try `mooring man repair | man -l -`), or write all of them
    Man(ManArguments),
    /// Be the node agent
    #[command(hide = true, disable_help_flag = true)]
    Agent {
        /// What the agent is asked to do
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The page of a command, such as repair or repair-apply; else that of mooring itself
    pub(crate) page: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(crate) out: Option<PathBuf>,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  mooring explain 211
  mooring explain 0xD3 --image 202601.27.0
  mooring explain ERR_ORAS_PULL_NETWORK_TIMEOUT
  mooring explain VMExtensionError_OutboundConnFail
  mooring explain provision.json
  az vm get-instance-view … | mooring explain -

Exits with 0 whenever it answered, also when the answer is that nothing can be known.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// An exit code (decimal or 0x…), a name, a file, or - for standard input
    #[arg(value_name = "CODE|NAME|FILE|-", allow_negative_numbers = true)]
    pub(crate) what: String,
    /// The node's operating system, if the text does not show it
    #[arg(long, value_enum)]
    pub(crate) os: Option<Os>,
    /// The node image's version (202601.27.0) or date: some codes changed their meaning
    #[arg(long, value_name = "VERSION", value_parser = image_date)]
    pub(crate) image: Option<Date>,
    /// How to show the answer
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,
}

const SIM_EXAMPLES: &str = "\
Examples:
  mooring sim --scenario wedged-system-pool --state demo &
  . demo/env.sh
  mooring sim --scenario oras-missing --kube-port 0 --state demo &
  kubectl --kubeconfig demo/kubeconfig get nodes,nodeclaims

Prints `ready https://127.0.0.1:N` once the files are written and every port answers.
Built-in scenarios: healthy, oras-missing, wedged-system-pool, throttled, slow-boot,
young-operation, retired-operator (for `mooring finalizers`).
GET /admin/ on the same port lists what can be broken and looked at:
  curl --cacert demo/ca.pem -H \"Authorization: Bearer $MOORING_SIM_TOKEN\" \\
    \"$AZURE_RESOURCE_MANAGER_ENDPOINT/admin/\"

Every run has its own random secrets, which only env.sh and kubeconfig (0600) hold.";

#[derive(Debug, Args)]
pub(crate) struct SimArguments {
    /// A built-in scenario, or a YAML file
    #[arg(long, value_name = "NAME|FILE", default_value = "healthy")]
    pub(crate) scenario: String,
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) address: IpAddr,
    /// How much faster than in Azure things happen
    #[arg(long, default_value_t = 60.0, value_parser = speed)]
    pub(crate) speed: f64,
    /// Serve the cluster's own API, too, on this port; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub(crate) kube_port: Option<u16>,
    /// Let Karpenter run in the cluster
    #[arg(long)]
    pub(crate) karpenter: bool,
    /// The folder for ca.pem, env.sh and, with --kube-port, kubeconfig
    #[arg(long, value_name = "DIR", default_value = "mooring-sim")]
    pub(crate) state: PathBuf,
    /// What chance is drawn from: the same seed gives the same run
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
    /// List the codes that a node can report today
    List {
        /// Only those of this operating system
        #[arg(long, value_enum)]
        os: Option<Os>,
        /// All that is known: past, raw, proposed and image-build codes, too
        #[arg(long)]
        all: bool,
        /// How to show them
        #[arg(short, long, value_enum, default_value_t = ListFormat::Table)]
        output: ListFormat,
    },
    /// Show the pages of a code
    Show {
        /// An exit code (decimal or 0x…) or a name
        #[arg(value_name = "CODE|NAME", allow_negative_numbers = true)]
        what: String,
        /// Only those of this operating system
        #[arg(long, value_enum)]
        os: Option<Os>,
        /// The node image's version (202601.27.0) or date
        #[arg(long, value_name = "VERSION", value_parser = image_date)]
        image: Option<Date>,
    },
}

/// An operating system.
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

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    Table,
    /// mooring.explain/v1
    Json,
    /// For an issue or a chat
    Markdown,
}

/// How a list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For a terminal
    Table,
    /// mooring.codes/v1
    Json,
}

fn image_date(text: &str) -> Result<Date, String> {
    mooring_codes::image_date(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_stands_behind_a_help_fits_the_width_that_help_is_wrapped_at() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}

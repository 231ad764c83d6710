//! Command line: the one source of parsing, help, completions and manual pages; runs the commands.

mod completions;
mod man;
mod names;
pub(crate) mod parser;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use self::parser::{Command, EarlyFlags};
use crate::about::{schema, version};
use crate::answers::{self, ReadArguments, StatusArguments};
use crate::arguments::{AzureMode, ClusterArguments, KubeArguments, SourceArguments};
use crate::evidence::{bundle, trace};
use crate::explain::codes;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, show};
use crate::workflows::{finalizers, repair};
use crate::{controller, doctor, explain, ui};

/// Time limit of `mooring` without a command.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Shows the state of the cluster on a terminal with a context, else the help.
pub(crate) fn run_without_command(flags: EarlyFlags) -> ExitCode {
    let EarlyFlags { kubeconfig, context, namespace } = flags;
    let has_context = || !mooring_k8s::kubeconfig::contexts(kubeconfig.as_deref()).is_empty();
    if !std::io::stdout().is_terminal() || !has_context() {
        return parser::print_help();
    }
    let kube = KubeArguments { kubeconfig, context, namespace };
    let cluster = ClusterArguments { kube, ..ClusterArguments::default() };
    let sources = SourceArguments { cluster, azure: AzureMode::Auto, timeout: START_TIMEOUT };
    let read = ReadArguments::all(sources);
    let arguments = StatusArguments { read, watch: false, output: AnswerFormat::Table };
    end(answers::status(&arguments))
}

/// Ends a command that answers. If the reader has closed the pipe, the exit code is 0.
fn end(answered: Result<ExitCode, CommandFailure>) -> ExitCode {
    match answered {
        Ok(_) if show::is_closed() => ExitCode::SUCCESS,
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

pub(crate) fn run(command: Command) -> ExitCode {
    let done = match command {
        Command::Codes(arguments) => codes::codes(&arguments),
        Command::Controller(arguments) => controller::controller(&arguments),
        Command::Ui(arguments) => ui::ui(arguments),
        Command::Version { output } => version::version(output),
        Command::Schema { id } => schema::schema(id.as_deref()),
        Command::Completions { shell } => completions::completions(shell),
        Command::Complete { what, line } => names::complete(what, &line),
        Command::Man(arguments) => man::manual(&arguments),
        // These return an exit code.
        Command::Repair(arguments) => return repair::repair(&arguments),
        Command::Finalizers(arguments) => return finalizers::finalizers(&arguments),
        Command::Status(arguments) => return end(answers::status(&arguments)),
        Command::Fleet(arguments) => return end(answers::fleet(&arguments)),
        Command::Doctor(arguments) => return end(doctor::doctor(arguments)),
        Command::Why(arguments) => return end(answers::why(&arguments)),
        Command::Explain(arguments) => return end(explain::explain(&arguments)),
        Command::Bundle(arguments) => return end(bundle::bundle(&arguments)),
        Command::Trace(arguments) => return end(trace::trace(&arguments)),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

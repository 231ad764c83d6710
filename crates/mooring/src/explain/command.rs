//! The command: it reads the subject, and the cluster if there is one.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use mooring_diagnosis::Hints;

use super::arguments::ExplainArguments;
use super::occurrences::{self, Occurrences};
use super::show::print;
use super::subject::{explain_argument, explain_text};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::output::show;

/// Exits with 3 if the cluster was asked and could not be read.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<ExitCode, CommandFailure> {
    let hints = Hints {
        os: arguments.os,
        image_date: arguments.image,
        catalog: mooring_catalog::rows(),
        ..Hints::default()
    };
    let explanation = match arguments.what.as_deref() {
        None | Some("-") => {
            let stdin = io::stdin();
            if stdin.is_terminal() {
                show::print_note(
                    "Reading from the terminal: paste a message, then press Ctrl-D on an empty line.",
                );
            }
            explain_text(&mut stdin.lock(), "stdin", None, arguments.output, hints)?
        }
        Some(what) => explain_argument(what, arguments.output, hints)?,
    };
    match explanation {
        Some(mut explanation) => {
            // Names have no place for facts of a cluster.
            let shows_cluster = arguments.output != AnswerFormat::Name;
            if let (Some(cause), true) = (explanation.causes.first(), shows_cluster) {
                explanation.occurrences = occurrences::read(&arguments.kube, cause.reason)?;
            }
            print(&explanation, arguments)?;
            let occurrences = explanation.occurrences.as_ref();
            Ok(ExitCode::from(occurrences.map_or(0, Occurrences::exit_code)))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

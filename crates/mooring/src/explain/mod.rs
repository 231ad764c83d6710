//! `mooring explain`: arguments, and the facts that answer.

pub(crate) mod codes;
mod command;
mod document;
mod occurrences;
mod pages;
mod subject;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use mooring_codes::{Date, KnownImage, Os};
use mooring_diagnosis::{CausePage, Diagnosis, Recognized};

pub(crate) use self::command::explain;
use self::occurrences::Occurrences;
use crate::arguments::KubeArguments;
use crate::output::AnswerFormat;

pub(crate) const EXPLAIN_EXAMPLES: &str = "\
The page of a cause ends with its failures in the cluster of the kubeconfig, if
there is a context and the cluster responds within 2s. Azure is read only for
nodes without a diagnosis.

Examples:
  mooring explain 211
  mooring explain 0xD3 --image 202601.27.0
  mooring explain OrasBinaryMissing
  mooring explain ERR_ORAS_PULL_NETWORK_TIMEOUT
  mooring explain VMExtensionError_OutboundConnFail
  mooring explain provision.json
  az vm get-instance-view … | mooring explain
  mooring explain \"(SubnetIsFull) Subnet nodes … does not have enough capacity\"

Exits with 0 even if no cause was found, with 2 if nothing has the name, and
with 3 if the cluster was asked and a source could not be read.";

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Exit code (decimal or 0x…), cause, error name, file, message, or - for stdin [default: -]
    #[arg(value_name = "CODE|NAME|FILE|TEXT|-", allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub(crate) what: Option<String>,
    /// Operating system of the node, if the input does not show it
    #[arg(long, value_parser = value_by_name(Os::ALL, Os::as_str))]
    pub(crate) os: Option<Os>,
    /// Node image version (202601.27.0) or date
    ///
    /// Some codes have changed their meaning over time.
    #[arg(long, value_name = "VERSION", value_parser = image_date)]
    pub(crate) image: Option<Date>,
    #[command(flatten)]
    pub(crate) kube: KubeArguments,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

/// Returns a parser of values by their names.
fn value_by_name<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let find = move |text: String| all.iter().copied().find(|one| name(*one) == text);
    let names = PossibleValuesParser::new(all.iter().map(|one| name(*one)));
    names.try_map(move |text| find(text).ok_or("unknown"))
}

fn image_date(text: &str) -> Result<Date, String> {
    mooring_codes::image_date(text).map_err(|error| error.to_string())
}

/// Facts that answer a question.
#[derive(Debug, Default)]
struct Explanation {
    diagnoses: Vec<Diagnosis>,
    /// Causes that were asked for by name.
    causes: Vec<CausePage>,
    /// Exit codes that were asked for by number or name.
    codes: Vec<&'static mooring_codes::ExitCode>,
    known_image: Option<&'static KnownImage>,
    recognized: Recognized,
    /// File that was read.
    file: Option<String>,
    /// Failures of the cause in the cluster; none without a context.
    occurrences: Option<Occurrences>,
}

//! Arguments of `mooring explain` and `mooring codes`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueHint};
use mooring_codes::{Date, Os, Owner};

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
    #[arg(long, value_parser = by_name(Os::ALL, Os::as_str))]
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
        #[arg(long, value_parser = by_name(Os::ALL, Os::as_str))]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_parser = by_name(Owner::ALL, Owner::as_str))]
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
        #[arg(long, value_parser = by_name(Os::ALL, Os::as_str))]
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
        #[arg(long, value_parser = by_name(Os::ALL, Os::as_str))]
        os: Option<Os>,
        /// Owner of the next step
        #[arg(long, value_parser = by_name(Owner::ALL, Owner::as_str))]
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

/// Returns a parser of values by their names.
fn by_name<T: Copy + Send + Sync + 'static>(
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

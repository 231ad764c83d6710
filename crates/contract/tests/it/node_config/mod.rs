//! The parser of node configs.

mod documents;
mod golden;
mod hostile;
mod rejected;
mod round_trip;
mod secrets;
mod validation;

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{ParseError, Parsed, parse};

fn accepted(document: &str) -> Parsed {
    parse(document.as_bytes()).unwrap_or_else(|error| panic!("{document}: {error}"))
}

fn config(document: &str) -> NodeConfig {
    accepted(document).config
}

fn refused(document: &str) -> ParseError {
    match parse(document.as_bytes()) {
        Ok(_) => panic!("accepted: {document}"),
        Err(error) => error,
    }
}

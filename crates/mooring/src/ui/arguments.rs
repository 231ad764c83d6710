//! Arguments of `mooring ui`.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use clap::Args;

use crate::arguments::SourceArguments;

pub(crate) const HELP: &str = "\
Shows findings, failures over time, images and causes, nodes that are joining,
pools and the controller, and follows the cluster without a reload. The page is
served on the loopback interface. The key in its address works once, for the
browser that opens it first. It changes nothing.

Examples:
  mooring ui
  mooring ui --context prod-weu-admin
  mooring ui --local --no-browser --port 8090

Ctrl-C ends it.";

#[derive(Debug, Args)]
pub(crate) struct UiArguments {
    #[command(flatten)]
    pub(super) sources: SourceArguments,
    /// Port of the page on the loopback interface [default: a free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(super) port: u16,
    /// Read the cluster with your own permissions, even if a controller runs
    #[arg(long)]
    pub(super) local: bool,
    /// Do not open a browser
    #[arg(long)]
    pub(super) no_browser: bool,
}

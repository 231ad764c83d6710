//! `mooring bundle`: collects the files of a node, and writes the archive.

mod allowlist;
pub(crate) mod archive;
mod directory;
pub(crate) mod node;
mod redact;
mod root;
mod screen;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use mooring_redact::identifier;

use self::root::Root;
use super::path::{ensure_node, is_path};
use crate::arguments::{SourceArguments, without_kind};
use crate::output::failure::CommandFailure;
use crate::output::{self, AnswerFormat, outfile, published, show};

pub(crate) const HELP: &str = "\
With a directory (the root of a node: `/` on the node, or the mount point of its
disk), collects the bootstrap report, event files, logs and versions from a
fixed list of paths. Other files are never opened.

With a name, collects what the cluster and Azure have of the node: NodeClaim,
NodePool, AKSNodeClass and Node with events; VM with extensions, agent pool,
activity log and serial console log; failure record, `why`, `fleet`, `trace`,
`doctor` and the last lines of the controller's log. With --run-command also the
bootstrap report and event files on the VM, about 30 s for each 4 KB.
A file that cannot be read is left out, with the reason. A deleted node is
collected from the failure record.

Secrets are redacted in two passes: the secrets of the node config and the NBC
command, in any encoding; then text that looks like a secret or is labeled as
one (password=, Authorization:, user@ in a URL). Secrets that match neither may
remain: review the archive before you share it.

manifest.json in the archive lists its files, redactions, truncated files and
skipped files with the reason. The node config itself is never collected; if it
cannot be parsed, manifest.json reports that its secrets were only redacted by
pattern.

The same files give the same archive, byte for byte. Its mode is 0600.

Examples:
  mooring bundle /
  mooring bundle /mnt/broken-node --out case-4711.tar.gz
  mooring bundle default-2jf98
  mooring bundle default-2jf98 --run-command
  mooring bundle system/3 -o json
  mooring trace mooring-bundle-default-2jf98.tar.gz

Exits with 2 if nothing has the name, and with 3 if nothing was read, or if a
source that was asked could not be read: then the archive lacks its files.";

const FORMATS: [&str; 4] = [
    "Contents of the archive, and what is left out",
    "Every file of the archive, and all that is left out",
    "JSON, schema mooring.bundle/v1",
    "Path of the archive",
];

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// Root directory of a node, or name of a NodeClaim, node, VM or pool instance
    #[arg(value_name = "NODE|DIR", value_hint = ValueHint::DirPath)]
    pub(crate) what: String,
    /// Archive to write; - for stdout [default: mooring-bundle-NAME.tar.gz]
    #[arg(long, value_name = "FILE.tar.gz")]
    pub(crate) out: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
    /// Read report and events from the VM of NODE with Run Command (needs write permission)
    #[arg(long)]
    pub(crate) run_command: bool,
    #[command(flatten)]
    pub(crate) node: SourceArguments,
}

/// Exits with 3 if a source that was asked could not be read; the archive lists what it lacks.
pub(crate) fn bundle(arguments: &BundleArguments) -> Result<ExitCode, CommandFailure> {
    let directory = Path::new(&arguments.what);
    let contents = if directory.is_dir() || is_path(&arguments.what) {
        ensure_node(arguments.run_command, &arguments.what)?;
        let root = Root::open(directory).map_err(|error| {
            CommandFailure::io(format!("cannot read `{}`: {error}", identifier(&arguments.what)))
        })?;
        directory::collect(&root)
    } else {
        node::collect(without_kind(&arguments.what), &arguments.node, arguments.run_command)?
    };
    if contents.entries.is_empty() {
        return Err(CommandFailure::io(format!(
            "no node files found in `{}`\nhint: pass the root of the node, the directory that contains var/log/azure",
            identifier(&arguments.what)
        )));
    }
    let archive = contents.pack()?;
    let path = arguments.out.clone().unwrap_or_else(|| default_name(&arguments.what));
    if path.as_os_str() == "-" {
        show::print_raw(&archive)?;
        let screen = screen::screen("archive", archive.len(), &contents, false);
        show::print_note(screen.render(&output::message_style()).trim_end());
    } else {
        outfile::write(&path, &archive)?;
        let path = path.display().to_string();
        let screen = |is_wide| screen::screen(&path, archive.len(), &contents, is_wide);
        let document = || contents.manifest(Some((&path, &archive)));
        show::print_answer(arguments.output, screen, None, document, [path.as_str()])?;
    }
    Ok(ExitCode::from(published::exit_code(&contents.sources)))
}

fn default_name(what: &str) -> PathBuf {
    let name = without_kind(what).trim_matches('/');
    // The last part of a directory; both parts of POOL/INSTANCE.
    let name =
        if Path::new(what).is_dir() { name.rsplit('/').next().unwrap_or(name) } else { name };
    PathBuf::from(format!("mooring-bundle-{}.tar.gz", node::file_name(name)))
}

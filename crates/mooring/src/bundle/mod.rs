//! `mooring bundle`.

mod allowlist;
mod archive;
mod node;
mod redact;
mod root;

use std::path::{Path, PathBuf};

use clap::Args;
use mooring_agent::secrets;
use mooring_contract::node_config;
use mooring_redact::{Redactor, identifier};

use crate::cluster_args::ClusterArguments;
use crate::failure::Failure;
use crate::{outfile, show};
use allowlist::{ALLOWED, EXCLUDED, NBC_COMMAND, NODE_CONFIG};
use archive::{Contents, Entry};
use redact::redact;
use root::{Read, ReadError, Root};

pub(crate) const HELP: &str = "\
With a directory (the root of a node: `/` on the node, or the mount point of its
disk), collects the bootstrap report, event files, logs and versions from a
fixed list of paths. Other files are never opened.

With a name, collects the results of Azure and the failure record for the node,
as `mooring why` reads them.

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
  mooring bundle aks-default-2jf98
  mooring trace case-4711.tar.gz";

/// Bytes read of a file.
const MAX_READ: u64 = 64 << 20;
/// Bytes kept of a file.
const MAX_KEPT: usize = 4 << 20;
/// Bytes of an unpacked bundle; the limit of attachments to support cases.
const MAX_TOTAL: usize = 64 << 20;
/// Directory entries read per pattern.
const MAX_MATCHES: usize = 5000;
/// Bytes dropped at the start of a file that was not read from its start: a secret may be cut in half there.
const MARGIN: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// Root directory of a node, or name of a node, VM or NodeClaim
    #[arg(value_name = "NODE|DIR")]
    pub(crate) what: String,
    /// Archive to write; - for stdout [default: mooring-bundle-NAME.tar.gz]
    #[arg(long, value_name = "FILE.tar.gz")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
}

pub(crate) fn bundle(arguments: &BundleArguments) -> Result<(), Failure> {
    let directory = Path::new(&arguments.what);
    let contents = if directory.is_dir() {
        let root = Root::open(directory).map_err(|error| {
            Failure::io(format!("cannot read `{}`: {error}", identifier(&arguments.what)))
        })?;
        collect(&root)
    } else {
        node::collect(&arguments.what, &arguments.cluster)?
    };
    if contents.entries.is_empty() {
        return Err(Failure::io(format!(
            "no node files found in `{}`\nhint: pass the root of the node, the directory that contains var/log/azure",
            identifier(&arguments.what)
        )));
    }
    let archive = contents.pack()?;
    let path = arguments.out.clone().unwrap_or_else(|| default_name(&arguments.what));
    if path.as_os_str() == "-" {
        show::print_raw(&archive)?;
    } else {
        outfile::write(&path, &archive)?;
        show::print(format!("{}\n", path.display()).as_bytes())?;
    }
    show::print_note(&format!(
        "{} files, {} secrets redacted, {} files skipped (details: manifest.json)",
        contents.entries.len(),
        contents.redactions(),
        contents.skipped.len()
    ));
    Ok(())
}

fn default_name(what: &str) -> PathBuf {
    let last = what.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    PathBuf::from(format!("mooring-bundle-{}.tar.gz", node::file_name(last)))
}

/// Collects the allowed files below a node's root.
fn collect(root: &Root) -> Contents {
    let mut contents = Contents::default();
    let redactor = redactor(root, &mut contents);
    let mut free = MAX_TOTAL;
    for allowed in ALLOWED {
        let paths = match root.matching(allowed.path, MAX_MATCHES) {
            Ok(paths) => paths,
            Err(ReadError::Missing) => continue,
            Err(ReadError::Skipped(why)) => {
                contents.skipped.push((allowed.path.to_owned(), why));
                continue;
            }
        };
        for path in paths {
            match root.read(&path, MAX_READ) {
                Ok(read) => match entry(&redactor, &path, allowed.why, &read, free) {
                    Ok(entry) => {
                        free -= entry.bytes.len();
                        contents.entries.push(entry);
                    }
                    Err(why) => contents.skipped.push((path, why.to_owned())),
                },
                Err(ReadError::Missing) => {}
                Err(ReadError::Skipped(why)) => contents.skipped.push((path, why)),
            }
        }
    }
    for (path, why) in EXCLUDED {
        contents.skipped.push(((*path).to_owned(), (*why).to_owned()));
    }
    contents
}

/// A redactor for the secrets that custom data left on the node.
fn redactor(root: &Root, contents: &mut Contents) -> Redactor {
    let mut read = |path: &str| match root.read(path, MAX_READ) {
        Ok(read) => read.bytes,
        Err(ReadError::Missing) => Vec::new(),
        Err(ReadError::Skipped(why)) => {
            // Its secrets are then only redacted by pattern.
            contents.skipped.push((path.to_owned(), format!("cannot read its secrets: {why}")));
            Vec::new()
        }
    };
    let (config, command) = (read(NODE_CONFIG), read(NBC_COMMAND));
    if !config.is_empty()
        && let Err(error) = node_config::parse(&config)
    {
        let why = format!(
            "not a valid node config ({}): secrets were only redacted by pattern, and some may remain",
            error.position
        );
        contents.skipped.push((NODE_CONFIG.to_owned(), why));
    }
    Redactor::new([secrets::in_config(&config), secrets::in_nbc_command(&command)].concat())
}

fn entry(
    redactor: &Redactor,
    path: &str,
    why: &str,
    read: &Read,
    free: usize,
) -> Result<Entry, &'static str> {
    if read.bytes.contains(&0) {
        return Err("not a text file");
    }
    let redacted = redact(redactor, &read.bytes);
    let was_cut = read.size > read.bytes.len() as u64;
    let whole = redacted.bytes.len();
    let bytes = tail(redacted.bytes, was_cut);
    if bytes.len() > free {
        return Err("the size limit of the bundle is reached");
    }
    Ok(Entry {
        path: path.to_owned(),
        why: why.to_owned(),
        original_bytes: read.size,
        is_truncated: bytes.len() < whole,
        redactions: redacted.redactions,
        bytes,
    })
}

/// Returns the end of a text, from the start of a line.
fn tail(mut bytes: Vec<u8>, was_cut: bool) -> Vec<u8> {
    let margin = if was_cut { MARGIN } else { 0 };
    let from = bytes.len().saturating_sub(MAX_KEPT).max(margin.min(bytes.len()));
    if from > 0 {
        let line =
            bytes[from..].iter().position(|&byte| byte == b'\n').map_or(from, |at| from + at + 1);
        bytes.drain(..line);
    }
    bytes
}

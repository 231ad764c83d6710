//! `mooring bundle`: what support asks for, without secrets, in one archive.

mod allow;
mod archive;
mod clean;
mod node;
mod root;

use std::path::{Path, PathBuf};

use clap::Args;
use mooring_agent::secrets;
use mooring_contract::node_config;
use mooring_redact::{Redactor, identifier};

use crate::cluster_cli::ClusterArguments;
use crate::failure::Failure;
use crate::trace::say;
use crate::{outfile, show};
use allow::{ALLOWED, NBC_COMMAND, NEVER, NODE_CONFIG};
use archive::{Contents, Entry};
use clean::clean;
use root::{Read, Refusal, Root};

pub(crate) const HELP: &str = "\
With a folder, the files of a list (report, event files, logs, versions) are taken from the node's
root: `/` on the node itself, or wherever its disk is mounted. Whatever is not on the list is
never opened. With a name, what Azure and the record show of the node is taken, as `mooring why`
reads it.

Every text is masked twice: the secrets of the node config and of a ready command, in any encoding,
then whatever looks like one or stands where one is announced (password=, Authorization:, user@ in
an address). What only its owner would recognise may be left: look before you share. The node config
itself is not taken; where it cannot be read as one, its secrets are known by likeness only, and
manifest.json says so. manifest.json says, too, what is in the archive, what was masked or cut, and
what was left out and why. The same node gives the same bytes; only its owner may read the file.

Examples:
  mooring bundle /
  mooring bundle /mnt/broken-node --out case-4711.tar.gz
  mooring bundle aks-default-2jf98
  mooring trace case-4711.tar.gz";

/// The most that is read of a file, and the most that is kept of it.
const MOST_READ: u64 = 64 << 20;
const MOST_KEPT: usize = 4 << 20;
/// The most that a bundle holds, unpacked: what a support case takes as an attachment.
const MOST_IN_ALL: usize = 64 << 20;
/// How many files one pattern may fit, and how many names are looked at for them.
const MOST_MATCHES: usize = 5000;
/// Cut at the front, so that no half of a secret stands there.
const MARGIN: usize = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    /// A node's root folder, or the name of a node, VM or NodeClaim
    #[arg(value_name = "NODE|DIR")]
    pub(crate) what: String,
    /// The archive to write; - for standard output [default: mooring-bundle-NAME.tar.gz]
    #[arg(long, value_name = "FILE.tar.gz")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
}

/// Runs the command.
pub(crate) fn bundle(arguments: &BundleArguments) -> Result<(), Failure> {
    let folder = Path::new(&arguments.what);
    let contents = if folder.is_dir() {
        let root = Root::open(folder).map_err(|error| {
            Failure::unreadable(format!("cannot read `{}`: {error}", identifier(&arguments.what)))
        })?;
        collect(&root)
    } else {
        node::collect(&arguments.what, &arguments.cluster)?
    };
    if contents.entries.is_empty() {
        return Err(Failure::unreadable(format!(
            "there is no file of a node in `{}`\nhint: name the node's root, the folder that has var/log/azure in it",
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
    say(&format!(
        "{} files, {} secrets masked, {} left out; manifest.json in the archive says which",
        contents.entries.len(),
        contents.redactions(),
        contents.left_out.len()
    ));
    Ok(())
}

fn default_name(what: &str) -> PathBuf {
    let last = what.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    PathBuf::from(format!("mooring-bundle-{}.tar.gz", node::file_name(last)))
}

/// What is on the list, below a node's root.
fn collect(root: &Root) -> Contents {
    let mut contents = Contents::default();
    let redactor = redactor(root, &mut contents);
    let mut free = MOST_IN_ALL;
    for allowed in ALLOWED {
        let paths = match root.matching(allowed.path, MOST_MATCHES) {
            Ok(paths) => paths,
            Err(Refusal::Missing) => continue,
            Err(Refusal::Because(why)) => {
                contents.left_out.push((allowed.path.to_owned(), why));
                continue;
            }
        };
        for path in paths {
            match root.read(&path, MOST_READ) {
                Ok(read) => match entry(&redactor, &path, allowed.why, &read, free) {
                    Ok(entry) => {
                        free -= entry.bytes.len();
                        contents.entries.push(entry);
                    }
                    Err(why) => contents.left_out.push((path, why.to_owned())),
                },
                Err(Refusal::Missing) => {}
                Err(Refusal::Because(why)) => contents.left_out.push((path, why)),
            }
        }
    }
    for (path, why) in NEVER {
        contents.left_out.push(((*path).to_owned(), (*why).to_owned()));
    }
    contents
}

/// A redactor for the secrets that custom data left on the node.
fn redactor(root: &Root, contents: &mut Contents) -> Redactor {
    let mut read = |path: &str| match root.read(path, MOST_READ) {
        Ok(read) => read.bytes,
        Err(Refusal::Missing) => Vec::new(),
        Err(Refusal::Because(why)) => {
            // Secrets that cannot be known can only be guessed by their looks: whoever reads the bundle must know.
            contents
                .left_out
                .push((path.to_owned(), format!("its secrets could not be read: {why}")));
            Vec::new()
        }
    };
    let (config, command) = (read(NODE_CONFIG), read(NBC_COMMAND));
    if !config.is_empty()
        && let Err(error) = node_config::parse(&config)
    {
        let why = format!(
            "cannot be read as a node config ({}): its secrets were masked by likeness, and some may be left",
            error.position
        );
        contents.left_out.push((NODE_CONFIG.to_owned(), why));
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
        return Err("not a text");
    }
    let cleaned = clean(redactor, &read.bytes);
    let was_cut = read.size > read.bytes.len() as u64;
    let whole = cleaned.bytes.len();
    let bytes = end_of(cleaned.bytes, was_cut);
    if bytes.len() > free {
        return Err("the bundle is full");
    }
    Ok(Entry {
        path: path.to_owned(),
        why: why.to_owned(),
        original: read.size,
        is_cut: bytes.len() < whole,
        redactions: cleaned.redactions,
        bytes,
    })
}

/// The end of a text, from the beginning of a line on. Of a file that was read from its middle on, the beginning goes,
/// since half of a secret may stand there that nobody recognises.
fn end_of(mut bytes: Vec<u8>, was_cut: bool) -> Vec<u8> {
    let margin = if was_cut { MARGIN } else { 0 };
    let from = bytes.len().saturating_sub(MOST_KEPT).max(margin.min(bytes.len()));
    if from > 0 {
        let line =
            bytes[from..].iter().position(|&byte| byte == b'\n').map_or(from, |at| from + at + 1);
        bytes.drain(..line);
    }
    bytes
}

//! The command: it collects files, and writes the archive.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mooring_redact::identifier;
use mooring_workflow::published::is_partial;

use super::archive::Contents;
use super::arguments::BundleArguments;
use super::root::Root;
use super::{directory, node, screen};
use crate::arguments::without_kind;
use crate::evidence::path::{ensure_node, is_path};
use crate::output::failure::CommandFailure;
use crate::output::outfile;
use crate::output::show;
use crate::output::{self, AnswerFormat, print_document, print_markdown, print_screen};

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
        print(arguments.output, &path.display().to_string(), &archive, &contents)?;
    }
    Ok(ExitCode::from(if is_partial(&contents.sources) { 3 } else { 0 }))
}

fn print(
    format: AnswerFormat,
    path: &str,
    archive: &[u8],
    contents: &Contents,
) -> Result<(), CommandFailure> {
    let screen = |is_wide| screen::screen(path, archive.len(), contents, is_wide);
    match format {
        AnswerFormat::Table => print_screen(&screen(false)),
        AnswerFormat::Wide => print_screen(&screen(true)),
        AnswerFormat::Markdown => print_markdown(&screen(false)),
        AnswerFormat::Name => show::print(format!("{path}\n").as_bytes()),
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let document = contents.manifest(Some((path, archive)));
            print_document(&document, format == AnswerFormat::Yaml)
        }
    }
}

fn default_name(what: &str) -> PathBuf {
    let name = without_kind(what).trim_matches('/');
    // The last part of a directory; both parts of POOL/INSTANCE.
    let name =
        if Path::new(what).is_dir() { name.rsplit('/').next().unwrap_or(name) } else { name };
    PathBuf::from(format!("mooring-bundle-{}.tar.gz", node::file_name(name)))
}

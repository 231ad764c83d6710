//! Files on the node itself, read with Run Command.
//!
//! Azure returns the last 4,096 bytes that a script prints. Each script prints length and checksum of all files, compressed, and one
//! part of them; files that change between two parts are an error.

use std::io::Read as _;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::GzDecoder;
use jiff::Timestamp;
use mooring_arm::ResourceId;
use mooring_controller::query::{NodeShell, QueryError};

use super::super::allowlist::ALLOWED;
use super::super::archive::{Contents, FileOrigin};
use super::files::{FileContent, FileInfo};
use super::source::{Azure, Sources};
use super::subject::BundledNode;
use crate::output::show;

pub(super) const DIRECTORY: &str = "var/log/azure";
pub(super) const LABEL: &str = "files of the node";
/// Bytes of a part; the first line needs the rest.
const PART: usize = 4000;
const MAX_PARTS: usize = 16;
const MAX_UNPACKED: u64 = 4 << 20;
/// A part takes about half a minute.
const LIMIT: Duration = Duration::from_mins(20);

/// Adds report and events of the node. Files that cannot be read are left out, with the reason.
pub(super) async fn add(sources: &Sources<'_>, subject: &BundledNode, contents: &mut Contents) {
    let read = match subject.find_vm(sources) {
        Ok((azure, id)) => read(azure, id, &subject.node).await,
        Err(why) => Err(why),
    };
    match read {
        Ok(files) => {
            for (name, text) in files {
                let path = subject.path(&format!("{DIRECTORY}/{name}"));
                let Some(why) = reason(&name) else { continue };
                let info = FileInfo(FileOrigin::Node, "", why);
                contents.add(info, &path, Ok(FileContent::Text(text)));
            }
        }
        Err(why) => contents.skip_as(&subject.path(DIRECTORY), LABEL, why),
    }
}

/// Returns why a bundle has a file; none for a file that it may not have.
fn reason(name: &str) -> Option<&'static str> {
    let path = format!("{DIRECTORY}/{name}");
    let is = |pattern: &str| match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|part| !part.is_empty() && !part.contains('/') && !part.starts_with('.')),
    };
    ALLOWED.iter().find(|(pattern, _)| is(pattern)).map(|(_, why)| *why)
}

async fn read(azure: &Azure, vm: &ResourceId, node: &str) -> Result<Vec<(String, String)>, String> {
    let arm = azure.arm.within(LIMIT);
    let shell = NodeShell { arm: &arm, vm, node, progress: show::print_note };
    let failed = |error: QueryError| match error {
        QueryError::Azure(error) => azure.reason(&error),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    };
    shell.check_agent().await.map_err(failed)?;
    let mut parts = Parts::default();
    while let Some(part) = parts.next() {
        let of = parts.count().map_or_else(String::new, |count| format!(" of {count}"));
        show::print_note(&format!(
            "reading files of {node} with Run Command, part {}{of}; each takes about 30s",
            part + 1
        ));
        let script = script(part * PART);
        let lines: Vec<&str> = script.iter().map(String::as_str).collect();
        let printed = shell.run(&lines, Timestamp::now()).await.map_err(failed)?;
        parts.add(&printed)?;
    }
    unpack(&parts.text)
}

/// Returns a script that prints the length and the checksum of all files, and their part from this byte.
fn script(from: usize) -> [String; 7] {
    [
        format!("d=/{DIRECTORY}"),
        "print() { for f in $d/aks/provision.json $d/aks/provision.json.previous $d/Microsoft.Azure.Extensions.CustomScript/events/*.json; do".to_owned(),
        "[ -r \"$f\" ] || continue".to_owned(),
        "echo \"$(wc -c < \"$f\") ${f#$d/}\"; cat \"$f\"; echo; done; }".to_owned(),
        "a=$(print | gzip -9n | base64 -w 0)".to_owned(),
        "echo \"${#a} $(printf %s \"$a\" | cksum | tr ' ' -)\"".to_owned(),
        format!("printf %s \"$a\" | tail -c +{} | head -c {PART}", from + 1),
    ]
}

/// The parts that were read.
#[derive(Debug, Default)]
struct Parts {
    /// Length and checksum of all files.
    head: Option<(usize, String)>,
    text: String,
}

impl Parts {
    /// Returns the number of the next part; none if all were read.
    fn next(&self) -> Option<usize> {
        match &self.head {
            None => Some(0),
            Some((length, _)) => (self.text.len() < *length).then_some(self.text.len() / PART),
        }
    }

    fn count(&self) -> Option<usize> {
        self.head.as_ref().map(|(length, _)| length.div_ceil(PART))
    }

    fn add(&mut self, printed: &str) -> Result<(), String> {
        let invalid = || "the node printed something else".to_owned();
        let (head, part) = printed.split_once('\n').ok_or_else(invalid)?;
        let (length, checksum) = head.split_once(' ').ok_or_else(invalid)?;
        let length: usize = length.parse().map_err(|_| invalid())?;
        if length > PART * MAX_PARTS {
            let limit = PART * MAX_PARTS / 1000;
            return Err(format!(
                "they have {} KB, more than {limit} KB, compressed",
                length / 1000
            ));
        }
        let head = (length, checksum.to_owned());
        if self.head.get_or_insert_with(|| head.clone()) != &head {
            return Err("they changed while they were read; retry".to_owned());
        }
        let part = part.trim_end();
        let expected = PART.min(length - self.text.len());
        if part.len() != expected {
            return Err(invalid());
        }
        self.text.push_str(part);
        Ok(())
    }
}

/// Returns names and texts. Each file is a line with its length and name, its bytes, and an empty line.
fn unpack(text: &str) -> Result<Vec<(String, String)>, String> {
    let invalid = || "the node printed an archive that is damaged".to_owned();
    let packed = BASE64_STANDARD.decode(text).map_err(|_| invalid())?;
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..])
        .take(MAX_UNPACKED)
        .read_to_end(&mut bytes)
        .map_err(|_| invalid())?;
    let mut rest = &bytes[..];
    let mut files = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| byte == b'\n').ok_or_else(invalid)?;
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| invalid())?;
        let (length, name) = line.split_once(' ').ok_or_else(invalid)?;
        let length: usize = length.parse().map_err(|_| invalid())?;
        let body = &rest[end + 1..];
        if length >= body.len() {
            return Err(invalid());
        }
        files.push((name.to_owned(), String::from_utf8_lossy(&body[..length]).into_owned()));
        rest = body[length..].strip_prefix(b"\n").ok_or_else(invalid)?;
    }
    if files.is_empty() {
        return Err("the node has no report and no events".to_owned());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// Returns the last 4,096 bytes that a real shell prints on a node with these files, as Azure does.
    fn printed(root: &Path, from: usize) -> String {
        let script = script(from).join("\n");
        let script = script.replacen("d=/", &format!("d={}/", root.display()), 1);
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert!(output.status.success());
        let from = output.stdout.len().saturating_sub(4096);
        String::from_utf8_lossy(&output.stdout[from..]).into_owned()
    }

    #[allow(clippy::disallowed_methods, reason = "files of a test")]
    fn node(files: &[(&str, &str)]) -> tempfile::TempDir {
        let node = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = node.path().join(DIRECTORY).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        node
    }

    fn read_all(root: &Path) -> Result<(Vec<(String, String)>, usize), String> {
        let mut parts = Parts::default();
        let mut count = 0;
        while let Some(part) = parts.next() {
            parts.add(&printed(root, part * PART))?;
            count += 1;
        }
        assert_eq!(parts.count(), Some(count));
        Ok((unpack(&parts.text)?, count))
    }

    /// Text that does not compress.
    fn noise(bytes: usize) -> String {
        let mut state = 1_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from(state >> 24).unwrap_or_default() % 90)
        };
        (0..bytes).map(next).collect()
    }

    const EVENT: &str = "Microsoft.Azure.Extensions.CustomScript/events/1.json";

    #[test]
    fn files_come_in_parts_and_are_the_same() {
        let report = noise(9000);
        let node = node(&[
            ("aks/provision.json", &report),
            ("aks/provision.json.previous", ""),
            (EVENT, "{\n}\n"),
            ("secret.txt", "x"),
        ]);
        let (files, parts) = read_all(node.path()).unwrap();
        let expected = [
            ("aks/provision.json", report.as_str()),
            ("aks/provision.json.previous", ""),
            (EVENT, "{\n}\n"),
        ];
        assert_eq!(files, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert!(parts > 2, "{parts}");
        let small = self::node(&[(EVENT, "{}")]);
        assert_eq!(read_all(small.path()).unwrap(), (vec![(EVENT.to_owned(), "{}".to_owned())], 1));
        let empty = self::node(&[("other.log", "x")]);
        assert_eq!(read_all(empty.path()).unwrap_err(), "the node has no report and no events");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "files of a test")]
    fn files_that_change_or_are_too_large_are_an_error() {
        let node = node(&[("aks/provision.json", &noise(9000))]);
        let mut parts = Parts::default();
        parts.add(&printed(node.path(), 0)).unwrap();
        fs::write(node.path().join(DIRECTORY).join("aks/provision.json"), noise(9001)).unwrap();
        assert!(parts.add(&printed(node.path(), PART)).unwrap_err().contains("changed"));
        let large = self::node(&[("aks/provision.json", &noise(70_000))]);
        assert!(read_all(large.path()).unwrap_err().contains("more than 64 KB"));
    }

    #[test]
    fn other_output_and_damaged_archives_are_an_error() {
        for printed in ["", "x\n", "4 1-4\nab", "4 1-4\nabcde", "-1 1-4\n", "4\nabcd"] {
            assert!(Parts::default().add(printed).is_err(), "{printed:?}");
        }
        for text in ["", "!", "abcd"] {
            assert!(unpack(text).is_err(), "{text:?}");
        }
        for plain in ["5 a\nabc\n", "3 a\nabcd", "x a\nabc\n", "3\nabc\n", "3 a"] {
            use std::io::Write as _;
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(plain.as_bytes()).unwrap();
            let text = BASE64_STANDARD.encode(packed.finish().unwrap());
            assert!(unpack(&text).is_err(), "{plain:?}");
        }
    }

    #[test]
    fn files_outside_the_list_are_dropped() {
        for name in ["aks/provision.json", "aks/provision.json.previous", EVENT] {
            assert!(reason(name).is_some(), "{name}");
        }
        let events = "Microsoft.Azure.Extensions.CustomScript/events";
        for name in [
            "../../../etc/shadow",
            "x",
            &format!("{events}/../../x.json"),
            &format!("{events}/.json"),
        ] {
            assert!(reason(name).is_none(), "{name}");
        }
    }
}

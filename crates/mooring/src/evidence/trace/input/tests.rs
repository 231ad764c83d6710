use std::fs;
use std::io::{self, Read, SeekFrom};
use std::path::Path;

use mooring_trace::TraceFile;

use super::{
    MAX_DEPTH, MAX_FILE, MAX_FILES, MAX_KEPT, MAX_NAME, MAX_NAMES, MAX_NOTES, MAX_PAX_HEADER,
    MAX_UNPACKED, TraceInput, gnu_name, is_manifest, pax_name, read,
};

struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("input/output error"))
    }
}

#[test]
fn broken_files_have_notes_up_to_a_limit_then_a_count() {
    let mut input = TraceInput::default();
    for count in 0..MAX_NOTES + 3 {
        input.add(format!("{count}.log"), Failing, 1);
    }
    input.long_names = 2;
    input.note_counts();
    assert_eq!(input.notes.len(), MAX_NOTES + 2);
    assert_eq!(input.notes[0], "`0.log`: read failed: input/output error");
    assert_eq!(input.notes[MAX_NOTES], "2 files skipped: name longer than 1024 bytes");
    assert_eq!(input.notes[MAX_NOTES + 1], "3 more files truncated or broken");
    let mut whole = TraceInput::default();
    whole.note_counts();
    assert!(whole.notes.is_empty(), "{:?}", whole.notes);
}

#[test]
fn manifest_of_a_bundle_names_what_a_timeline_lacks() {
    let manifest = serde_json::json!({"schema": "mooring.bundle/v1", "leftOut": [
        {"path": "aks-a/vm.json", "what": "VM", "why": "Azure was not asked"},
        {"path": "fleet.json", "what": "fleet", "why": "not read"},
        {"path": "aks-a/var/log/azure", "what": "files", "why": "not\u{1b}[2J given"},
    ]});
    let read = |path: &str, text: String| {
        let mut input = TraceInput::default();
        input.add(path.to_owned(), text.as_bytes(), text.len() as u64);
        input.read_manifest();
        (input.files.len(), input.left_out)
    };
    let left_out = ["VM: Azure was not asked", "files: not[2J given"].map(str::to_owned).to_vec();
    for path in ["manifest.json", "mooring-bundle/manifest.json"] {
        assert!(is_manifest(path));
        assert_eq!(read(path, manifest.to_string()), (0, left_out.clone()), "{path}");
    }
    assert_eq!(read("manifest.json", "{}".to_owned()), (1, Vec::new()), "of another program");
    assert_eq!(read("x/manifest.json", manifest.to_string()), (1, Vec::new()));
}

/// A file that must not be read before its end.
struct Huge {
    at: u64,
    size: u64,
}

impl Read for Huge {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(self.at >= self.size - MAX_FILE, "read at {}", self.at);
        let length = buffer.len().min(usize::try_from(self.size - self.at).unwrap());
        buffer[..length].fill(b' ');
        self.at += length as u64;
        Ok(length)
    }
}

impl io::Seek for Huge {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(at) = to else { panic!("{to:?}") };
        self.at = at;
        Ok(at)
    }
}

#[test]
fn only_the_end_of_a_large_log_is_read() {
    let size = 50 << 30;
    let mut input = TraceInput::default();
    input.add_file("a.log".to_owned(), Huge { at: 0, size }, size);
    assert_eq!(input.files[0].bytes.len() as u64, MAX_FILE);
    assert_eq!(input.notes, ["`a.log`: only the last 8192 KiB are read"]);
}

#[test]
fn file_of_the_maximum_size_is_not_truncated() {
    for (size, notes) in [(MAX_FILE, 0), (MAX_FILE + 1, 1)] {
        let mut input = TraceInput::default();
        input.add("a.log".to_owned(), io::repeat(0).take(size), size);
        assert_eq!((input.files[0].bytes.len() as u64, input.notes.len()), (MAX_FILE, notes));
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "files of a test")]
fn links_in_the_root_of_a_node_are_not_followed() {
    let (node, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir_all(node.path().join("var/log/azure")).unwrap();
    for root in [node.path().join("var/log/azure"), outside.path().to_owned()] {
        fs::write(root.join("cluster-provision.log"), "+ true\n").unwrap();
    }
    std::os::unix::fs::symlink(outside.path(), node.path().join("etc")).unwrap();
    let names: Vec<_> =
        read(node.path()).unwrap().files.into_iter().map(|file| file.path).collect();
    assert_eq!(names, ["var/log/azure/cluster-provision.log"]);
}

#[test]
fn archive_yields_wanted_regular_files_and_no_links() {
    let mut archive = tar::Builder::new(Vec::new());
    for name in ["notes.txt", "var/log/azure/cluster-provision.log"] {
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        archive.append_data(&mut header, name, &b"x"[..]).unwrap();
    }
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    archive.append_link(&mut link, "provision.json", "/etc/passwd").unwrap();
    let bytes = archive.into_inner().unwrap();
    let mut input = TraceInput::default();
    input.read_archive((&bytes[..]).take(MAX_UNPACKED)).unwrap();
    let names: Vec<_> = input.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["var/log/azure/cluster-provision.log"]);
    assert_eq!((input.names, input.notes.len()), (3, 0), "{:?}", input.notes);
}

#[test]
fn limits_of_files_names_and_bytes_are_noted_once() {
    let file = || TraceFile { path: String::new(), bytes: Vec::new() };
    let full = [
        (TraceInput { files: vec![file(); MAX_FILES], ..TraceInput::default() }, "20000 files"),
        (TraceInput { names: MAX_NAMES, ..TraceInput::default() }, "500000 names"),
        (TraceInput { bytes: MAX_KEPT, ..TraceInput::default() }, "64 MiB"),
    ];
    for (mut input, limit) in full {
        assert!(!input.has_room() && !input.has_room());
        let note = format!("limit reached: {limit}; the remaining files are skipped");
        assert_eq!(input.notes, [note]);
    }
    let mut almost =
        TraceInput { names: MAX_NAMES - 1, bytes: MAX_KEPT - 1, ..TraceInput::default() };
    assert!(almost.has_room() && almost.notes.is_empty());
}

#[test]
fn names_and_contents_count_toward_the_limits() {
    let mut input = TraceInput::default();
    for name in ["a.log", "bcd.log"] {
        input.add(name.to_owned(), &b"text"[..], 4);
    }
    assert_eq!(input.bytes, 20);
    let mut rest = TraceInput { bytes: MAX_KEPT - 2, ..TraceInput::default() };
    rest.add("a.log".to_owned(), &b"text"[..], 4);
    assert_eq!(rest.files[0].bytes, b"xt");
    assert_eq!(rest.notes, ["`a.log`: only the last 0 KiB are read"]);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "files of a test")]
fn directories_are_read_up_to_a_depth() {
    let write = |directory: &Path| {
        fs::create_dir_all(directory).unwrap();
        fs::write(directory.join("handler.log"), "x").unwrap();
    };
    let nested = |root: &Path, depth: usize| root.join(vec!["d"; depth].join("/"));
    let folder = tempfile::tempdir().unwrap();
    let names = |root: &Path| -> Vec<String> {
        let input = read(root).unwrap();
        input.files.into_iter().map(|file| file.path).collect()
    };
    write(&nested(folder.path(), MAX_DEPTH + 1));
    assert_eq!(names(folder.path()), [""; 0], "too deep");
    write(&nested(folder.path(), MAX_DEPTH));
    assert_eq!(names(folder.path()).len(), 1);
    // Below the root of a node, only the logs of Azure are nested.
    let node = tempfile::tempdir().unwrap();
    for directory in ["var/log/azure/x", "var/log", "var/log/y", "etc/z", "srv"] {
        write(&node.path().join(directory));
    }
    assert_eq!(names(node.path()), ["var/log/azure/x/handler.log", "var/log/handler.log"]);
    let mut input = TraceInput::default();
    input.read_directory(node.path()).unwrap();
    assert_eq!(input.names, 6, "files and directories");
}

#[test]
fn single_compressed_file_has_the_name_without_its_suffix() {
    use std::io::Write as _;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(b"+ exit 50").unwrap();
    let bytes = packer.finish().unwrap();
    let mut input = TraceInput::default();
    input.read_gzip(&bytes[..], "cluster-provision.log.gz").unwrap();
    let file = &input.files[0];
    assert_eq!((file.path.as_str(), &file.bytes[..]), ("cluster-provision.log", &b"+ exit 50"[..]));
    assert!(input.notes.is_empty(), "{:?}", input.notes);
}

/// Returns an entry with its content, padded to whole blocks.
fn entry(kind: tar::EntryType, name: &str, content: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name).unwrap();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_cksum();
    let mut bytes = [header.as_bytes(), content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

#[test]
fn long_name_belongs_to_the_next_file_of_the_archive() {
    use tar::EntryType;
    let name = [b"n/cluster-provision.log", &b"\0"[..]].concat();
    let too_long = vec![b'n'; usize::try_from(MAX_NAME).unwrap() + 1];
    let bytes = [
        entry(EntryType::GNULongName, "x", &name),
        entry(EntryType::XGlobalHeader, "pax_global_header", b"11 mtime=0\n"),
        entry(EntryType::GNULongLink, "x", b"y\0"),
        entry(EntryType::Regular, "short", b"1"),
        entry(EntryType::GNULongName, "x", &too_long),
        entry(EntryType::Regular, "handler.log", b"2"),
        entry(EntryType::Regular, "handler.log", b"3"),
        entry(EntryType::XHeader, "x", b"22 path=m/handler.log\n"),
        entry(EntryType::Regular, "short", b"4"),
        vec![0; 1024],
    ];
    let mut input = TraceInput::default();
    input.read_archive(bytes.concat().as_slice().take(MAX_UNPACKED)).unwrap();
    let files: Vec<_> = input.files.iter().map(|file| (&*file.path, &file.bytes[..])).collect();
    let expected =
        [("n/cluster-provision.log", &b"1"[..]), ("handler.log", b"3"), ("m/handler.log", b"4")];
    assert_eq!(files, expected);
    assert_eq!((input.long_names, input.notes.len()), (1, 0), "{:?}", input.notes);
}

#[test]
fn end_of_the_unpacked_bytes_and_a_damaged_archive_are_noted() {
    let bytes = entry(tar::EntryType::Regular, "handler.log", &[b'x'; 2000]);
    for (limit, note) in [
        (600, "limit reached: 512 MiB unpacked; the rest is skipped"),
        (MAX_UNPACKED, "the archive is truncated or damaged: "),
    ] {
        let mut input = TraceInput::default();
        input.read_archive(bytes[..1000].take(limit)).unwrap();
        let last = input.notes.last().unwrap();
        assert!(last.starts_with(note), "{:?}", input.notes);
    }
}

#[test]
fn names_in_headers_are_read_up_to_their_limits() {
    let gnu = |length: u64| gnu_name(&mut io::repeat(b'n').take(length)).map(|name| name.len());
    assert_eq!((gnu(MAX_NAME), gnu(MAX_NAME + 1), gnu(MAX_NAME + 5)), (Some(1024), None, None));
    let pax = |length: u64| {
        let name = b"11 path=ab\n";
        let rest = io::repeat(b'\n').take(length - name.len() as u64);
        pax_name(&mut name.chain(rest))
    };
    assert_eq!(pax(11), Some(Some(b"ab".to_vec())));
    assert_eq!(pax(MAX_PAX_HEADER), Some(Some(b"ab".to_vec())));
    assert_eq!(pax(MAX_PAX_HEADER + 1), Some(None), "too long");
    assert_eq!(pax_name(&mut &b"11 mtime=0\n"[..]), None);
}

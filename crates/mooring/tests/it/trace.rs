//! Tests of `mooring trace` with directories, archives and files.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

fn nodes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/fixtures")
}

fn trace(path: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mooring"));
    command.arg("trace").arg(path).args(args).stdin(Stdio::null()).output().unwrap()
}

fn text(output: &Output) -> String {
    // A node may have failed.
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(&trace(path, &["-o", "json"]))).unwrap()
}

fn create_tar(directory: &Path) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_dir_all("some/where", directory).unwrap();
    archive.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

const FAILING_STEP: &str = "AKS.CSE.orasLogin.oras_login_with_kubelet_identity";

#[test]
fn trace_of_a_failed_node_exits_with_1() {
    let traced = trace(&nodes().join("failed"), &[]);
    assert_eq!(traced.status.code(), Some(1));
    let shown = text(&traced);
    assert!(
        shown.starts_with("aks-default-7kq2c: the bootstrap failed, exit code 211\n"),
        "{shown}"
    );
    assert!(shown.contains(FAILING_STEP) && shown.contains("ERR_ORAS_BINARY_NOT_FOUND"), "{shown}");
}

#[test]
fn directory_tar_and_tar_gz_give_the_same_timeline() {
    let work = tempfile::tempdir().unwrap();
    let directory = nodes().join("failed");
    let archive = create_tar(&directory);
    std::fs::write(work.path().join("node.tar"), &archive).unwrap();
    std::fs::write(work.path().join("node.tgz"), gzip(&archive)).unwrap();
    let from_directory = json(&directory);
    assert_eq!(from_directory["nodes"][0]["running"]["name"], FAILING_STEP);
    for name in ["node.tar", "node.tgz"] {
        assert_eq!(json(&work.path().join(name))["nodes"], from_directory["nodes"], "{name}");
    }
}

#[test]
fn every_format_is_written_to_a_file_atomically() {
    use std::os::unix::fs::PermissionsExt as _;
    let work = tempfile::tempdir().unwrap();
    // The time of the document differs.
    let lines = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        text.lines().filter(|line| !line.contains("generatedAt")).map(str::to_owned).collect()
    };
    let formats = ["table", "wide", "json", "yaml", "markdown", "name", "html", "chrome", "otlp"];
    for format in formats {
        let out = work.path().join(format);
        let done = trace(&nodes().join("healthy"), &["-o", format, "--out", out.to_str().unwrap()]);
        assert_eq!(text(&done), "", "data is in the file");
        let printed = trace(&nodes().join("healthy"), &["-o", format]).stdout;
        assert_eq!(lines(&std::fs::read(&out).unwrap()), lines(&printed), "{format}");
        assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(
        std::fs::read_dir(work.path()).unwrap().count(),
        formats.len(),
        "no temporary files remain"
    );
    let nowhere = trace(&nodes().join("healthy"), &["--out", "/nonexistent/x"]);
    assert_eq!(nowhere.status.code(), Some(3));
}

#[test]
fn input_without_bootstrap_logs_is_an_error() {
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("notes.txt"), "hello").unwrap();
    for path in [work.path().to_owned(), work.path().join("notes.txt"), work.path().join("missing")]
    {
        let output = trace(&path, &[]);
        assert_eq!(output.status.code(), Some(3), "{}", path.display());
        assert!(output.stdout.is_empty() && output.stderr.starts_with(b"error: "));
    }
}

#[test]
fn hostile_archive_writes_nothing_and_is_bounded() {
    let work = tempfile::tempdir().unwrap();
    let report =
        br#"{"ExitCode":"50","CSEStartTime":"Tue May 23 08:35:29 UTC 2023","ExecDuration":"50"}"#;
    let mut archive = tar::Builder::new(Vec::new());
    let mut add = |name: &str, kind: tar::EntryType, size: u64, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        archive.append(&header, bytes).unwrap();
    };
    let length = report.len() as u64;
    add("../../escaped/var/log/azure/aks/provision.json", tar::EntryType::Regular, length, report);
    add("/var/log/azure/aks/cluster-provision.log", tar::EntryType::Symlink, 0, b"");
    add("x/var/log/azure/cluster-provision.log", tar::EntryType::Regular, 10 << 30, b"+ exit 50\n");
    let path = work.path().join("hostile.tar");
    std::fs::write(&path, archive.into_inner().unwrap()).unwrap();
    let shown = json(&path);
    assert_eq!(shown["nodes"][0]["exitCode"], 50);
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 1, "nothing was unpacked");

    // 64 MiB from 64 KiB: only a bounded part is read.
    let bomb = gzip(&vec![b'x'; 1 << 20]).repeat(64);
    std::fs::write(work.path().join("bomb.gz"), bomb).unwrap();
    assert_eq!(trace(&work.path().join("bomb.gz"), &[]).status.code(), Some(3));
}

fn header(kind: tar::EntryType, path: &str, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_path(path).unwrap();
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header
}

/// Appends an entry of repeated blocks without keeping it in memory.
fn append(packer: &mut impl std::io::Write, header: &tar::Header, block: &[u8; 512]) {
    packer.write_all(header.as_bytes()).unwrap();
    for _ in 0..header.size().unwrap().div_ceil(512) {
        packer.write_all(block).unwrap();
    }
}

/// Runs the command with a bounded address space and returns its stderr.
fn trace_within(kib: u32, path: &Path) -> String {
    let script = format!("ulimit -v {kib}; exec \"$0\" trace \"$1\"");
    let mooring = env!("CARGO_BIN_EXE_mooring");
    let output =
        Command::new("sh").args(["-c", &script, mooring]).arg(path).stdin(Stdio::null()).output();
    let output = output.unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{shown}");
    shown
}

/// Name, entries with their sizes, a block of their content, and the expected warning.
type Bomb<'a> = (&'a str, Vec<(tar::EntryType, u64)>, &'a [u8; 512], &'a str);

mod slow {
    use super::*;

    #[test]
    fn archive_bombs_need_bounded_memory() {
        let work = tempfile::tempdir().unwrap();
        let report = br#"{"ExitCode":"50","Output":"+ exit 50","Error":""}"#;
        let mut traced = [b'\n'; 512];
        let step = b"+ logs_to_events AKS.CSE.x y\n+ startTime='2026-01-01 00:00:00.000'\n+ endTime='2026-01-01 00:00:00.001'\n";
        for copy in 0..4 {
            traced[copy * step.len()..][..step.len()].copy_from_slice(step);
        }
        let name = [b'n'; 512];
        let cases: [Bomb<'_>; 4] = [
            (
                "GNU names",
                vec![(tar::EntryType::GNULongName, 200 << 20)],
                &name,
                "1 files skipped: name longer",
            ),
            (
                "PAX headers",
                vec![(tar::EntryType::XHeader, 200 << 20)],
                &name,
                "1 files skipped: name longer",
            ),
            (
                "logs",
                vec![(tar::EntryType::Regular, 16 << 20); 16],
                &traced,
                "limit reached: 64 MiB",
            ),
            (
                "unwanted files",
                vec![(tar::EntryType::Regular, 600 << 20)],
                &name,
                "limit reached: 512 MiB unpacked",
            ),
        ];
        for (what, entries, block, note) in cases {
            let path = work.path().join("bomb.tar.gz");
            let file = std::fs::File::create(&path).unwrap();
            let mut packer = GzEncoder::new(std::io::BufWriter::new(file), Compression::fast());
            let mut first = [0; 512];
            first[..report.len()].copy_from_slice(report);
            let own = header(
                tar::EntryType::Regular,
                "var/log/azure/aks/provision.json",
                report.len() as u64,
            );
            append(&mut packer, &own, &first);
            for (number, (kind, size)) in entries.into_iter().enumerate() {
                let file = match what {
                    "unwanted files" => "x".to_owned(),
                    _ => format!("node{number}/var/log/azure/cluster-provision.log"),
                };
                append(&mut packer, &header(kind, &file, size), block);
                if kind != tar::EntryType::Regular {
                    append(&mut packer, &header(tar::EntryType::Regular, &file, 512), block);
                }
            }
            packer.write_all(&[0; 1024]).unwrap();
            packer.finish().unwrap().into_inner().unwrap();
            assert!(path.metadata().unwrap().len() < 8 << 20, "{what}: the archive is small");
            let shown = trace_within(300_000, &path);
            assert!(shown.contains(note), "{what}: {shown}");
        }
    }
}

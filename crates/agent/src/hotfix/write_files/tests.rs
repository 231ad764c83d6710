use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};

use super::*;

fn one(path: &str, mode: u32, content: &str) -> WriteFile {
    WriteFile { path: path.to_owned(), mode, content: content.into() }
}

#[test]
fn list_is_read_as_agentbaker_renders_it() {
    let packed = STANDARD.encode(compress(b"#!/bin/bash\necho repaired\n"));
    let (head, tail) = packed.split_at(40);
    let text = format!(
        "#cloud-config\n\nbootcmd:\n- set -x\n- [a, b: c]\n- more: {{}}\nwrite_files:\n  \n# ---- hotfix ----\n\
         - path: /opt/azure/containers/provision_source.sh\n  permissions: \"0744\"\n  encoding: gzip\n  owner: root\n  \
         content: !!binary |\n    {head}\n    {tail}\n\n- path: '/etc/a.conf' # why\n  permissions: 0600\n  owner: \"root\"\n  \
         content: |\n    [Service]\n\n      deeper: \"x\" # kept\n    #EOF\n  \n\n- path: /etc/b\n  encoding: base64\n  content: |\n    \
         YQ==\n- path: /etc/c\n  content: |-\n    x\n- path: /etc/d\n  content: plain words\nruncmd:\n- echo: \"- path: x\"\n"
    );
    let files = read(text.as_bytes()).unwrap();
    assert_eq!(
        files,
        [
            one("/opt/azure/containers/provision_source.sh", 0o744, "#!/bin/bash\necho repaired\n"),
            one("/etc/a.conf", 0o600, "[Service]\n\n  deeper: \"x\" # kept\n#EOF\n"),
            one("/etc/b", 0o644, "a"),
            one("/etc/c", 0o644, "x"),
            one("/etc/d", 0o644, "plain words"),
        ]
    );
    for none in
        ["", "#cloud-config\n", "write_files: []\n", "write_files:\n", "a: b\nwrite_files:\nc: d"]
    {
        assert_eq!(read(none.as_bytes()).unwrap(), [], "{none}");
    }
    let indented = "write_files:\n  - path: /etc/a\n    content: x\n";
    assert_eq!(read(indented.as_bytes()).unwrap(), [one("/etc/a", 0o644, "x")]);
    let ends = "write_files:\n- content: |+\n    x\n\n  path: /etc/a\n- path: /etc/b\n  content:\n";
    assert_eq!(
        read(ends.as_bytes()).unwrap(),
        [one("/etc/a", 0o644, "x\n\n"), one("/etc/b", 0o644, "")]
    );
}

#[test]
fn unsupported_yaml_is_refused() {
    for (text, expected) in [
        ("- path: /etc/a\n  owner: nobody", "line 2: unsupported owner nobody"),
        ("- path: /etc/a\n  encoding: zip", "unsupported encoding zip"),
        ("- path: /etc/a\n  permissions: 0888", "unsupported permissions 0888"),
        ("- path: /etc/a\n  permissions: \"4755\"", "unsupported permissions 4755"),
        ("- path: /etc/a\n  permissions: +7", "unsupported permissions +7"),
        ("- path: /etc/a\n  encoding: gzip\n  content: x", "not gzip"),
        ("- path: /etc/a\n  encoding: base64\n  content: \"?\"", "content is not base64"),
        ("- path: /etc/a\n  content: !!binary |\n    ?", "!!binary without base64"),
        ("- owner: root", "path is required"),
        ("- path: &a /etc/a", "not a text"),
        ("- path: *a", "not YAML"),
        ("- path: [/etc/a]", "not a text"),
        ("- path: !!str a", "unknown tag"),
        ("- path: !!binaryx a", "unknown tag"),
        ("- path: a: b", "not YAML"),
        ("- path: \"a\" b", "not YAML"),
        ("- path:/etc/a", "line 2: an entry of write_files that is no mapping"),
        ("- path: /etc/a\n  append: true", "line 3: unknown key append"),
        ("- path: /etc/a\n  path: /etc/b", "line 3: duplicate path"),
        ("- path: /etc/a\n   owner: root", "not YAML"),
        ("- path: /etc/a\n  content: |\n      x\n    y", "not YAML"),
        ("- path: /etc/a\nwrite_files:\n- path: /etc/b", "duplicate write_files"),
        ("- path: /etc/a\nx y", "not YAML"),
        ("- path: /etc/a\n[x]: z", "expected a key"),
        ("- path: /etc/a\n---\nx: y", "more than one document"),
    ] {
        let error = read(format!("write_files:\n{text}\n").as_bytes());
        let error = error.expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    assert!(read(b"write_files:\n- path: \xff").is_err());
    assert!(read(b"write_files: yes").is_err());
}

mod slow {
    use super::*;

    #[test]
    fn bombs_and_endless_lists_are_bounded() {
        let bomb = STANDARD.encode(compress(&vec![0; MAX_FILE_BYTES + 1]));
        let text =
            format!("write_files:\n- path: /etc/a\n  encoding: gzip\n  content: !!binary {bomb}\n");
        assert!(read(text.as_bytes()).unwrap_err().contains("larger than 4194304 bytes"));
        let many = "- path: /etc/a\n".repeat(10_000);
        assert!(
            read(format!("write_files:\n{many}").as_bytes()).unwrap_err().contains("more than 256")
        );
        let plain = "x".repeat(MAX_FILE_BYTES + 1);
        let text = format!("write_files:\n- path: /etc/a\n  content: {plain}\n");
        assert!(read(text.as_bytes()).unwrap_err().contains("larger than 4194304 bytes"));
        let large = STANDARD.encode(compress(&vec![0; MAX_FILE_BYTES]));
        let entry = format!("- path: /etc/a\n  encoding: gzip\n  content: !!binary {large}\n");
        let text = format!("write_files:\n{}", entry.repeat(4));
        assert_eq!(read(text.as_bytes()).map(|files| files.len()), Ok(4));
        let text = format!("{text}- path: /etc/b\n  content: x\n");
        assert!(read(text.as_bytes()).unwrap_err().contains("bytes in all"));
    }
}

/// A file with a name, an extra field and a comment.
fn compress(content: &[u8]) -> Vec<u8> {
    let header = GzBuilder::new().extra([1, 2, 3]).filename("name").comment("comment");
    let mut file = header.write(Vec::new(), Compression::default());
    file.write_all(content).unwrap();
    file.finish().unwrap()
}

#[test]
fn content_comes_back_whole_up_to_the_limit() {
    let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let file = compress(&content);
    assert_eq!(decompress_all(&file, content.len()).unwrap(), content);
    let too_large = Err(GzipError::TooLarge(content.len() - 1));
    assert_eq!(decompress_all(&file, content.len() - 1), too_large);
    let twice = [compress(b"a"), compress(b""), compress(b"b")].concat();
    assert_eq!(decompress_all(&twice, 2).unwrap(), b"ab");
    assert_eq!(decompress_all(&twice, 1), Err(GzipError::TooLarge(1)));
    // As the shell's `gzip` writes it.
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

#[test]
fn damaged_files_are_refused_at_every_byte() {
    let file = compress(b"some content that is long enough to be compressed, compressed");
    for cut in 0..file.len() {
        assert!(decompress_all(&file[..cut], 1000).is_err(), "{cut}");
    }
    // Checksum and length.
    for at in file.len() - 8..file.len() {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(decompress_all(&changed, 1000).is_err(), "{at}");
    }
    assert!(decompress_all(&[file, b"garbage".to_vec()].concat(), 1000).is_err());
}

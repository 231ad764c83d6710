//! `download-hotfix` as a separate process: package managers are scripts on the search path that record their arguments,
//! and memory is that of the process. Cases 33, 34, 38, 39 and 48.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::download::{BINARY, PACKAGED, node_with, ubuntu};
use super::program::printing;
use super::scripts::{SCRIPTS, are_new, custom_data, write_old_files};
use super::{AGENT, CUSTOM_DATA, HOTFIX_AGENT, OWN, POINTER, events, left_over, logged};
use crate::fault_injection::{EIO, Faulty};
use crate::support::{Node, text, write_program};

/// The process that [`run`] starts.
#[test]
#[ignore = "run by other tests"]
fn hosted() {
    let root = std::env::var("HOSTED_ROOT").expect("run by another test");
    let mut world = Faulty::new(Path::new(&root), |operation, _| match operation {
        "on_panic" => Some(EIO),
        _ => None,
    });
    world.variables = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
    let code = world.run_as(OWN, &["download-hotfix"]);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    fs::write(Path::new(&root).join("result"), format!("{code} {peak}")).unwrap();
}

/// Runs the command with these programs on its search path; returns the exit code and the peak of its memory in KiB.
fn run(node: &Node) -> (u8, u64) {
    let Output { status, stdout, stderr } = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "node::hotfix::hosted::hosted", "--ignored", "--nocapture"])
        .env_clear()
        .env("PATH", node.typed("bin"))
        .env("HOSTED_ROOT", node.root())
        .output()
        .unwrap();
    assert!(status.success(), "{}{}", text(&stdout), text(&stderr));
    let result = fs::read_to_string(node.at("/result")).unwrap();
    fs::remove_file(node.at("/result")).unwrap();
    let words: Vec<&str> = result.split_whitespace().collect();
    (words[0].parse().unwrap(), words[1].parse().unwrap())
}

/// Puts programs on the search path that record their arguments. `install` brings this agent.
fn record_calls(node: &Node, programs: &[&str], packaged: &[u8]) {
    node.write("/packaged", packaged);
    fs::create_dir_all(node.typed("bin")).unwrap();
    fs::create_dir_all(node.at(PACKAGED).parent().unwrap()).unwrap();
    for program in programs {
        let script = format!(
            "#!/bin/sh\necho \"{program} $* | $DEBIAN_FRONTEND\" >> '{calls}'\n\
             case \"$*\" in *install*) /bin/cp '{from}' '{to}' ;; esac\n",
            calls = node.typed("calls").display(),
            from = node.at("/packaged").display(),
            to = node.at(PACKAGED).display(),
        );
        write_program(&node.typed("bin").join(program), script, 0o755);
    }
}

fn calls(node: &Node) -> Vec<String> {
    let calls = fs::read_to_string(node.typed("calls")).unwrap_or_default();
    calls.lines().map(str::to_owned).collect()
}

#[test]
fn apt_installs_the_package_with_upstreams_arguments_34() {
    let node = ubuntu(BINARY);
    let program = printing("202604.01.1\n");
    record_calls(&node, &["dpkg", "apt-get", "dnf", "tdnf"], &program);
    assert_eq!(run(&node).0, 0, "{:?}", logged(&node));
    let expected = [
        "dpkg --configure -a --force-confdef --force-confold | noninteractive",
        "apt-get update -o Dpkg::Options::=--force-confold -o \
         Dir::Etc::sourcelist=/etc/apt/sources.list.d/microsoft-prod.list -o \
         Dir::Etc::sourceparts=- | noninteractive",
        "apt-get install -y --allow-downgrades -o Dpkg::Options::=--force-confold \
         aks-node-controller=202604.01.1-* | noninteractive",
    ];
    assert_eq!(calls(&node), expected);
    assert_eq!(fs::read(node.at(HOTFIX_AGENT)).unwrap(), program);
    assert_eq!(node.mode(HOTFIX_AGENT), 0o755);
    assert_eq!(node.read(AGENT).unwrap(), "the image's agent");
    assert_eq!(left_over(&node), [""; 0]);
}

#[test]
fn dnf_is_preferred_and_tdnf_is_used_without_it_38() {
    let arguments = "install -y --refresh --allowerasing aks-node-controller-202604.01.1";
    for (programs, called) in
        [(&["dnf", "tdnf", "apt-get"][..], "dnf"), (&["tdnf", "apt-get"], "tdnf")]
    {
        for id in ["azurelinux", "mariner"] {
            let node = ubuntu(BINARY);
            node.write("/etc/os-release", format!("ID={id}\n"));
            record_calls(&node, programs, &printing("202604.01.1\n"));
            assert_eq!(run(&node).0, 0, "{:?}", logged(&node));
            assert_eq!(calls(&node), [format!("{called} {arguments} | noninteractive")]);
            assert!(node.exists(HOTFIX_AGENT));
        }
    }
}

#[test]
fn missing_package_manager_leaves_the_images_agent_39() {
    let node = ubuntu(BINARY);
    record_calls(&node, &["dpkg"], &printing("202604.01.1\n"));
    node.write("/etc/os-release", "ID=flatcar\n");
    assert_eq!(run(&node).0, 1);
    assert_eq!(calls(&node), [""; 0]);
    assert!(!node.exists(HOTFIX_AGENT));
}

#[test]
fn unreadable_pointer_is_a_warning_33() {
    let node = ubuntu(BINARY);
    record_calls(&node, &["dpkg", "apt-get"], &printing("202604.01.1\n"));
    fs::set_permissions(node.at(POINTER), fs::Permissions::from_mode(0o000)).unwrap();
    let is_readable = fs::read(node.at(POINTER)).is_ok();
    assert_eq!(run(&node).0, 0);
    // Root can read it, in Go as well.
    assert_eq!(calls(&node).is_empty(), !is_readable);
    let is_warned = logged(&node).contains(&"WARN failed to read the hotfix pointer".to_owned());
    assert_eq!(is_warned, !is_readable);
}

/// One GiB of zeros in one MiB of gzip: a literal, then four million matches of two bits each.
fn bomb() -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(1, 1); // the last block
    bits.push(2, 2); // with dynamic codes:
    bits.push(286 - 257, 5); // literals and lengths,
    bits.push(0, 5); // one distance,
    bits.push(18 - 4, 4); // and the codes of their lengths, in this order.
    for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
        bits.push(
            match symbol {
                18 => 1,
                1 | 2 => 2,
                _ => 0,
            },
            3,
        );
    }
    // Codes by length: 18 is 0, 1 is 10, 2 is 11; most significant bit first.
    let (one, two) = (0b01, 0b11);
    let zeros = |bits: &mut Bits, count: u32| {
        bits.push(0, 1);
        bits.push(count - 11, 7);
    };
    bits.push(two, 2); // literal 0
    zeros(&mut bits, 138);
    zeros(&mut bits, 117);
    bits.push(two, 2); // the end, 256
    zeros(&mut bits, 28);
    bits.push(one, 2); // length 258
    bits.push(one, 2); // distance 1
    bits.push(0b01, 2);
    let matches = (1_usize << 30) / 258;
    for _ in 0..matches {
        bits.push(0, 2);
    }
    bits.push(0b11, 2);
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
    file.extend(bits.bytes());
    // The checksum comes too late to matter.
    file.extend([0; 8]);
    file
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    pending: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        self.pending |= value << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.pending.to_le_bytes()[0]);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    fn bytes(mut self) -> Vec<u8> {
        self.push(0, 7);
        self.bytes
    }
}

#[test]
fn gzip_bomb_of_a_gibibyte_needs_little_memory_48() {
    let bomb = bomb();
    assert!(bomb.len() < 1100 << 10, "{}", bomb.len());
    let node = node_with(SCRIPTS);
    fs::create_dir_all(node.typed("bin")).unwrap();
    write_old_files(&node);
    let entry = format!(
        "- path: /etc/x\n  encoding: gzip\n  content: !!binary {}\n",
        STANDARD.encode(&bomb)
    );
    node.write(CUSTOM_DATA, custom_data(Some(&entry)));
    let (code, peak) = run(&node);
    assert_eq!(code, 0);
    assert!(!are_new(&node) && left_over(&node).is_empty());
    let message = events(&node, "DownloadHotfix").remove(0).1;
    assert!(message.contains("larger than 4194304 bytes when decompressed"), "{message}");
    assert!(peak < 128 << 10, "{peak} KiB");
}

//! Runs the script of a run command in a real shell, so that its errors are real.
//!
//! The script came over the network, so the shell is `bash` in restricted mode with an empty
//! environment: it starts only the commands of [`PROGRAMS`], writes no file, prints at most
//! [`MAX_OUTPUT`] and ends after [`TIME_LIMIT`] seconds of real time. A node has no root directory
//! here: absolute paths in the text of the script are rewritten to a temporary directory with the node's files. A path
//! that a script assembles from pieces is not rewritten, and redirections to files fail.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use regex::Regex;

/// Commands that a script can start. None of them writes files or starts other commands.
const PROGRAMS: [&str; 11] =
    ["base64", "basename", "cat", "cksum", "cut", "dirname", "grep", "head", "tail", "tr", "wc"];
/// Commands that get these arguments instead of their own: with others they write files.
const FILTERS: [(&str, &str); 1] = [("gzip", "-9nc")];
/// Bytes returned from the end of each stream.
const RETURNED: u64 = 4096;
/// Maximum output of a script, in units of 1,024 bytes.
const MAX_OUTPUT: u32 = 1024;
/// Seconds after which a script is killed.
const TIME_LIMIT: u32 = 10;

/// An absolute path at the start of a word.
static ABSOLUTE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(^|[\s="'(<>:;|&])(/[A-Za-z])"#).ok());

/// End of each stream of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ShellOutput {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn run(lines: &[&str], files: &[(&str, &str)]) -> ShellOutput {
    try_run(lines, files).unwrap_or_else(|error| ShellOutput {
        stdout: String::new(),
        stderr: format!("the simulator cannot run the script: {error}\n"),
    })
}

fn try_run(lines: &[&str], files: &[(&str, &str)]) -> io::Result<ShellOutput> {
    let directory = Directory::create()?;
    let (root, programs) = (directory.0.join("root"), directory.0.join("bin"));
    for path in [&root, &programs] {
        DirBuilder::new().create(path)?;
    }
    for name in PROGRAMS {
        std::os::unix::fs::symlink(find(name)?, programs.join(name))?;
    }
    for (name, arguments) in FILTERS {
        let (bash, program) = (find("bash")?, find(name)?);
        let script = format!("#!{}\nexec {} {arguments}\n", bash.display(), program.display());
        let mut file = new_file(&programs.join(name))?;
        file.write_all(script.as_bytes())?;
        file.set_permissions(Permissions::from_mode(0o700))?;
    }
    for (path, text) in files {
        let path = root.join(path.trim_start_matches('/'));
        DirBuilder::new().recursive(true).create(path.parent().unwrap_or(&root))?;
        new_file(&path)?.write_all(text.as_bytes())?;
    }
    let (mut stdout, mut stderr) =
        (new_file(&directory.0.join("stdout"))?, new_file(&directory.0.join("stderr"))?);
    let script = rewrite(&lines.join("\n"), &root);
    // `timeout` kills the whole process group; the file size limit ends a script that prints without end.
    let limited = format!(
        "ulimit -c 0 -f {MAX_OUTPUT}; exec \"$1\" --signal=KILL {TIME_LIMIT} \"$2\" --noprofile --norc -r -c \"$3\""
    );
    let bash = find("bash")?;
    Command::new(&bash)
        .args(["--noprofile", "--norc", "-c", &limited, "bash"])
        .args([find("timeout")?.as_os_str(), bash.as_os_str()])
        .arg(script)
        .env_clear()
        .env("PATH", &programs)
        .current_dir(&root)
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .status()?;
    let shown = |file: &mut File| tail(file).map(|text| text.replace(&*root.to_string_lossy(), ""));
    Ok(ShellOutput { stdout: shown(&mut stdout)?, stderr: shown(&mut stderr)? })
}

fn rewrite(script: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    ABSOLUTE.as_ref().map_or_else(
        || script.to_owned(),
        |absolute| absolute.replace_all(script, format!("${{1}}{root}${{2}}")).into_owned(),
    )
}

/// Reads the end of a file, cut at a byte as the service does.
fn tail(file: &mut File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(RETURNED)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).open(path)
}

fn find(name: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(|program| program.is_absolute() && program.is_file())
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{name} is not installed")))
}

/// A temporary directory of this user, removed on drop.
struct Directory(PathBuf);

impl Directory {
    fn create() -> io::Result<Self> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // A directory of another run or of another user is not used.
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("mooring-node-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                created => return created.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/var/log/azure/aks/provision.json";

    fn printed(script: &str) -> (String, String) {
        let lines: Vec<&str> = script.lines().collect();
        let ShellOutput { stdout, stderr } = run(&lines, &[(FILE, "one\ntwo\n")]);
        (stdout, stderr)
    }

    #[test]
    fn scripts_read_the_files_of_the_node() {
        let cat = format!("cat {FILE}");
        assert_eq!(printed(&cat), ("one\ntwo\n".to_owned(), String::new()));
        let piped =
            format!("f=\"{FILE}\"\n[ -r \"$f\" ] || exit 0\ngrep -o 't.*' \"$f\" | head -n 1");
        assert_eq!(printed(&piped).0, "two\n");
        assert_eq!(run(&["[ -r '/var/x' ] || exit 0", "echo more"], &[]), ShellOutput::default());
    }

    #[test]
    fn errors_of_a_script_are_those_of_the_shell() {
        let (stdout, stderr) = printed("cat /etc/passwd\nechoo\necho done");
        assert_eq!(stdout, "done\n");
        assert!(stderr.contains("/etc/passwd: No such file"), "{stderr}");
        assert!(stderr.contains("echoo: command not found"), "{stderr}");
        let (stdout, stderr) = printed("if then");
        assert!(stdout.is_empty() && stderr.contains("syntax error"), "{stderr}");
    }

    #[test]
    fn end_of_a_long_output_comes_back() {
        let (stdout, _) = printed("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done");
        assert_eq!(stdout.len(), 4096);
        assert!(stdout.ends_with("\n2999\n"), "{stdout}");
    }

    #[test]
    fn scripts_change_nothing_on_this_machine() {
        let target = std::env::temp_dir().join(format!("mooring-node-test-{}", std::process::id()));
        let name = target.to_string_lossy();
        // In pieces, so that it is not rewritten.
        let (head, rest) = name.split_at(1);
        for script in [
            format!("d={head}; echo x > ${{d}}{rest}"),
            format!("d={head}; ${{d}}bin/sh -c 'echo x > {name}'"),
            format!("PATH=$d/bin:/usr/bin; touch {name}"),
            format!("exec touch {name}"),
            format!("echo x | tee {name}"),
            format!("echo x | base64 -d --output={name}"),
        ] {
            let (_, stderr) = printed(&script);
            assert!(!stderr.is_empty() && !target.exists(), "{script}: {stderr}");
        }
        // Its arguments are ignored.
        let (stdout, _) = printed(&format!("d={head}; echo x | gzip ${{d}}{rest} | base64 -w 0"));
        assert!(stdout.starts_with("H4sI") && !target.exists(), "{stdout}");
        let (stdout, _) = printed("while :; do echo x; done");
        assert_eq!(stdout.len(), 4096, "the limit of size ends it");
        assert_eq!(printed("echo $HOME$USER").0, "\n");
    }
}

//! A directory in which a boothook runs.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the script in a shell where the outside is two functions that only take notes, and waits
/// for what it left in the background.
const BOOT: &str = r#"
umask 022
logger() { printf 'logger %s\n' "$*" >>notes; }
systemctl() { printf 'systemctl %s\n' "$*" >>notes; }
. ./boothook
wait
"#;

/// A node's file system, removed when it goes out of scope.
pub(crate) struct Node {
    root: PathBuf,
}

impl Node {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("node-{}-{number}", std::process::id());
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Process ids are reused, and a killed test leaves its directory.
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join("opt/azure/containers")).unwrap();
        Self { root }
    }

    /// Runs `boothook` with the node's directories instead of the host's.
    pub(crate) fn boot(&self, boothook: &str) {
        let moved = boothook
            .replace("/opt/azure", "./opt/azure")
            .replace("/var/log/azure", "./var/log/azure");
        self.write("/boothook", &moved);
        let output = Command::new("bash")
            .args(["-c", BOOT])
            .current_dir(&self.root)
            .output()
            .expect("bash is there");
        assert!(output.status.success(), "{output:?}");
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let mut file = fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o644)
            .open(self.path(path))
            .unwrap();
        file.write_all(content.as_bytes()).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The permission bits of a file.
    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o7777
    }

    /// Returns the node's `path` on the host.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Leftovers are in the build directory and harmless.
        let _ = fs::remove_dir_all(&self.root);
    }
}

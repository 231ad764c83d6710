//! axe-core, which finds accessibility errors on pages in a browser.

use std::fs;
use std::path::PathBuf;

use crate::step::{Failed, fetch, need, print, root, run};

/// File with the script, for the tests.
pub(crate) const VARIABLE: &str = "MOORING_AXE";

const VERSION: &str = "4.14.0";
/// Checksum of the package.
const SHA256: &str = "2277b0a3ef47af9b52497faa3e71598e86e0a0e5e6eb295207a5657ede4709af";

/// Downloads the script once, and returns its path.
pub(crate) fn install() -> Result<PathBuf, Failed> {
    let directory = root().canonicalize()?.join(format!("target/axe-core-{VERSION}"));
    let script = directory.join("package/axe.min.js");
    if script.is_file() {
        return Ok(script);
    }
    print(&format!("xtask: installing axe-core {VERSION}\n"));
    fs::create_dir_all(&directory)?;
    need("npm", "npm")?;
    let package = format!("axe-core@{VERSION}");
    let to = directory.display().to_string();
    fetch("npm", &["pack", &package, "--pack-destination", &to, "--silent"])?;
    let archive = directory.join(format!("axe-core-{VERSION}.tgz")).display().to_string();
    let check = format!("echo '{SHA256}  {archive}' | sha256sum --check --quiet");
    run("sh", &["-c", &check])?;
    run("tar", &["-xzf", &archive, "-C", &to, "package/axe.min.js"])?;
    Ok(script)
}

//! Opens a page in headless Chromium, without a network.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::tool::find_program;

/// Usual names. `MOORING_BROWSER` is the path of another one.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

const BROWSER_TIMEOUT: Duration = Duration::from_mins(2);

/// Hosts that the browser itself contacts (time, updates, accounts).
const BROWSER_HOSTS: [&str; 4] = [".google.com", ".googleapis.com", ".gstatic.com", ".gvt1.com"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// A page as rendered by the browser.
#[derive(Debug)]
pub struct RenderedPage {
    /// The document after loading, as HTML.
    pub dom: String,
    /// PNG.
    pub screenshot: Vec<u8>,
    /// URLs that the page requested. (All fail: no name is resolved.)
    pub requests: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PixelStats {
    pub colors: usize,
    /// Share of the most frequent color, from 0 to 1.
    pub ground: f64,
    /// Average brightness, from 0 to 1.
    pub brightness: f64,
}

/// Opens a file. Returns `None` without Chromium. Restarts a browser that crashes or hangs once.
pub fn open(page: &Path, scheme: Scheme) -> io::Result<Option<RenderedPage>> {
    let Some(program) = program() else { return Ok(None) };
    open_with(&program, page, scheme).or_else(|_| open_with(&program, page, scheme)).map(Some)
}

fn open_with(program: &Path, page: &Path, scheme: Scheme) -> io::Result<RenderedPage> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let mut command = Command::new(program);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage"])
        .args(["--window-size=1200,1600"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(with("--user-data-dir=", &at("profile")))
        .arg(with("--log-net-log=", &at("net.json")))
        .arg(with("--screenshot=", &at("page.png")))
        .arg("--dump-dom");
    if scheme == Scheme::Dark {
        command.args(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]);
    }
    let url = format!("file://{}", page.canonicalize()?.display());
    let dom = fs::File::options().create(true).append(true).open(at("dom.html"))?;
    let errors = fs::File::options().create(true).append(true).open(at("errors"))?;
    command.arg(url).stdin(Stdio::null()).stdout(dom).stderr(errors);
    run(command, &at("errors"))?;
    let log = fs::read_to_string(at("net.json")).unwrap_or_default();
    Ok(RenderedPage {
        dom: String::from_utf8_lossy(&fs::read(at("dom.html"))?).into_owned(),
        screenshot: fs::read(at("page.png"))?,
        requests: requests(&log)?,
    })
}

fn with(flag: &str, path: &Path) -> String {
    format!("{flag}{}", path.display())
}

pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("MOORING_BROWSER").map(PathBuf::from);
    let mut places = named.into_iter().chain(PROGRAMS.into_iter().filter_map(find_program));
    places.find(|program| program.is_file())
}

/// Runs a command to its end, with a timeout.
#[expect(clippy::disallowed_methods, reason = "a real program is waited for, in real time")]
fn run(mut command: Command, errors: &Path) -> io::Result<()> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            let said = fs::read_to_string(errors).unwrap_or_default();
            let failed = || io::Error::other(format!("the browser ended with {status}: {said}"));
            return if status.success() { Ok(()) } else { Err(failed()) };
        }
        if start.elapsed() > BROWSER_TIMEOUT {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::other("the browser did not come to an end"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Parses the URLs in the browser's network log, one event per line, without requests of the browser itself.
fn requests(log: &str) -> io::Result<BTreeSet<String>> {
    // The constants come first, on one line; without them nothing was logged.
    if !log.contains("URL_REQUEST_START_JOB") {
        return Err(io::Error::other("the browser left no log of its requests"));
    }
    let mut urls = BTreeSet::new();
    for line in log.lines().filter(|line| line.contains("\"url\":")) {
        let line = line.trim_end_matches(['\r', ',']);
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let Some(url) = event["params"]["url"].as_str() else { continue };
        let host = url
            .split("://")
            .nth(1)
            .and_then(|rest| rest.split(['/', '?', '#']).next())
            .unwrap_or(url);
        let host = format!(".{}", host.split(':').next().unwrap_or(host));
        if !BROWSER_HOSTS.iter().any(|own| host.ends_with(own)) {
            urls.insert(url.to_owned());
        }
    }
    Ok(urls)
}

pub fn pixel_stats(png: &[u8]) -> io::Result<PixelStats> {
    let mut decoder = png::Decoder::new(io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let size =
        reader.output_buffer_size().ok_or_else(|| io::Error::other("the picture is too large"))?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels)?;
    let samples = info.color_type.samples();
    let mut counts = std::collections::HashMap::<&[u8], usize>::new();
    let mut light = 0_u64;
    for pixel in pixels[..info.buffer_size()].chunks_exact(samples) {
        *counts.entry(pixel).or_default() += 1;
        light += u64::from(pixel[0]);
    }
    let total = counts.values().sum::<usize>().max(1);
    let most = counts.values().max().copied().unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a part of a few million")]
    let (ground, brightness) = (most as f64 / total as f64, light as f64 / 255.0 / total as f64);
    Ok(PixelStats { colors: counts.len(), ground, brightness })
}

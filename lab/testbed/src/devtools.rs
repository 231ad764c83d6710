//! A page in headless Chromium that tests drive: the protocol of its developer tools over a pair of pipes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::browser::{Scheme, program};

const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(50);

/// An open page. The browser ends with it.
pub struct Tab {
    child: Child,
    input: File,
    messages: Receiver<Value>,
    session: Option<String>,
    last_id: u64,
    events: Vec<Value>,
    _directory: tempfile::TempDir,
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Tab {
    /// Starts a browser with an empty page. Returns `None` without Chromium.
    pub fn start() -> io::Result<Option<Self>> {
        let Some(program) = program() else { return Ok(None) };
        let directory = tempfile::tempdir()?;
        let at = |name: &str| directory.path().join(name);
        for name in ["in", "out"] {
            let made = Command::new("mkfifo").arg(at(name)).status()?;
            if !made.success() {
                return Err(io::Error::other("mkfifo failed"));
            }
        }
        // The browser reads commands from descriptor 3, and writes to 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$PIPES/in\" 4>\"$PIPES/out\""])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-default-apps", "--disable-extensions"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars"])
            .arg("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
            .arg(format!("--user-data-dir={}", at("profile").display()))
            .arg("about:blank")
            .env("PIPES", directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let input = File::options().write(true).open(at("in"))?;
        let output = File::open(at("out"))?;
        let (sender, messages) = channel();
        std::thread::spawn(move || read(output, |message| sender.send(message).is_ok()));
        let mut tab = Self {
            child,
            input,
            messages,
            session: None,
            last_id: 0,
            events: Vec::new(),
            _directory: directory,
        };
        let target = tab.send("Target.createTarget", &json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.send("Target.attachToTarget", &attach)?;
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            tab.send(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(Some(tab))
    }

    /// Sends a command and returns its result.
    pub fn send(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes())?;
        loop {
            let message =
                self.messages.recv_timeout(RESPONSE_TIMEOUT).map_err(|error| match error {
                    RecvTimeoutError::Timeout => {
                        io::Error::other(format!("no response to {method}"))
                    }
                    RecvTimeoutError::Disconnected => io::Error::other("the browser ended"),
                })?;
            if message["id"] == id {
                let error = &message["error"];
                let failed = || io::Error::other(format!("{method}: {error}"));
                return if error.is_null() { Ok(message["result"].clone()) } else { Err(failed()) };
            }
            self.events.push(message);
        }
    }

    /// Opens an address, and waits until it is loaded.
    pub fn open(&mut self, url: &str) -> io::Result<()> {
        let opened = self.send("Page.navigate", &json!({"url": url}))?;
        if let Some(error) = opened["errorText"].as_str() {
            return Err(io::Error::other(format!("{url}: {error}")));
        }
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
    }

    /// Runs a script before those of each page that is opened later.
    pub fn run_before_pages(&mut self, script: &str) -> io::Result<()> {
        let params = json!({"source": script});
        self.send("Page.addScriptToEvaluateOnNewDocument", &params).map(|_| ())
    }

    /// Presses and releases a key that types nothing, such as `Tab`.
    pub fn press(&mut self, key: &str) -> io::Result<()> {
        for kind in ["rawKeyDown", "keyUp"] {
            let code = if key == "Tab" { 9 } else { 0 };
            let params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.send("Input.dispatchKeyEvent", &params)?;
        }
        Ok(())
    }

    /// Evaluates an expression, which may be a promise.
    pub fn eval(&mut self, expression: &str) -> io::Result<Value> {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let found = self.send("Runtime.evaluate", &params)?;
        if found["exceptionDetails"].is_object() {
            return Err(io::Error::other(format!("{expression}: {}", found["exceptionDetails"])));
        }
        Ok(found["result"]["value"].clone())
    }

    /// Waits until an expression is true; an error after a minute.
    #[expect(clippy::disallowed_methods, reason = "a real program is waited for, in real time")]
    pub fn wait_for(&mut self, expression: &str) -> io::Result<()> {
        let start = Instant::now();
        loop {
            if self.eval(expression).is_ok_and(|value| value == true) {
                return Ok(());
            }
            if start.elapsed() > RESPONSE_TIMEOUT {
                let text = self.eval("document.body.innerText").unwrap_or_default();
                return Err(io::Error::other(format!("not true: {expression}\n{text}")));
            }
            std::thread::sleep(POLL);
        }
    }

    pub fn resize(&mut self, width: u32, height: u32, scheme: Scheme) -> io::Result<()> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.send("Emulation.setDeviceMetricsOverride", &size)?;
        let value = if scheme == Scheme::Dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.send("Emulation.setEmulatedMedia", &media).map(|_| ())
    }

    /// Returns the visible part of the page as PNG.
    pub fn screenshot(&mut self) -> io::Result<Vec<u8>> {
        let params = json!({"format": "png"});
        let taken = self.send("Page.captureScreenshot", &params)?;
        let data = taken["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(data).map_err(io::Error::other)
    }

    /// Writes a screenshot to a file.
    pub fn save(&mut self, path: &Path) -> io::Result<()> {
        let png = self.screenshot()?;
        File::options().create(true).write(true).truncate(true).open(path)?.write_all(&png)
    }

    /// Returns URLs that the page requested so far.
    pub fn requests(&self) -> BTreeSet<String> {
        let sent =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let url = |event: &Value| event["params"]["request"]["url"].as_str().map(str::to_owned);
        sent.filter_map(url).collect()
    }

    /// Returns errors in the console so far, violations of the content security policy included.
    pub fn errors(&self) -> Vec<String> {
        let is_error = |event: &&Value| match event["method"].as_str() {
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] == "error",
            _ => false,
        };
        self.events.iter().filter(is_error).map(|event| event["params"].to_string()).collect()
    }
}

/// Reads messages, each ended by a zero byte, until the browser or the receiver ends.
fn read(output: File, mut pass: impl FnMut(Value) -> bool) {
    for message in BufReader::new(output).split(0).map_while(Result::ok) {
        let Ok(message) = serde_json::from_slice(&message) else { continue };
        if !pass(message) {
            return;
        }
    }
}

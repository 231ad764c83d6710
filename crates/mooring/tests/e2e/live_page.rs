//! The live page in a browser: served by `mooring ui --local`, the controller and `mooring demo --keep`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{Sim, mooring, text};
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams,
};
use mooring_testbed::browser::Scheme;
use mooring_testbed::devtools::Tab;
use mooring_testbed::require;
use serde_json::Value;

/// Process that is killed at the end of the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn simulate(state: &Path) -> Sim {
    Sim::start(state, &["--scenario", "oras-missing", "--kube-port", "0"])
}

/// Returns a command whose environment is env.sh only.
fn sourced(sim: &Sim) -> Command {
    let mut command = mooring();
    command.env_clear().envs(sim.environment());
    command
}

/// Starts a command, and returns the part after `before` of the first line of its stdout that has it.
fn start(command: &mut Command, before: &str) -> (Process, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let process = Process(child);
    let mut line = String::new();
    let found = loop {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended before it printed {before}");
        if let Some((_, rest)) = line.split_once(before) {
            break rest.split_whitespace().next().unwrap_or_default().to_owned();
        }
    };
    // Drains the pipe; a full pipe would block the process.
    std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
    (process, found)
}

/// Starts `mooring ui --local`. Returns the address of its page, with the key.
fn start_ui(sim: &Sim) -> (Process, String) {
    let mut command = sourced(sim);
    command.args(["ui", "--local", "--no-browser", "--azure", "never"]);
    let (process, address) = start(&mut command, "http://");
    (process, format!("http://{address}"))
}

fn start_controller(sim: &Sim, page: &str) -> Process {
    let free = "127.0.0.1:0";
    let mut command = sourced(sim);
    command
        .args(["controller", "--metrics-address", free, "--health-address", free])
        .args(["--page-address", page])
        .stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn wait_until_listening(address: &str) {
    while std::net::TcpStream::connect(address).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Deletes a NodeClaim and its finalizers.
fn delete_nodeclaim(sim: &Sim) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("karpenter.sh", "v1", "NodeClaim"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kubeconfig = sim.variable("KUBECONFIG");
        let client =
            mooring_kube::kubeconfig::client_by_file(Path::new(&kubeconfig)).await.unwrap();
        let claims: Api<DynamicObject> = Api::all_with(client, &kind);
        let all = claims.list(&kube::api::ListParams::default()).await.unwrap();
        let name = all.items[0].metadata.name.clone().unwrap();
        let patch = Patch::Merge(serde_json::json!({"metadata": {"finalizers": null}}));
        claims.patch(&name, &PatchParams::default(), &patch).await.unwrap();
        claims.delete(&name, &DeleteParams::default()).await.unwrap();
    });
}

/// Writes a picture if `MOORING_WRITE_PICTURES` names a directory.
fn picture(tab: &mut Tab, name: &str) {
    if let Some(directory) = std::env::var_os("MOORING_WRITE_PICTURES") {
        tab.save(&PathBuf::from(directory).join(name)).unwrap();
    }
}

/// Fails if the page scrolls sideways, or a text is outside of it.
fn assert_layout(tab: &mut Tab) {
    for (width, height) in [(1300, 900), (768, 1024), (390, 800), (320, 640)] {
        for scheme in [Scheme::Light, Scheme::Dark] {
            tab.resize(width, height, scheme).unwrap();
            let wide = tab.eval("document.documentElement.scrollWidth - innerWidth").unwrap();
            assert!(wide.as_i64().unwrap() <= 0, "{width} px: {wide} px too wide");
        }
        picture(tab, &format!("page-{width}.png"));
    }
    tab.resize(1300, 900, Scheme::Light).unwrap();
}

/// Fails on an error in the console, a violation of the policy, or a request to another origin.
fn assert_closed(tab: &Tab, origin: &str) {
    assert_eq!(tab.errors(), Vec::<String>::new());
    for url in tab.requests() {
        assert!(url.starts_with(origin) || url.starts_with("about:"), "{url}");
    }
}

/// Fails on an accessibility error that axe-core finds, in light and dark, on a wide and a narrow screen.
fn assert_accessible(tab: &mut Tab, script: &str) {
    tab.eval(&format!("{script}\n;0")).unwrap();
    for (width, scheme) in [(1300, Scheme::Light), (1300, Scheme::Dark), (390, Scheme::Light)] {
        tab.resize(width, 900, scheme).unwrap();
        let found = "axe.run().then((found) => found.violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' ')))";
        let violations = tab.eval(found).unwrap();
        assert_eq!(violations, serde_json::json!([]), "{width} px, {scheme:?}");
    }
}

/// Returns the script of axe-core, which `cargo xtask test` installs.
fn axe() -> Option<String> {
    let path = std::env::var_os("MOORING_AXE")?;
    std::fs::read_to_string(path).ok()
}

#[test]
fn pages_have_no_accessibility_errors() {
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let Some(script) = require(axe(), "axe-core") else { return };
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let address = free_address();
    let _controller = start_controller(&sim, &address);
    let url = format!("http://{address}/");
    wait_until_listening(&address);
    tab.open(&url).unwrap();
    let verdict = "document.querySelector('[data-part=verdict]').innerText";
    tab.wait_for(&format!("{verdict}.includes('OrasBinaryMissing')")).unwrap();
    for path in ["", "failures", "pools/default", "causes/OrasBinaryMissing", "codes/232"] {
        tab.open(&format!("{url}{path}")).unwrap();
        assert_accessible(&mut tab, &script);
    }
}

#[test]
fn page_follows_the_cluster_without_a_reload() {
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let (_ui, address) = start_ui(&sim);
    let origin = address.split("/?key=").next().unwrap();
    tab.open(&address).unwrap();
    tab.wait_for("document.body.innerText.includes('No controller runs in this cluster.')")
        .unwrap();
    let place = tab.eval("location.href + document.cookie").unwrap();
    assert_eq!(place, format!("{origin}/"), "the key is neither in the address nor for scripts");
    tab.wait_for("document.getElementById('live').textContent === 'Live, no record'").unwrap();
    tab.eval("window.marker = 1").unwrap();

    let _controller = start_controller(&sim, "off");
    for part in ["verdict", "timeline", "fleet", "failures"] {
        let text = format!("document.querySelector('[data-part={part}]').innerText");
        tab.wait_for(&format!("{text}.includes('OrasBinaryMissing')")).unwrap();
    }
    tab.wait_for("document.querySelector('[data-part=fleet]').innerText.includes('5 of 5')")
        .unwrap();
    tab.wait_for("document.title.startsWith('✗ ')").unwrap();
    assert_eq!(tab.eval("window.marker").unwrap(), 1, "it was not reloaded");

    // The same counts as the command, and the same document apart from times.
    let fleet = "fetch('/api/v1/fleet').then((response) => response.text())";
    let page = tab.eval(fleet).unwrap();
    let mut page: Value = serde_json::from_str(page.as_str().unwrap()).unwrap();
    let output = sourced(&sim).args(["fleet", "-o", "json", "--azure", "never"]).output().unwrap();
    let mut command: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    for document in [&mut page, &mut command] {
        for member in ["generatedAt", "sources", "since"] {
            document.as_object_mut().unwrap().remove(member);
        }
    }
    assert_eq!(page, command);
    let refused = "fetch('/', {method: 'POST'}).then((response) => response.status)";
    assert_eq!(tab.eval(refused).unwrap(), 405);

    // An update keeps focus and open details.
    tab.eval("document.querySelector('details').open = true").unwrap();
    tab.eval("document.querySelector('summary').focus()").unwrap();
    tab.eval("window.before = document.querySelector('[data-part=timeline]')").unwrap();
    // As if its content had changed.
    tab.eval("window.before.dataset.revision = ''").unwrap();
    delete_nodeclaim(&sim);
    tab.wait_for("document.querySelector('[data-part=timeline]') !== window.before").unwrap();
    assert_eq!(tab.eval("document.querySelector('details').open").unwrap(), true);
    assert_eq!(tab.eval("document.activeElement.localName").unwrap(), "summary");

    assert_layout(&mut tab);
    let errors = tab.errors();
    assert!(errors.iter().all(|error| error.contains("405")), "{errors:?}");
    for url in tab.requests() {
        assert!(url.starts_with(origin) || url.starts_with("about:"), "{url}");
    }
}

#[test]
fn page_returns_after_a_restart_of_the_controller() {
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    let address = free_address();
    let controller = start_controller(&sim, &address);
    let url = format!("http://{address}/");
    wait_until_listening(&address);
    tab.open(&url).unwrap();
    tab.wait_for("document.getElementById('live').textContent === 'Live'").unwrap();
    let verdict = "document.querySelector('[data-part=verdict]').innerText";
    tab.wait_for(&format!("{verdict}.includes('OrasBinaryMissing')")).unwrap();
    assert_closed(&tab, &url);
    tab.eval("window.marker = 1").unwrap();
    drop(controller);
    tab.wait_for("document.body.innerText.includes('Not live since')").unwrap();
    let shown = tab.eval(&format!("{verdict}.includes('OrasBinaryMissing')")).unwrap();
    assert_eq!(shown, true, "the last state stays readable");
    let _controller = start_controller(&sim, &address);
    tab.wait_for("document.getElementById('offline').hidden").unwrap();
    tab.wait_for(&format!("{verdict}.includes('OrasBinaryMissing')")).unwrap();
    assert_eq!(tab.eval("window.marker").unwrap(), 1, "it was not reloaded");
}

#[test]
fn demo_shows_its_page_while_it_runs() {
    let Some(mut tab) = require(Tab::start().unwrap(), "Chromium") else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut command = mooring();
    command.args(["demo", "--keep", "--out"]).arg(directory.path()).current_dir(directory.path());
    let (_demo, address) = start(&mut command, "live page, until Ctrl-C: ");
    tab.open(&address).unwrap();
    tab.wait_for("document.getElementById('live').textContent === 'Live'").unwrap();
    tab.eval("window.marker = 1").unwrap();
    let verdict = "document.querySelector('[data-part=verdict]').innerText";
    tab.wait_for(&format!("{verdict}.includes('Image 202601.27.0 fails with OrasBinaryMissing')"))
        .or_else(|_| tab.wait_for(&format!("{verdict}.includes('Image 202601.27.0 fails')")))
        .unwrap();
    assert_eq!(tab.eval("window.marker").unwrap(), 1, "it was not reloaded");
    let failures = "document.querySelectorAll('[data-part=failures] tbody tr').length === 5";
    tab.wait_for(failures).unwrap();
    tab.resize(1300, 1130, Scheme::Light).unwrap();
    picture(&mut tab, "page.png");
    assert_layout(&mut tab);
    assert_closed(&tab, &address);
}

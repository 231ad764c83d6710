//! The live page in a browser: served by `mooring ui --local` and the controller.

mod costs;

use std::path::PathBuf;

use mooring_testbed::browser::Scheme;
use mooring_testbed::devtools::Tab;
use mooring_testbed::require;
use serde_json::Value;

use crate::common::controller::{
    Process, delete_nodeclaim, free_address, run, simulate, sourced, start_controller, start_until,
    wait_until_listening,
};
use crate::common::{Sim, text};

/// Starts `mooring ui --local`. Returns the address of its page, with the key.
fn start_ui(sim: &Sim) -> (Process, String) {
    let mut command = sourced(sim);
    command.args(["ui", "--local", "--no-browser", "--azure", "never"]);
    let (process, address) = start_until(&mut command, "http://");
    (process, format!("http://{address}"))
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
    let output = run(&sim, &["fleet", "-o", "json", "--azure", "never"]);
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
    delete_nodeclaim(&sim, "default-bad1");
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

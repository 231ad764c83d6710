//! Servers that accept connections and never respond: the first message names what is waited for, and the answer or
//! the error comes after `--timeout`.

use std::net::TcpListener;

use crate::common::{Lab, end};

const AUTHORITY: &str = "AZURE_AUTHORITY_HOST";
const MANAGER: &str = "AZURE_RESOURCE_MANAGER_ENDPOINT";

struct Fixture {
    lab: Lab,
    /// Accepts connections, as long as it exists.
    _silent: TcpListener,
    url: String,
    /// A kubeconfig of a server that does not respond.
    kubeconfig: String,
}

impl Fixture {
    fn start() -> Self {
        let lab = Lab::start("oras-missing", &[]);
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
        let mut config = lab.kubeconfig();
        config["clusters"][0]["cluster"]["server"] = url.as_str().into();
        let kubeconfig = lab.write_kubeconfig(&config);
        Self { lab, _silent: silent, url, kubeconfig }
    }

    /// Returns the exit code, stdout and stderr of a command for which the server of a variable is silent.
    fn run(&self, silent: Option<&str>, words: &[&str]) -> (i32, String, String) {
        let mut command = self.lab.command(&[words, &["--timeout", "4s"]].concat());
        let (code, out, err) = end(command.envs(silent.map(|name| (name, &self.url))));
        // A busy host may take longer than a second for a server that responds.
        let is_late =
            |line: &str| code != 3 && line.starts_with("waiting for the Kubernetes API, giving up");
        let lines = err.split_inclusive('\n').filter(|line| !is_late(line));
        (code, out, lines.collect())
    }

    /// Fails unless a command ends with an error, which is the end of stderr.
    fn assert_error(&self, silent: Option<&str>, words: &[&str], error: &str) {
        let (code, out, err) = self.run(silent, words);
        assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
        assert!(err.ends_with(error), "{words:?} {err}");
    }
}

fn late(what: &str, service: &str) -> String {
    format!(
        "waiting for {what}, giving up after 4s\n\
         error: no answer from {service} within 4s\n\
         hint: `--timeout` waits longer; `mooring doctor` shows what does not respond\n"
    )
}

#[test]
fn every_way_to_sign_in_that_was_tried_is_named() {
    let lab = Lab::start("oras-missing", &[]);
    let mut command = lab.command(&["status"]);
    for name in ["AZURE_CLIENT_SECRET", "AZURE_CLIENT_ID", "AZURE_TENANT_ID"] {
        command.env_remove(name);
    }
    let (code, out, err) = end(command.env("PATH", "/nonexistent"));
    assert!(code == 1 && out.contains("Azure failed"), "{out}{err}");
    let warning = err.lines().find(|line| line.starts_with("warning: Azure was not read: "));
    let warning = warning.unwrap_or_else(|| panic!("{err}"));
    for way in ["not signed in", "managed identity", "Azure CLI"] {
        assert!(warning.contains(way), "{way}: {err}");
    }
    assert!(err.contains("hint: `az login` signs in"), "{err}");
}

mod slow {
    use super::*;

    #[test]
    fn silent_azure_is_named_and_the_answer_is_without_it() {
        let fixture = Fixture::start();
        let signing_in = "signing in to Azure by client secret, continuing without it after 4s\n";
        let not_signed_in = "not signed in: no response by client secret within 4s";
        for words in [&["status"][..], &["fleet"], &["why", "default-bad1"]] {
            let (code, out, err) = fixture.run(Some(AUTHORITY), words);
            assert!(code == 1 && out.contains("Azure failed"), "{words:?} {out}");
            let warning = format!("warning: Azure was not read: {not_signed_in}\n");
            assert_eq!(err, format!("{signing_in}{warning}"));

            let (code, out, err) = fixture.run(Some(MANAGER), words);
            assert!(code == 1 && out.contains("Azure failed"), "{words:?} {out}");
            let lines: Vec<&str> = err.lines().collect();
            assert!(lines[0].starts_with("waiting for Azure, continuing"), "{err}");
            let last = "warning: Azure was not read: Azure did not respond within 4s";
            assert_eq!(lines[1], last, "{err}");
        }
        for (variable, text) in
            [(AUTHORITY, not_signed_in), (MANAGER, "Azure did not respond within 4s")]
        {
            for (words, ends) in [(["trace", "default-bad1"], 3), (["doctor", "azure"], 1)] {
                let (code, out, err) = fixture.run(Some(variable), &words);
                assert_eq!(code, ends, "{err}");
                assert!(out.contains(text), "{words:?} {out}");
                assert!(err.contains(", continuing without it after 4s\n"), "{err}");
            }
        }
        let required = fixture.run(Some(AUTHORITY), &["why", "default-bad1", "--azure", "always"]);
        assert_eq!(required.0, 3, "{}", required.2);
        // The name may be that of a VM, so it is not reported as unknown.
        let (code, _, err) = fixture.run(Some(AUTHORITY), &["why", "aks-nothing-like-it"]);
        assert!(code == 3 && err.contains("is called `aks-nothing-like-it`"), "{err}");
        assert!(err.contains("; Azure was not read: not signed in"), "{err}");
    }

    #[test]
    fn silent_api_server_is_named_and_is_an_error() {
        let fixture = Fixture::start();
        let (config, context) = (&*fixture.kubeconfig, fixture.lab.kubeconfig());
        let context = context["current-context"].as_str().unwrap();
        let start = "waiting for the Kubernetes API, giving up after 4s\n\
                     error: the Kubernetes API did not respond within 4s\nhint: ";
        for words in [&["status"][..], &["fleet"], &["why", "x"], &["trace", "x"]] {
            let words = [words, &["--kubeconfig", config]].concat();
            let (code, out, err) = fixture.run(None, &words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert!(words[0] == "trace" || err.starts_with(start), "{err}");
        }
        let kubernetes = late("the Kubernetes API", "the Kubernetes API");
        for words in [
            &["finalizers", "plan"][..],
            &["finalizers", "status"],
            &["finalizers", "apply", "--dry-run"],
            &["repair", "detect", "--context", context],
            &["repair", "plan", "--context", context],
            &["repair", "status", "--context", context],
            &["repair", "apply", "--dry-run"],
        ] {
            let words = [words, &["--kubeconfig", config]].concat();
            fixture.assert_error(None, &words, &kubernetes);
        }
        let signing_in = "signing in to Azure by client secret, giving up after 4s\n\
                          error: not signed in: no response by client secret within 4s\n";
        let both = late("Azure and Kubernetes", "the Kubernetes API and Azure");
        for command in ["detect", "plan", "status"] {
            fixture.assert_error(Some(AUTHORITY), &["repair", command], signing_in);
            fixture.assert_error(Some(MANAGER), &["repair", command], &both);
        }
    }
}

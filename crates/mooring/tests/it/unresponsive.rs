//! Servers that accept connections and never respond: the first message names what is waited for, and the answer or
//! the error comes after `--timeout`.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{Sim, mooring, result, wait};

const TIMEOUT: Duration = Duration::from_mins(2);
/// Commands that read the cluster and Azure.
const COMMANDS: [&[&str]; 3] = [&["status"], &["fleet"], &["why", "default-bad1"]];

struct Fixture {
    sim: Sim,
    folder: tempfile::TempDir,
    /// Accepts connections, as long as it exists.
    _silent: TcpListener,
    url: String,
}

impl Fixture {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let words = ["--scenario", "oras-missing", "--kube-port", "0"];
        let sim = Sim::start(&folder.path().join("sim"), &words);
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
        Self { sim, folder, _silent: silent, url }
    }

    fn config(&self) -> serde_json::Value {
        let file = self.sim.variable("KUBECONFIG");
        serde_json::from_slice(&std::fs::read(Path::new(&file)).unwrap()).unwrap()
    }

    fn context(&self) -> String {
        self.config()["current-context"].as_str().unwrap().to_owned()
    }

    /// Writes a kubeconfig of a server that does not respond.
    fn silent_kubeconfig(&self) -> PathBuf {
        let mut config = self.config();
        config["clusters"][0]["cluster"]["server"] = self.url.as_str().into();
        let file = self.folder.path().join("silent");
        std::fs::write(&file, config.to_string()).unwrap();
        file
    }

    /// Returns the exit code, stdout and stderr. Variables without a value are removed.
    fn run(&self, variables: &[(&str, Option<&str>)], words: &[&str]) -> (i32, String, String) {
        let mut command = mooring();
        command.env_clear().envs(self.sim.environment()).env("HOME", self.folder.path());
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(words).args(["--timeout", "4s"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (code, out, err) = result(&wait(command.spawn().unwrap(), TIMEOUT));
        // A busy host may take longer than a second for a server that responds.
        let is_late =
            |line: &str| code != 3 && line.starts_with("waiting for the Kubernetes API, giving up");
        let lines = err.split_inclusive('\n').filter(|line| !is_late(line));
        (code, out, lines.collect())
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
    let fixture = Fixture::start();
    let unset = ["AZURE_CLIENT_SECRET", "AZURE_CLIENT_ID", "AZURE_TENANT_ID"];
    let mut variables: Vec<(&str, Option<&str>)> = unset.map(|name| (name, None)).to_vec();
    variables.push(("PATH", Some("/nonexistent")));
    for words in COMMANDS {
        let (code, out, err) = fixture.run(&variables, words);
        assert_eq!(code, 1, "{words:?} {err}");
        assert!(out.contains("Azure failed"), "{out}");
        let warning = err.lines().find(|line| line.starts_with("warning: Azure was not read: "));
        let warning = warning.unwrap_or_else(|| panic!("{err}"));
        for way in ["not signed in", "managed identity", "Azure CLI"] {
            assert!(warning.contains(way), "{way}: {err}");
        }
        assert!(err.contains("hint: `az login` signs in"), "{err}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn doctor_ends_with_its_timeout() {
        let fixture = Fixture::start();
        let silent = Some(fixture.url.as_str());
        for (variable, text) in [
            ("AZURE_AUTHORITY_HOST", "not signed in: no response by client secret within 4s"),
            ("AZURE_RESOURCE_MANAGER_ENDPOINT", "Azure did not respond within 4s"),
        ] {
            let (code, out, err) = fixture.run(&[(variable, silent)], &["doctor", "azure"]);
            assert_eq!(code, 1, "{err}");
            assert!(out.contains(text), "{out}");
            assert!(err.contains(", continuing without it after 4s\n"), "{err}");
        }
    }

    #[test]
    fn evidence_without_azure_names_what_is_missing() {
        let fixture = Fixture::start();
        let silent = Some(fixture.url.as_str());
        for variable in ["AZURE_AUTHORITY_HOST", "AZURE_RESOURCE_MANAGER_ENDPOINT"] {
            let (code, out, err) = fixture.run(&[(variable, silent)], &["trace", "default-bad1"]);
            assert_eq!(code, 3, "{err}");
            assert!(
                err.lines().any(|line| line.ends_with(", continuing without it after 4s")),
                "{err}"
            );
            assert!(out.contains(" within 4s"), "{out}");
        }
    }

    #[test]
    fn silent_api_server_is_named_and_is_an_error() {
        let fixture = Fixture::start();
        let silent = fixture.silent_kubeconfig();
        let (code, out, err) =
            fixture.run(&[("KUBECONFIG", silent.to_str())], &["trace", "default-bad1"]);
        assert_eq!((code, out.as_str()), (3, ""), "{err}");
        for words in COMMANDS {
            let (code, out, err) = fixture.run(&[("KUBECONFIG", silent.to_str())], words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert!(
                err.starts_with(
                    "waiting for the Kubernetes API, giving up after 4s\n\
                 error: the Kubernetes API did not respond within 4s\nhint: "
                ),
                "{err}"
            );
        }
    }

    #[test]
    fn silent_azure_is_named_and_the_answer_is_without_it() {
        let fixture = Fixture::start();
        let silent = Some(fixture.url.as_str());
        for words in COMMANDS {
            let (code, out, err) = fixture.run(&[("AZURE_AUTHORITY_HOST", silent)], words);
            assert_eq!(code, 1, "{words:?} {err}");
            assert_eq!(
                err,
                "signing in to Azure by client secret, continuing without it after 4s\n\
             warning: Azure was not read: not signed in: no response by client secret within 4s\n"
            );
            assert!(out.contains("Azure failed"), "{out}");

            let (code, out, err) =
                fixture.run(&[("AZURE_RESOURCE_MANAGER_ENDPOINT", silent)], words);
            assert_eq!(code, 1, "{words:?} {err}");
            let mut lines = err.lines();
            assert!(lines.next().unwrap().starts_with("waiting for Azure, continuing"), "{err}");
            let last = "warning: Azure was not read: Azure did not respond within 4s";
            assert_eq!(lines.next(), Some(last), "{err}");
            assert!(out.contains("Azure failed"), "{out}");
        }
    }

    #[test]
    fn reads_of_workflows_end_with_their_timeout() {
        let fixture = Fixture::start();
        let silent = Some(fixture.url.as_str());
        for words in [["repair", "detect"], ["repair", "plan"], ["repair", "status"]] {
            let (code, out, err) = fixture.run(&[("AZURE_AUTHORITY_HOST", silent)], &words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert_eq!(
                err,
                "signing in to Azure by client secret, giving up after 4s\n\
             error: not signed in: no response by client secret within 4s\n"
            );
            let (code, out, err) =
                fixture.run(&[("AZURE_RESOURCE_MANAGER_ENDPOINT", silent)], &words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert_eq!(err, late("Azure and Kubernetes", "the Kubernetes API and Azure"));
        }
        let api = fixture.silent_kubeconfig();
        let api = api.to_str().unwrap();
        let kubernetes = late("the Kubernetes API", "the Kubernetes API");
        for words in [&["finalizers", "plan"][..], &["finalizers", "status"]] {
            let (code, out, err) = fixture.run(&[("KUBECONFIG", Some(api))], words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert_eq!(err, kubernetes);
        }
        let context = fixture.context();
        for command in ["detect", "plan", "status"] {
            let words = ["repair", command, "--kubeconfig", api, "--context", &context];
            let (code, out, err) = fixture.run(&[], &words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert_eq!(err, kubernetes);
        }
        for words in [
            &["finalizers", "apply", "--dry-run", "--kubeconfig", api][..],
            &["repair", "apply", "--dry-run", "--kubeconfig", api],
        ] {
            let (code, out, err) = fixture.run(&[], words);
            assert_eq!((code, out.as_str()), (3, ""), "{words:?} {err}");
            assert!(err.ends_with(&kubernetes), "{words:?} {err}");
        }
    }
}

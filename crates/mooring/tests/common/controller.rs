//! Commands against `mooring sim`, with its env.sh as their environment, and the controller.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams,
};

use super::{Sim, mooring};

const TIMEOUT: Duration = Duration::from_secs(90);

/// Process that is killed at the end of the test.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    /// Ends it as Ctrl-C does, so that it ends its own processes.
    pub(crate) fn interrupt(mut self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the simulator with five nodes that joined and five that failed.
pub(crate) fn simulate(state: &Path) -> Sim {
    Sim::start(state, &["--scenario", "oras-missing", "--kube-port", "0"])
}

/// Returns a command whose environment is env.sh only.
pub(crate) fn sourced(sim: &Sim) -> Command {
    let mut command = mooring();
    command.env_clear().envs(sim.environment());
    command
}

pub(crate) fn run(sim: &Sim, args: &[&str]) -> Output {
    sourced(sim).args(args).output().unwrap()
}

/// Starts a controller that serves its page on this address, or `off`.
pub(crate) fn start_controller(sim: &Sim, page: &str) -> Process {
    Process(controller(sim, page).stderr(Stdio::null()).spawn().unwrap())
}

/// Returns the command of a controller with free ports for metrics and probes.
pub(crate) fn controller(sim: &Sim, page: &str) -> Command {
    let free = "127.0.0.1:0";
    let mut command = sourced(sim);
    command
        .args(["controller", "--metrics-address", free, "--health-address", free])
        .args(["--page-address", page]);
    command
}

/// Starts a command, and returns the part after `before` of the first line of its stdout that has it.
pub(crate) fn start_until(command: &mut Command, before: &str) -> (Process, String) {
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

pub(crate) fn wait_for<T>(what: &str, mut check: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

pub(crate) fn wait_until_listening(address: &str) {
    wait_for("a listener", || TcpStream::connect(address).ok());
}

/// Sends a request, and returns the whole response.
pub(crate) fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// Does something with the objects of a kind in a simulated cluster.
pub(crate) fn with_objects(
    sim: &Sim,
    (group, version, kind): (&str, &str, &str),
    work: impl AsyncFnOnce(Api<DynamicObject>),
) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let kubeconfig = sim.variable("KUBECONFIG");
        let client = mooring_k8s::kubeconfig::client_by_file(Path::new(&kubeconfig)).await.unwrap();
        work(Api::all_with(client, &kind)).await;
    });
}

const NODE_POOL: (&str, &str, &str) = ("karpenter.sh", "v1", "NodePool");

/// Deletes a NodeClaim and its finalizers.
pub(crate) fn delete_nodeclaim(sim: &Sim, name: &str) {
    with_objects(sim, ("karpenter.sh", "v1", "NodeClaim"), async |claims| {
        let patch = Patch::Merge(serde_json::json!({"metadata": {"finalizers": null}}));
        claims.patch(name, &PatchParams::default(), &patch).await.unwrap();
        claims.delete(name, &DeleteParams::default()).await.unwrap();
        assert!(claims.get_opt(name).await.unwrap().is_none());
    });
}

pub(crate) fn delete_node_pool(sim: &Sim, name: &str) {
    delete(sim, NODE_POOL, name);
}

/// Deletes an object by its group, version and kind; its finalizers keep it.
pub(crate) fn delete(sim: &Sim, kind: (&str, &str, &str), name: &str) {
    with_objects(sim, kind, async |objects| {
        objects.delete(name, &DeleteParams::default()).await.unwrap();
    });
}

/// Does what `kubectl patch nodepool NAME --type=TYPE -p 'PATCH'` does.
pub(crate) fn change(sim: &Sim, command: &str) {
    let (words, patch) = command.split_once(" -p ").unwrap();
    let words: Vec<&str> = words.split(' ').collect();
    let ["kubectl", "patch", "nodepool", name, form] = words[..] else { panic!("{command}") };
    let patch = patch.trim_matches('\'');
    with_objects(sim, NODE_POOL, async |pools| {
        let parameters = PatchParams::default();
        let changed = match form {
            "--type=json" => {
                let patch = Patch::Json::<()>(serde_json::from_str(patch).unwrap());
                pools.patch(name, &parameters, &patch).await
            }
            "--type=merge" => {
                let patch: serde_json::Value = serde_json::from_str(patch).unwrap();
                pools.patch(name, &parameters, &Patch::Merge(patch)).await
            }
            _ => panic!("{command}"),
        };
        changed.unwrap();
    });
}

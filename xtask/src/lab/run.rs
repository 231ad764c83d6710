//! A case from its first boot to its last.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mooring_contract::custom_data::{Boundary, CustomData, Features};

use super::case::{Boot, CLIENT, Case, Interrupt, Observed, TENANT, table};
use super::host::{leave, shell};
use super::machine::{Disk, Machine, NETWORK, eventually};
use super::{host, image, outside};
use crate::step::{Failed, output, print, write};

const SENTINEL: &str = "opt/azure/containers/provision.complete";
const PREVIOUS: &str = "var/log/azure/aks/provision.json.previous";
const RUNS: &str = "var/lib/lab/runs";
const MIDDLE: &str = "var/lib/lab/middle";
const DISK: &str = "96m";

/// Runs cases in namespaces of this process's own.
pub(super) fn all(lab: &Path, cases: &[Case], keep: bool) -> Result<(), Failed> {
    host::enter_cgroups()?;
    output(std::process::Command::new("mount").args(["-t", "tmpfs", "tmpfs", "/run"]))?;
    let work = Path::new("/run/mooring-lab");
    fs::create_dir_all(work)?;
    print("lab: starting the network, names and registries\n");
    let authority = outside::set_up(lab, work)?;
    let base = host::image_root(lab);
    let shared = Disk::mount(&work.join("shared"), &[&base], "512m")?;
    image::install(lab, &shared.root, &authority)?;
    let mut rows = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        print(&format!("lab: {}/{} {} … ", number + 1, cases.len(), case.name));
        let place = work.join(number.to_string());
        let disk = Disk::mount(&place, &[&shared.upper(), &base], DISK)?;
        let seen = one(lab, case, &disk)?;
        let differs = seen.iter().zip(&case.boots).any(|(seen, boot)| *seen != boot.expect);
        print(if differs { "DIFFERS\n" } else { "ok\n" });
        if keep || differs {
            let kept = lab.join("output").join(case.file_name());
            shell(
                "rm -rf \"$TO\"; cp -a \"$FROM\" \"$TO\"",
                &[
                    ("FROM", &disk.upper().display().to_string()),
                    ("TO", &kept.display().to_string()),
                ],
            )?;
        }
        disk.unmount()?;
        for (index, (seen, boot)) in seen.into_iter().zip(&case.boots).enumerate() {
            let name = match index {
                0 => case.name.clone(),
                _ => format!("{}: boot {}", case.name, index + 1),
            };
            rows.push((name, boot.expect.clone(), seen));
        }
    }
    let table = table(&rows);
    print(&format!("\n{table}"));
    write(&lab.join("table.md"), &table)?;
    let differing = rows.iter().filter(|(_, expected, seen)| expected != seen).count();
    print(&format!("\n{} cases, {} boots, {differing} differ\n", cases.len(), rows.len()));
    if differing == 0 { Ok(()) } else { Err(Failed(format!("{differing} boots differ"))) }
}

fn one(lab: &Path, case: &Case, disk: &Disk) -> Result<Vec<Observed>, Failed> {
    let root = &disk.root;
    let variables = [("ROOT", root.to_str().unwrap_or_default())];
    seed(case, root)?;
    leave(&root.join("opt/lab/work.sh"), &case.work)?;
    shell(&case.prepare, &variables)?;
    let network = format!("ip netns exec {} /bin/bash -euc '{}'", NETWORK, case.network);
    shell(&network, &[])?;
    let mut all = Vec::new();
    for boot in &case.boots {
        let _ = fs::remove_file(root.join(MIDDLE));
        let console = lab.join("output").join(format!("{}.console", case.file_name()));
        let machine = Machine::boot(root, &console)?;
        let (seen, outputs) = watch(machine, case, boot, root)?;
        let log = lab.join("output").join(format!("{}-{}.txt", case.file_name(), all.len() + 1));
        write(&log, &outputs)?;
        all.push(seen.about(&boot.expect, &outputs));
        shell(&boot.after, &variables)?;
    }
    // What a case did to the network ends with it.
    let restore = format!("ip -n {NETWORK} route flush type prohibit");
    shell(&restore, &[])?;
    Ok(all)
}

/// Leaves custom data for cloud-init's data source `NoCloud`.
fn seed(case: &Case, root: &Path) -> Result<(), Failed> {
    let document = match case.form() {
        None => case.script(),
        Some(form) => {
            let boundary = Boundary::from_random([7; 30]);
            let config = case.config();
            let data = CustomData::render(form, config.as_bytes(), &Features::default(), &boundary)
                .map_err(|error| Failed(error.to_string()))?;
            String::from_utf8_lossy(data.expose_raw()).into_owned()
        }
    };
    let seed = root.join("var/lib/cloud/seed/nocloud");
    leave(&seed.join("user-data"), &document)?;
    leave(&seed.join("meta-data"), "instance-id: node-1\nlocal-hostname: aks-pool-1\n")?;
    leave(&root.join("etc/resolv.conf"), "nameserver 10.224.0.1\n")
}

/// Follows one boot to its end, and returns what was seen and everything that was printed.
fn watch(
    mut machine: Machine,
    case: &Case,
    boot: &Boot,
    root: &Path,
) -> Result<(Observed, String), Failed> {
    if let Some(interrupt) = boot.interrupt {
        let is_there = eventually(|| root.join(MIDDLE).exists() || !machine.runs());
        if !is_there || !machine.runs() {
            machine.cut_power()?;
            return Err(Failed(format!("{}: the run did not get to its middle", case.name)));
        }
        match interrupt {
            Interrupt::PowerCut => {
                machine.cut_power()?;
                return Ok((of_disk(root), String::new()));
            }
            Interrupt::Poweroff => {
                machine.power_off()?;
                return Ok((of_disk(root), logs(root)));
            }
            Interrupt::KillAgent => machine.enter(KILL_AGENT, &[])?,
            Interrupt::KillAll => machine.enter(KILL_ALL, &[])?,
            Interrupt::StopUnit => {
                machine.enter("systemctl stop aks-node-controller.service", &[])?
            }
        };
    }
    let mut launcher = None;
    let ended = eventually(|| {
        launcher = launcher.or_else(|| closing_line(&machine));
        let is_started = launcher.is_some() || case.form().is_none();
        (is_started && machine.read("/run/lab/wait.code").is_some()) || !machine.runs()
    });
    let mut outputs = String::new();
    let mut add = |name: &str, text: &str| {
        let _ = writeln!(outputs, "--- {name}\n{text}");
    };
    if !ended {
        add("the lab", "the run did not end");
    }
    let inside = match &boot.inside {
        None => None,
        Some(text) => {
            let registry = case.registry.as_deref().unwrap_or_default();
            let identity = [("REGISTRY", registry), ("CLIENT", CLIENT), ("TENANT", TENANT)];
            let output = machine.enter(text, &identity)?;
            add("inside", &String::from_utf8_lossy(&output.stdout));
            add("inside, errors", &String::from_utf8_lossy(&output.stderr));
            output.status.code()
        }
    };
    let printed = machine.read("/run/lab/wait.json").unwrap_or_default();
    add("provision-wait", &printed);
    add("provision-wait, errors", &machine.read("/run/lab/wait.err").unwrap_or_default());
    add("logs", &logs(root));
    let journal = machine.enter("journalctl --no-pager --boot --output=short-precise", &[])?;
    add("journal", &String::from_utf8_lossy(&journal.stdout));
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap_or_default();
    let text = |name: &str| report[name].as_str();
    let reason = text("Diagnosis").and_then(|text| text.split(' ').next());
    let wait = machine.read("/run/lab/wait.code").and_then(|code| code.trim().parse().ok());
    let seen = Observed {
        launcher,
        wait,
        report: text("ExitCode").map(str::to_owned),
        cause: reason.map(str::to_owned),
        inside,
        ..of_disk(root)
    };
    machine.power_off()?;
    Ok((seen, outputs))
}

fn of_disk(root: &Path) -> Observed {
    let runs = fs::read_to_string(root.join(RUNS)).unwrap_or_default();
    Observed {
        runs: Some(runs.lines().count()),
        sentinel: Some(root.join(SENTINEL).exists()),
        previous: Some(root.join(PREVIOUS).exists()),
        ..Observed::default()
    }
}

fn logs(root: &Path) -> String {
    let names = ["cluster-provision.log", "aks-node-controller.log", "aks-node-controller.output"];
    let texts = names.map(|name| {
        let bytes = fs::read(root.join("var/log/azure").join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    texts.join("\n")
}

/// The exit code in the last line of this boot's launcher.
fn closing_line(machine: &Machine) -> Option<i32> {
    let journal =
        "journalctl --quiet --boot --output=cat --identifier=aks-node-controller-launcher";
    let printed = machine.enter(journal, &[]).ok()?;
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    printed.lines().find_map(|line| {
        let code = line.strip_prefix("aks-node-controller exited with code ");
        match (line, code) {
            ("aks-node-controller completed successfully", _) => Some(0),
            (_, Some(code)) => code.parse().ok(),
            _ => None,
        }
    })
}

const KILL_AGENT: &str = r#"kill -9 "$(python3 -c 'import json; print(json.load(open("/run/aks-node-controller/provision.json"))["pid"])')""#;

/// Kills the start script before its work, so that it writes no result.
const KILL_ALL: &str = r#"
pids=$(python3 -c 'import json; r = json.load(open("/run/aks-node-controller/provision.json")); print(r["pid"], r["scriptsPid"])')
kill -9 $pids
pkill -9 -x timeout
pkill -9 -f /opt/azure/containers/provision
pkill -9 -x sleep
true"#;

//! The project's chores, as `cargo xtask <chore>`.

mod audit;
mod axe;
mod bench;
mod chart;
mod codes;
mod fuzz;
mod lab;
mod lines;
mod mutants;
mod python;
mod release;
mod site;
mod soak;
mod step;
mod test;
mod upstream;

use std::process::ExitCode;

use step::{Failed, print};

const HELP: &str = "\
cargo xtask <chore>

Chores:
  test [--quick]
               build once, then run every test in two lanes; installs missing tools, runs without those that cannot be installed,
               and lists skipped tests (MOORING_ALLOW_SKIPS=0 fails instead)
               --quick skips slow suites and installs nothing
  oracles      install what judges the simulator: Microsoft's Python clients
  audit [--offline]
               licenses, sources, banned and duplicate crates and advisories, by cargo-deny
  codes        generate docs/CODES.md from the exit codes
  docs [--source URL]
               the documents as a site in target/docs/book, by mdBook, with a page per exit code and cause; --source says where
               the sources are, for links to them
  lab node [--only CASE] [--list] [--keep] [--install]
               boot nodes of real parts (systemd, cloud-init, oras, docker-registry) and compare what is seen with what is
               expected; needs root and Debian packages, which --install installs; --only runs the cases whose name has
               this text, --keep keeps their files
  fuzz [TARGET] [--runs N]
               any bytes against every reader of foreign input, 1,000,000 each by default
  soak [--seeds N] [--first SEED]
               fault schedules of the repair, a million by default
  mutants [OPTIONS OF cargo mutants]
               change the code, one small change at a time: a quick test must notice each; without --package, that of the repair;
               --shard 1/20 tries a part, --iterate only changes that were not noticed
  bench agent [--against BINARY]
               start, dry runs, preflight, waiting and wake-up of the shipped node agent on a node of real size: instructions,
               processor and wall time, memory; --against measures another agent side by side
  bench controller
               reads, time to the condition and memory of the controller, under virtual time
  lines        code lines of each crate, the product, the lab and the tests, without comments and blank lines
  chart        write the golden files of the rendered chart
  dist [--collect] [--source URL] [--registry REGISTRY] [--url URL]
               everything that is shipped, in target/dist: binaries, packages, image, chart, documents, bills of materials, sums;
               on a Mac the command line only. --source, --registry and --url say where sources, image and files will be;
               --collect builds nothing and describes the files that are there
  targets      build and start mooring and the agent for Linux on x86-64 and ARM64, static; type-check for Macs
  upstream PATH [--record]
               compare a checkout of AgentBaker with what we recorded of it (node config, exit codes, variables, launcher,
               behavior by file) and name each difference; --record takes the checksums of its files over
  help         print this text
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test", ref rest @ ..] => test::test(rest),
        ["oracles"] => python::install_oracles(),
        ["audit", ref rest @ ..] => audit::audit(rest),
        ["codes"] => codes::write(),
        ["docs", ref rest @ ..] => site::docs(rest),
        ["chart"] => chart::write(),
        ["lines"] => lines::lines(),
        ["dist", ref rest @ ..] => release::dist(rest),
        ["targets"] => release::targets::targets(),
        ["bench", "agent", ref rest @ ..] => bench::agent(rest),
        ["bench", "agent-on-node"] => bench::agent_on_node(),
        ["mutants", ref rest @ ..] => mutants::mutants(rest),
        ["soak", ref rest @ ..] => soak::soak(rest),
        ["bench", "controller"] => bench::controller(),
        ["lab", "node", ref rest @ ..] => lab::node(rest),
        ["upstream", ref rest @ ..] => upstream::upstream(rest),
        ["fuzz", ref rest @ ..] => fuzz::fuzz(rest),
        ["help" | "--help" | "-h"] => {
            print(HELP);
            Ok(())
        }
        [] => Err(Failed(format!("which chore?\n\n{HELP}"))),
        _ => Err(Failed(format!(
            "unknown chore `{}`\nhint: `cargo xtask help` lists them",
            words.join(" ")
        ))),
    };
    done.map_or_else(|failed| failed.report(), |()| ExitCode::SUCCESS)
}

//! Arguments of `mooring finalizers`.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;
use mooring_finalizers::checks::OPERATOR_GONE;

use crate::arguments::CLUSTER_HEADING;
use crate::output::{AnswerFormat, PlanFormat};
use crate::workflows::runs::{ApprovalArguments, JournalArgument, ReadLimit, repeated_flags};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct FinalizersArguments {
    #[command(subcommand)]
    pub(crate) command: FinalizersCommand,
}

const HELP: &str = "\
Custom resources of an uninstalled operator keep finalizers that no controller
processes, and block the deletion of namespaces and of the cluster. This command
removes them, with the other resources of the operator:

  mooring finalizers plan     show what would be removed (read-only)
  mooring finalizers apply    prompt for CLUSTER/PROFILE, then remove
  mooring finalizers resume   continue an interrupted run, on any host
  mooring finalizers status   show the last run; `-w` follows it (read-only)

The profile comes from the command line at every command. `resume` creates a new
plan from live state, which is approved as in `apply`. An approval
(`--plan-hash`) is for one plan and expires after an hour.

Finalizers are removed only if the profile lists them, only from objects that
are being deleted, only if the operator is not running, and only if the object
is unchanged; a backup of each is saved to the journal first. A CRD is deleted
only if it is known to have no objects. Objects are deleted by uid, and only
objects of the approved plan are changed.

The check operator-gone requires:
- no running Deployment, StatefulSet or DaemonSet of the operator
- no Lease renewed within 5m
- no write by its field manager and no event within 24h
- no webhook for its groups with ready endpoints
- no group of a managed add-on (Karpenter of AKS node auto-provisioning, Azure
  add-ons), and no live objects of Cluster API or cert-manager
Failed reads block. `--override operator-gone=REASON` is part of the plan hash.

With the namespace goes everything in it. The check namespace-contents lists it
all and blocks if the plan does not name an object: what is not part of the
release or controlled by an object of the plan. `--override secrets/x=REASON`
names one. What Kubernetes writes into every namespace does not count.

Examples:
  mooring finalizers plan                 built-in profile package-operator
  mooring finalizers plan --profile my-operator.yaml -o json
  mooring finalizers plan --group example.com --namespace example-system \\
    --release example
  HASH=$(mooring finalizers plan -o json --kubeconfig FILE | jq -r .hash)
  mooring finalizers apply --yes --plan-hash \"$HASH\" --kubeconfig FILE
  mooring finalizers apply --scale-down   stop a running operator first
  mooring finalizers apply --best-effort  unattended: no prompts, exit 0
  mooring finalizers apply --dry-run      show the plan; write nothing
  mooring-lab sim --scenario retired-operator --kube-port 0 --state demo &
  . demo/env.sh; mooring finalizers plan

A profile (YAML): name, groups, finalizers (NAME or GROUP/*), namespace,
clusterRoleBindings, release: {name, namespace, resources: keep|delete}.

Exit codes (--best-effort has its own: 0, or 1 without a cluster):
  0  removed, or nothing to do (see -o json)
  1  objects remain, or a run stopped (status); status --exit-zero: 0
  2  usage error
  3  I/O or API error
  4  blocked by a check
  5  interrupted; can be resumed";

#[derive(Debug, Subcommand)]
pub(crate) enum FinalizersCommand {
    /// Show what `apply` would remove, including dependents (read-only)
    ///
    /// Exits with 4 if a check would block `apply`, for example because the operator is running, and with 3 if something
    /// could not be read.
    Plan {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        policy: PolicyArguments,
        #[command(flatten)]
        limit: ReadLimit,
        #[command(flatten)]
        output: PlanOutput,
    },
    /// Remove the resources of the operator
    ///
    /// Ctrl-C stops at the next safe point; `resume` continues.
    Apply(RunArguments),
    /// Continue an unfinished run with a new plan, on any host
    ///
    /// The plan is created from live state and approved as in `apply`. Only backoff, skipped objects and backups of the
    /// journal are used; a journal with another profile is rejected.
    Resume(RunArguments),
    /// Show the status of the last run and what remains (read-only)
    ///
    /// Exits with 0 if the run is finished or running, and with 1 if it stopped or objects remain.
    Status {
        #[command(flatten)]
        target: TargetArguments,
        /// Follow the run; `q` or Ctrl-C ends it
        ///
        /// A terminal is redrawn, a pipe gets changed rows, and `-o json` one document per line.
        #[arg(short, long)]
        watch: bool,
        /// Exit with 0 regardless of the state of the run
        #[arg(long)]
        exit_zero: bool,
        #[command(flatten)]
        limit: ReadLimit,
        #[command(flatten)]
        output: RunOutput,
    },
}

/// Arguments of the commands that change the cluster.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    #[command(flatten)]
    pub(crate) policy: PolicyArguments,
    #[command(flatten)]
    pub(crate) approval: ApprovalArguments,
    /// Only show the plan; write nothing, not even the journal
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Deadline of the run, such as 10m; it can be resumed afterwards [env: PKO_CLEANUP_TIMEOUT] [default: 10m]
    ///
    /// With --dry-run, the limit of its reads, 2m by default.
    #[arg(long, value_name = "DURATION", value_parser = parse_timeout)]
    pub(crate) timeout: Option<SignedDuration>,
    #[command(flatten)]
    pub(crate) output: RunOutput,
}

#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// Resources of the operator: a built-in profile, or a YAML file
    #[arg(
        long,
        value_name = "NAME|FILE",
        default_value = DEFAULT_PROFILE,
        conflicts_with = "group"
    )]
    pub(crate) profile: String,
    /// Instead of a profile: an API group, with its subgroups and their finalizers
    #[arg(long, value_name = "SUFFIX")]
    pub(crate) group: Option<String>,
    /// With --group: namespace of the operator
    #[arg(long, value_name = "NAME", requires = "group")]
    pub(crate) namespace: Option<String>,
    /// With --group: ClusterRoleBinding of the operator (repeatable)
    #[arg(long = "binding", value_name = "NAME", requires = "group")]
    pub(crate) bindings: Vec<String>,
    /// With --group and --namespace: Helm release of the operator; its resources are kept
    #[arg(long, value_name = "NAME", requires = "group", requires = "namespace")]
    pub(crate) release: Option<String>,
    /// With --group: more finalizers that may be removed, in addition to those of the group (repeatable)
    #[arg(long = "finalizer", value_name = "NAME", requires = "group")]
    pub(crate) finalizers: Vec<String>,
    /// Path to the kubeconfig [default: $KUBECONFIG, ~/.kube/config or in-cluster]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [env: MOORING_CONTEXT] [default: the current context]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) context: Option<String>,
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
}

impl TargetArguments {
    /// Returns true if no flag selects an operator.
    pub(crate) fn is_default(&self) -> bool {
        self.group.is_none() && self.profile == DEFAULT_PROFILE
    }

    /// Returns the flags of a further command for the same profile and cluster.
    pub(crate) fn repeated(&self) -> String {
        let is_profile = self.group.is_none() && !self.is_default();
        let kubeconfig = self.kubeconfig.as_ref().map(|path| path.display().to_string());
        let bindings = self.bindings.iter().map(|name| ("binding", Some(name.as_str())));
        let finalizers = self.finalizers.iter().map(|name| ("finalizer", Some(name.as_str())));
        let profile = [
            ("group", self.group.as_deref()),
            ("profile", is_profile.then_some(self.profile.as_str())),
            ("namespace", self.namespace.as_deref()),
            ("release", self.release.as_deref()),
        ];
        let cluster = [("kubeconfig", kubeconfig.as_deref()), ("context", self.context.as_deref())];
        let flags = profile.into_iter().chain(bindings).chain(finalizers).chain(cluster);
        repeated_flags(flags) + &self.journal.repeated()
    }
}

const DEFAULT_PROFILE: &str = "package-operator";

#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// If the operator is running: wait for its teardown, then scale it to zero
    #[arg(long)]
    pub(crate) scale_down: bool,
    /// Run unattended: no prompts, exit with 0 regardless of what remains
    ///
    /// Continues an unfinished run and skips what cannot be read. Its exit codes are its own: 0, also if a check blocks or
    /// objects remain, and 1 if the cluster cannot be reached. Overrides no check.
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Override the check operator-gone, or name an object that is deleted with the namespace (secrets/x=REASON); never with
    /// --best-effort
    #[arg(long = "override", value_name = "CHECK|RESOURCE/NAME=REASON", conflicts_with = "best_effort", value_parser = parse_override)]
    pub(crate) overrides: Vec<Override>,
}

/// A check, or an object of the namespace that is deleted with it, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Override {
    pub(crate) what: String,
    pub(crate) reason: String,
}

fn parse_override(text: &str) -> Result<Override, String> {
    let is_known = |what: &str| what == OPERATOR_GONE || what.contains('/');
    match text.split_once('=') {
        Some((what, reason)) if is_known(what) && !reason.trim().is_empty() => {
            Ok(Override { what: what.to_owned(), reason: reason.trim().to_owned() })
        }
        Some((what, _)) if !is_known(what) => Err(format!(
            "only {OPERATOR_GONE} and objects of the namespace (RESOURCE/NAME) can be overridden"
        )),
        _ => Err(format!("requires a check and a reason: {OPERATOR_GONE}=REASON")),
    }
}

/// Parses a duration as Go writes it, such as `2m30s`.
pub(crate) fn parse_timeout(text: &str) -> Result<SignedDuration, &'static str> {
    mooring_agent::parse_duration(text.trim())
        .and_then(|duration| SignedDuration::try_from(duration).ok())
        .ok_or("must be a duration such as 10m or 90s")
}

pub(crate) const PLAN: &str = "mooring.finalizers.plan/v1";
pub(crate) const RUN: &str = "mooring.finalizers.run/v1";

const PLAN_FORMATS: [&str; 4] = [
    "Human-readable steps and checks",
    "Every step, target and check, and the whole hash",
    "JSON, schema mooring.finalizers.plan/v1",
    "Objects with finalizers for kubectl, one per line",
];
const RUN_FORMATS: [&str; 4] = [
    "Human-readable table",
    "Table with every column, and every step",
    "JSON, schema mooring.finalizers.run/v1",
    "Profiles of the runs, one per line",
];

#[derive(Debug, Clone, Args)]
pub(crate) struct PlanOutput {
    /// Output format
    #[arg(short, long, value_parser = PlanFormat::described(PLAN_FORMATS), default_value = "table")]
    pub(crate) output: PlanFormat,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunOutput {
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        target: TargetArguments,
    }

    #[test]
    fn flags_are_repeated_for_a_further_command() {
        let repeated =
            |words: &[&str]| Flags::parse_from([&["x"], words].concat()).target.repeated();
        assert_eq!(repeated(&[]), "");
        assert_eq!(repeated(&["--profile", "a.yaml"]), " --profile a.yaml");
        let words = " --group g --namespace n --release r --binding b --finalizer f/x --kubeconfig /k --context c --journal configmap/j";
        let list: Vec<&str> = words.split_whitespace().collect();
        assert_eq!(repeated(&list), words);
    }

    #[test]
    fn override_accepts_only_operator_gone_and_objects_with_a_reason() {
        for what in [OPERATOR_GONE, "secrets/x", "widgets.example.com/y"] {
            let (what, reason) = (what.to_owned(), "moved to a=b".to_owned());
            let text = format!("{what}={reason}");
            assert_eq!(parse_override(&text), Ok(Override { what, reason }));
        }
        for bad in [
            "operator-gone",
            "operator-gone=",
            "operator-gone= ",
            "secrets/x",
            "secrets/x=",
            "objects-known=x",
            "cluster-identity=x",
        ] {
            assert!(parse_override(bad).is_err(), "{bad}");
        }
    }
}

//! What `mooring repair` can be told.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use mooring_repair::settings::VersionPolicy;
use mooring_workflow::approval::ApprovalToken;

use crate::cluster_args::ClusterName;
use crate::runs::{Approval, JournalArgument};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true, after_help = HELP)]
pub(crate) struct RepairArguments {
    /// Be one step of a pipeline: all from environment variables, no questions, exit 0 for done or nothing to
    /// do and 1 for an error, 60 minutes overall
    #[arg(long)]
    pub(crate) pipeline: bool,
    /// With --pipeline: plan only; DRY_RUN=true does the same
    #[arg(long, requires = "pipeline")]
    pub(crate) dry_run: bool,
    /// With --pipeline: the Kubernetes version of the new nodes, the one they have or the control plane's
    #[arg(long, value_enum, requires = "pipeline", default_value_t = KubernetesVersion::ControlPlane)]
    pub(crate) kubernetes_version: KubernetesVersion,
    /// With --pipeline: the namespace of the journal [default: mooring-system]
    #[arg(long, value_name = "NAME", requires = "pipeline")]
    pub(crate) namespace: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<RepairCommand>,
}

const HELP: &str = "\
How a repair goes:
  mooring repair detect            look: five guards, each pass, fail or unknown; changes nothing
  mooring repair plan              show every step, risk and the plan's hash; changes nothing
  mooring repair apply             ask for CLUSTER/POOL, then rebuild the pool
  mooring repair resume            go on after a crash, a time-out or Ctrl-C, on any machine
  mooring repair status            where it stands, from the journal
  mooring repair abort             undo what can be undone

Unattended:
  HASH=$(mooring repair plan -o json | jq -r .hash)      # valid for one hour
  mooring repair apply --yes --plan-hash \"$HASH\"
  mooring repair resume --yes --plan-hash \"$HASH\"
  CLUSTER_NAME=… RESOURCE_GROUP=… SUBSCRIPTION_ID=… mooring repair --pipeline

A kill at any instant loses nothing: every intent is in the journal before its effect. Variables
of --pipeline: CLUSTER_NAME, RESOURCE_GROUP, SUBSCRIPTION_ID, NRP_FAIL_THRESHOLD (5),
NRP_FAIL_WINDOW_MIN (360), MOORING_SIGNATURES, DRY_RUN. It pins the new nodes to the control plane's
Kubernetes version; the other commands keep the pool's (--kubernetes-version). A cluster that does
not exist is exit 3; --pipeline alone takes it for a greenfield rollout and exits with 0.

DRY_RUN counts for apply, resume, abort and --pipeline: true, 1, yes, on, y or t is a dry run;
false, 0, no, off, n, f or empty is none; any other value is exit 2.

Checks that --override accepts, each with a reason that is recorded: missing-nodes, failing-writes,
cluster-state, other-pools, pool-state (detect); quota, vm-size, subnet, pdb, pool-limit,
recreations, tolerations, permissions, locks, deny-assignments (plan); ip-addresses, workloads,
other-operation (during a run). The former names size, budgets, addresses and placement are accepted
until the next release.

Exit codes: 0 done, healthy or nothing to do; 1 suspect or confirmed (detect); 2 usage; 3
something could not be read; 4 a guard refused; 5 interrupted but resumable; 6 Azure
asks to wait.";

#[derive(Debug, Subcommand)]
pub(crate) enum RepairCommand {
    /// Say whether the pool is wedged, and how that is known; changes nothing
    ///
    /// Exits with 0 if the pool is healthy, 1 if a wedge is suspected or confirmed, 3 if that is unknown or the
    /// cluster does not exist.
    Detect {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        judging: JudgingArguments,
        /// How to show it
        #[arg(short, long, value_enum, default_value_t = Plain::Table)]
        output: Plain,
    },
    /// Show what `apply` would do: steps, bodies, durations, risks, checks; changes nothing
    Plan {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        judging: JudgingArguments,
        #[command(flatten)]
        policies: PolicyArguments,
        /// How to show it
        #[arg(short, long, value_enum, default_value_t = Drawn::Table)]
        output: Drawn,
    },
    /// Rebuild the pool, step by step, from a journal
    ///
    /// Stops at the first guard that does not pass. Ctrl-C stops at the next safe point; `resume` goes on.
    Apply {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        judging: JudgingArguments,
        #[command(flatten)]
        policies: PolicyArguments,
        #[command(flatten)]
        approval: Approval,
        /// The same as `plan`; DRY_RUN=true does the same
        #[arg(long)]
        dry_run: bool,
        /// How to show the report; `mermaid` shows a plan only
        #[arg(short, long, value_enum, default_value_t = Drawn::Table)]
        output: Drawn,
    },
    /// Continue a run that was interrupted, on any machine
    ///
    /// The journal is evidence, not authority. While the temporary pool carries the approval of the run's plan, that
    /// plan is continued; before that a new plan is made from the live pool. `--yes` alone continues an approved plan
    /// only, and needs the flags and overrides that the run was begun with.
    Resume {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        judging: JudgingArguments,
        #[command(flatten)]
        policies: PolicyArguments,
        /// Ask nothing
        #[arg(long)]
        yes: bool,
        /// Hash that the run was begun with, or the hash of a new plan; replaces typing the name
        #[arg(long, value_name = "HASH")]
        plan_hash: Option<ApprovalToken>,
        /// Show the run that would be continued; DRY_RUN=true does the same
        #[arg(long)]
        dry_run: bool,
        /// How to show the report
        #[arg(short, long, value_enum, default_value_t = Written::Table)]
        output: Written,
    },
    /// Say where a run stands and what was done, from the journal; changes nothing
    Status {
        #[command(flatten)]
        target: TargetArguments,
        /// Earlier runs as well
        #[arg(long)]
        all: bool,
        /// How to show it
        #[arg(short, long, value_enum, default_value_t = Written::Table)]
        output: Written,
    },
    /// Undo what can be undone (uncordon, delete an unused temporary pool), and say what cannot
    Abort {
        #[command(flatten)]
        target: TargetArguments,
        /// Ask nothing
        #[arg(long)]
        yes: bool,
        /// Show the run that would be rolled back; DRY_RUN=true does the same
        #[arg(long)]
        dry_run: bool,
        /// How to show the report
        #[arg(short, long, value_enum, default_value_t = Written::Table)]
        output: Written,
    },
}

/// Which pool, and where its journal is.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    #[command(flatten)]
    pub(crate) name: ClusterName,
    /// The pool's name
    #[arg(long, value_name = "NAME", default_value = "system", value_parser = pool_name)]
    pub(crate) pool: String,
    /// Reach the Kubernetes API by this file instead of Azure's credentials (KUBECONFIG is ignored: it is of
    /// whatever cluster was worked on last)
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The namespace of the journal [default: mooring-system]
    #[arg(long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
}

/// A name that AKS could have given: small letters and digits, a letter first, twelve at most.
fn pool_name(text: &str) -> Result<String, String> {
    let letter_first = text.starts_with(|first: char| first.is_ascii_lowercase());
    let small = text.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit());
    if letter_first && small && text.len() <= 12 {
        return Ok(text.to_owned());
    }
    Err("a pool's name has 1 to 12 small letters and digits and begins with a letter".to_owned())
}

/// What counts as wedged.
#[derive(Debug, Args)]
pub(crate) struct JudgingArguments {
    /// How many operations must have failed, with none that succeeded since [env: NRP_FAIL_THRESHOLD]
    /// [default: 5]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) fail_threshold: Option<String>,
    /// Within how many minutes; AKS retries about every three, and the activity log is up to 20 late
    /// [env: NRP_FAIL_WINDOW_MIN] [default: 360]
    #[arg(long, value_name = "MINUTES")]
    pub(crate) fail_window: Option<String>,
    /// YAML file with the errors and direct checks that define a wedge; replaces the built-in list
    /// [env: MOORING_SIGNATURES]
    #[arg(long, value_name = "FILE")]
    pub(crate) signatures: Option<String>,
    /// States beside Failed in which the pool counts as wedged: Canceled, Updating, Upgrading
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    pub(crate) wedge_states: Vec<String>,
    /// Go on in spite of one guard or proof, for a reason that is recorded
    #[arg(long = "override", value_name = "GUARD=REASON")]
    pub(crate) overrides: Vec<String>,
}

/// How the pool is rebuilt.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// The Kubernetes version of the new nodes: the one they have, or the control plane's
    #[arg(long, value_enum, default_value_t = KubernetesVersion::Keep)]
    pub(crate) kubernetes_version: KubernetesVersion,
    /// What to do when a disruption budget holds a pod: wait for it, or stop at once
    /// (`--override pdb=REASON` goes over it)
    #[arg(long, value_enum, default_value_t = Budgets::Wait)]
    pub(crate) budgets: Budgets,
    /// Minutes after which the run stops where it can be resumed
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(crate) deadline: u32,
    /// Seconds between two looks at something that is under way
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub(crate) poll: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KubernetesVersion {
    Keep,
    ControlPlane,
}

impl From<KubernetesVersion> for VersionPolicy {
    fn from(version: KubernetesVersion) -> Self {
        match version {
            KubernetesVersion::Keep => Self::Keep,
            KubernetesVersion::ControlPlane => Self::ControlPlane,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Budgets {
    Wait,
    Stop,
}

/// How a detection is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plain {
    /// For a terminal
    Table,
    /// mooring.repair/v1
    Json,
}

/// How a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Written {
    /// For a terminal
    Table,
    /// mooring.repair/v1
    Json,
    /// For a ticket
    Markdown,
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawn {
    /// For a terminal
    Table,
    /// mooring.repair.plan/v1
    Json,
    /// For a ticket
    Markdown,
    /// A diagram
    Mermaid,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_everything_that_can_be_overridden() {
        for name in mooring_repair::checks::overridable() {
            assert!(HELP.contains(name), "{name}");
        }
    }
}

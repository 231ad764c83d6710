//! What `mooring finalizers` can be told.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::runs::{Approval, JournalArgument};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct FinalizersArguments {
    #[command(subcommand)]
    pub(crate) command: FinalizersCommand,
}

const HELP: &str = "\
An operator was uninstalled; its custom resources keep finalizers that nobody processes any more,
and block namespaces and the deletion of the cluster. This removes them, and what else belongs to
the operator:

  mooring finalizers plan       show what would be deleted, stripped and go along; changes nothing
  mooring finalizers apply      ask for CLUSTER/PROFILE, then do it, step by step, with a journal
  mooring finalizers resume     continue after a crash, a timeout or Ctrl-C, on any machine
  mooring finalizers status     show the state of the run, from the journal

The profile comes from the command line at every command. `resume` makes a new plan from live
state, which is approved as in `apply`. An approval (`--plan-hash`) is for one plan and expires
after an hour.

Finalizers are removed only if the profile lists them, only from objects that are being deleted,
only while the operator is shown to be gone, and only if the object is still as it was read; a
backup of each is in the journal first. A CRD is deleted only if it is known that no object of it
is left. Every deletion names the object by uid, and only objects of the approved plan are changed.

The check operator-gone needs all of: no running Deployment, StatefulSet or DaemonSet of the
operator; no Lease of it renewed within 5m; no write by its field manager and no event of it
within 24h; no webhook for its groups that answers; no group of a managed add-on (Karpenter of
AKS node auto-provisioning, Azure add-ons) and no live objects of Cluster API or cert-manager.
What cannot be read blocks. `--override operator-gone=REASON` is part of the plan's hash.

Examples:
  mooring finalizers plan                         the built-in profile package-operator
  mooring finalizers plan --profile my-operator.yaml -o json
  mooring finalizers plan --group example.com --namespace example-system --release example
  mooring finalizers apply --yes --plan-hash \"$(mooring finalizers plan -o json | jq -r .hash)\"
  mooring finalizers apply --scale-down           an operator that runs: its own teardown first
  mooring finalizers apply --best-effort          one step of a pipeline: no questions, exit 0
  mooring finalizers apply --dry-run              show what would be done; writes nothing
  mooring sim --scenario retired-operator --kube-port 0 --state demo &
  . demo/env.sh; mooring finalizers plan

A profile (YAML): name, groups, finalizers (NAME or GROUP/*), namespace, clusterRoleBindings,
release: {name, namespace, resources: keep|delete}.

Exit codes: 0 clean or removed (-o json says which); 1 something is left; 2 usage; 3 something
could not be read; 4 refused; 5 interrupted but resumable.";

#[derive(Debug, Subcommand)]
pub(crate) enum FinalizersCommand {
    /// Show what `apply` would do, and what would go along; changes nothing
    ///
    /// Exits with 4 if `apply` would refuse, for example since the operator still runs, and with 3 if something could
    /// not be read.
    Plan {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        policy: PolicyArguments,
        /// How to show it
        #[arg(short, long, value_enum, default_value_t = Drawn::Table)]
        output: Drawn,
    },
    /// Remove it, step by step, from a journal
    ///
    /// Ctrl-C stops at the next safe point; `resume` goes on.
    Apply(RunArguments),
    /// Continue an unfinished run with a new plan, on any machine
    ///
    /// The plan is made from live state and approved as in `apply`. Of the journal, only back-off, skipped objects and
    /// backups are used; a journal with another profile is rejected.
    Resume(RunArguments),
    /// Say where a run stands, what was done and what is left, from the journal; changes nothing
    Status {
        #[command(flatten)]
        target: TargetArguments,
        /// How to show it
        #[arg(short, long, value_enum, default_value_t = Written::Table)]
        output: Written,
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
    pub(crate) approval: Approval,
    /// Show the plan and write nothing, not even the journal
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// When the run stops where it can be resumed, such as 10m [env: PKO_CLEANUP_TIMEOUT] [default: 10m]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// How to show the report
    #[arg(short, long, value_enum, default_value_t = Written::Table)]
    pub(crate) output: Written,
}

/// Which operator, where it is, and where its journal is.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// What belongs to the operator: a built-in profile, or a YAML file
    #[arg(
        long,
        value_name = "NAME|FILE",
        default_value = "package-operator",
        conflicts_with = "group"
    )]
    pub(crate) profile: String,
    /// Instead of a profile: an API group, with its subgroups and their finalizers
    #[arg(long, value_name = "SUFFIX")]
    pub(crate) group: Option<String>,
    /// With --group: the operator's namespace
    #[arg(long, value_name = "NAME", requires = "group")]
    pub(crate) namespace: Option<String>,
    /// With --group: a ClusterRoleBinding of the operator; may be said several times
    #[arg(long = "binding", value_name = "NAME", requires = "group")]
    pub(crate) bindings: Vec<String>,
    /// With --group and --namespace: the Helm release that installed the operator; what it made stays
    #[arg(long, value_name = "NAME", requires = "group", requires = "namespace")]
    pub(crate) release: Option<String>,
    /// With --group: a finalizer that may be removed beside those of the group; may be said several times
    #[arg(long = "finalizer", value_name = "NAME", requires = "group")]
    pub(crate) finalizers: Vec<String>,
    /// The kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod's service account
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
}

/// How it is removed.
#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// If the operator still runs: give it time for its own teardown, then scale it to zero
    #[arg(long)]
    pub(crate) scale_down: bool,
    /// Be one step of a pipeline: ask nothing, continue what an earlier run left, leave alone what cannot be read,
    /// and exit with 0 whatever is left, unless there is no way to the cluster (1). Overrides no check
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Act although a check does not pass; only operator-gone can be overridden, never with --best-effort
    #[arg(long = "override", value_name = "CHECK=REASON", conflicts_with = "best_effort")]
    pub(crate) overrides: Vec<String>,
}

/// How a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Written {
    /// For a terminal
    Table,
    /// mooring.finalizers/v1
    Json,
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawn {
    /// For a terminal
    Table,
    /// mooring.finalizers.plan/v1
    Json,
    /// A diagram
    Mermaid,
}

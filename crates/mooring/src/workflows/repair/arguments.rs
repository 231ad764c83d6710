//! Arguments of `mooring repair`.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use mooring_repair::settings::{BudgetPolicy, SignPolicy, VersionPolicy};
use mooring_workflow::approval::ApprovalToken;

use crate::arguments::{CLUSTER_HEADING, ClusterName, parse_duration};
use crate::output::{AnswerFormat, PlanFormat};
use crate::process::env_var;
use crate::workflows::runs::{
    ApprovalArguments, DryRunLimit, JournalArgument, ReadLimit, repeated_flags,
};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true, after_help = HELP)]
pub(crate) struct RepairArguments {
    /// Run unattended: read settings from environment variables, exit 0 or 1, time out after 60 minutes
    ///
    /// Exits with 0 if the pool is repaired, or if a check does not pass or cannot be evaluated: a warning names it, and
    /// nothing is changed. Exits with 1 if a repair that was started did not finish, for wrong settings or credentials,
    /// and if all checks pass and the run cannot be recorded or locked; only an invalid DRY_RUN is 2.
    #[arg(long)]
    pub(crate) pipeline: bool,
    /// With --pipeline: exit with 1 if a check cannot be evaluated
    #[arg(long, requires = "pipeline")]
    pub(crate) fail_on_unknown: bool,
    /// With --pipeline: time to wait for a missing permission in Azure that was just granted, at most 1m
    #[arg(long, value_name = "DURATION", requires = "pipeline", default_value = "1m", value_parser = parse_duration)]
    pub(crate) permission_timeout: Duration,
    /// With --pipeline: plan only; DRY_RUN=true does the same
    #[arg(long, requires = "pipeline")]
    pub(crate) dry_run: bool,
    /// With --pipeline: Kubernetes version of the new nodes, current or that of the control plane
    #[arg(long, value_parser = version_policy(), requires = "pipeline", default_value = "control-plane")]
    pub(crate) kubernetes_version: VersionPolicy,
    /// With --pipeline: namespace in which runs are stored [default: mooring-system]
    #[arg(long, value_name = "NAME", requires = "pipeline")]
    pub(crate) namespace: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<RepairCommand>,
}

const HELP: &str = "\
Steps of a repair:
  mooring repair detect   check whether the pool is wedged (read-only)
  mooring repair plan     show steps, risks, checks and the hash (read-only)
  mooring repair apply    prompt for CLUSTER/POOL, then rebuild the pool
  mooring repair resume   continue an interrupted run, on any host
  mooring repair status   show the runs of all pools; `-w` follows them (read-only)
  mooring repair abort    roll back an unfinished run as far as possible

Unattended:
  HASH=$(mooring repair plan -o json | jq -r .hash)      # valid for one hour
  mooring repair apply --yes --plan-hash \"$HASH\"
  mooring repair resume --yes --plan-hash \"$HASH\"
  CLUSTER_NAME=… RESOURCE_GROUP=… SUBSCRIPTION_ID=… mooring repair --pipeline

A kill at any instant loses nothing: every intent is in the journal before its
effect.

Variables of --pipeline: CLUSTER_NAME, RESOURCE_GROUP, SUBSCRIPTION_ID,
NRP_FAIL_THRESHOLD (5), NRP_FAIL_WINDOW_MIN (360), MOORING_SIGNS,
MOORING_SIGNATURES, DRY_RUN.
It pins the new nodes to the Kubernetes version of the control plane; the other
commands keep that of the pool (--kubernetes-version). A cluster that does not
exist is exit 3; only --pipeline treats it as a greenfield rollout and exits
with 0.

DRY_RUN applies to apply, resume, abort and --pipeline: true, 1, yes, on, y or t
is a dry run; false, 0, no, off, n, f or empty is not; other values are exit 2.

Checks that --override accepts, each with a reason that is recorded:
  detect  missing-nodes, failing-writes, cluster-state, other-pools, pool-state
  plan    quota, vm-size, subnet, pdb, pool-limit, recreations, tolerations,
          permissions, locks, deny-assignments
  run     ip-addresses, workloads, other-operation

Exit codes (--pipeline has its own: 0 repaired or nothing changed, 1 not
finished or not possible):
  0  success, not wedged, or nothing to do
  1  wedge suspected or certain (detect), a run stopped (status); --exit-zero: 0
  2  usage error
  3  I/O or API error
  4  blocked by a check
  5  interrupted; can be resumed
  6  throttled by Azure";

pub(crate) const DETECTION: &str = "mooring.repair.detection/v1";
pub(crate) const PLAN: &str = "mooring.repair.plan/v1";
pub(crate) const RUN: &str = "mooring.repair.run/v1";

const DETECT_FORMATS: [&str; 4] = [
    "Human-readable verdict and signs",
    "Every pool, with the names of the checks",
    "JSON, schema mooring.repair.detection/v1",
    "Pools that are wedged or suspected, one per line",
];
const RUN_FORMATS: [&str; 4] = [
    "Human-readable table",
    "Table with every column, and every step",
    "JSON, schema mooring.repair.run/v1",
    "Pools of the runs, one per line",
];
const PLAN_FORMATS: [&str; 4] = [
    "Human-readable steps and checks",
    "Every step, check, body, and the whole hash",
    "JSON, schema mooring.repair.plan/v1",
    "Pool of the plan",
];

#[derive(Debug, Subcommand)]
pub(crate) enum RepairCommand {
    /// Check whether pools are wedged, with evidence (read-only)
    ///
    /// Without --pool, all pools of the cluster are checked. Exits with 0 if no pool is wedged, 1 if a wedge is suspected or
    /// certain, 3 if it is unknown, something could not be read or the cluster does not exist.
    Detect {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        detection: DetectionArguments,
        #[command(flatten)]
        limit: ReadLimit,
        /// Output format
        #[arg(short, long, value_parser = AnswerFormat::described(DETECT_FORMATS), default_value = "table")]
        output: AnswerFormat,
        /// Exit with 0 regardless of the verdict
        #[arg(long)]
        exit_zero: bool,
    },
    /// Show the steps, bodies, durations, risks and checks of `apply` (read-only)
    ///
    /// Exits with 3 if something could not be read; the plan names it, and `apply` reads it again.
    Plan {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        detection: DetectionArguments,
        #[command(flatten)]
        policies: PolicyArguments,
        #[command(flatten)]
        limit: ReadLimit,
        /// Output format
        #[arg(short, long, value_parser = PlanFormat::described(PLAN_FORMATS), default_value = "table")]
        output: PlanFormat,
    },
    /// Rebuild the pool
    ///
    /// Stops at the first check that fails. Ctrl-C stops at the next safe point; `resume` continues.
    Apply {
        #[command(flatten)]
        target: TargetArguments,
        #[command(flatten)]
        detection: DetectionArguments,
        #[command(flatten)]
        policies: PolicyArguments,
        #[command(flatten)]
        approval: ApprovalArguments,
        /// Only show the plan [env: DRY_RUN]
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        limit: DryRunLimit,
        /// Output format; `mermaid` with --dry-run only
        #[arg(short, long, value_parser = PlanFormat::described(PLAN_FORMATS), default_value = "table")]
        output: PlanFormat,
    },
    /// Continue an interrupted run, on any host
    ///
    /// The journal is evidence, not authority. While the temporary pool has the approval of the run's plan, that plan is
    /// continued; before that, a new plan is created from the live pool. `--yes` alone continues only an approved plan,
    /// and requires the flags and overrides that the run was started with.
    Resume(ResumeArguments),
    /// Show the last run of every pool, or of one (read-only)
    ///
    /// Exits with 0 if every run is finished or running, and with 1 if a run stopped and can be resumed.
    Status(StatusArguments),
    /// Roll back an unfinished run as far as possible
    Abort {
        #[command(flatten)]
        target: TargetArguments,
        /// Skip the confirmation prompt
        #[arg(long)]
        yes: bool,
        /// Show the run that would be rolled back; DRY_RUN=true does the same
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        limit: DryRunLimit,
        /// Output format
        #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
        output: AnswerFormat,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    #[command(flatten)]
    pub(crate) detection: DetectionArguments,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
    /// Skip the confirmation prompt
    #[arg(long)]
    pub(crate) yes: bool,
    /// Hash that the run was started with, or the hash of a new plan; replaces typing the name
    #[arg(long, value_name = "HASH")]
    pub(crate) plan_hash: Option<ApprovalToken>,
    /// Show the run that would be continued; DRY_RUN=true does the same
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) limit: DryRunLimit,
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    /// Include earlier runs
    #[arg(long)]
    pub(crate) all: bool,
    /// Follow the runs; `q` or Ctrl-C ends it
    ///
    /// A terminal is redrawn, a pipe gets changed rows, and `-o json` one document per line.
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Exit with 0 regardless of the state of the runs
    #[arg(long)]
    pub(crate) exit_zero: bool,
    #[command(flatten)]
    pub(crate) limit: ReadLimit,
    /// Output format
    #[arg(short, long, value_parser = AnswerFormat::described(RUN_FORMATS), default_value = "table")]
    pub(crate) output: AnswerFormat,
}

#[derive(Debug, Default, Args)]
pub(crate) struct TargetArguments {
    #[command(flatten)]
    pub(crate) name: ClusterName,
    /// Name of the node pool [default: every pool for `detect` and `status`, system for the other commands]
    #[arg(long, value_name = "NAME", value_parser = pool_name)]
    pub(crate) pool: Option<String>,
    /// Path to a kubeconfig; without --context, its credentials are used instead of those from Azure
    ///
    /// Its cluster must be the one in Azure. KUBECONFIG is ignored if flags or variables name the cluster.
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig whose AKS cluster is used, found from its nodes [env: MOORING_CONTEXT]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Namespace of the journal [default: mooring-system]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
}

impl TargetArguments {
    pub(crate) fn pool(&self) -> &str {
        self.pool.as_deref().unwrap_or(DEFAULT_POOL)
    }

    /// Returns true if a flag or variable names a context.
    pub(crate) fn has_context(&self) -> bool {
        self.context.is_some() || env_var("MOORING_CONTEXT").is_some_and(|name| !name.is_empty())
    }

    /// Returns the flags of a further command on a pool of the same cluster.
    pub(crate) fn repeated(&self, pool: &str) -> String {
        let kubeconfig = self.kubeconfig.as_ref().map(|path| path.display().to_string());
        let flags = repeated_flags([
            ("pool", Some(pool)),
            ("subscription", self.name.subscription.as_deref()),
            ("resource-group", self.name.resource_group.as_deref()),
            ("cluster", self.name.cluster.as_deref()),
            ("namespace", self.namespace.as_deref()),
            ("context", self.context.as_deref()),
            ("kubeconfig", kubeconfig.as_deref()),
        ]);
        flags + &self.journal.repeated()
    }
}

pub(crate) const DEFAULT_POOL: &str = "system";

fn pool_name(text: &str) -> Result<String, String> {
    let letter_first = text.starts_with(|first: char| first.is_ascii_lowercase());
    let small = text.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit());
    if letter_first && small && text.len() <= 12 {
        return Ok(text.to_owned());
    }
    Err("pool names have 1–12 lowercase letters or digits and start with a letter".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct DetectionArguments {
    /// Failed writes required to report a wedge, with none that succeeded since [env: NRP_FAIL_THRESHOLD]
    /// [default: 5]
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) fail_threshold: Option<NonZeroU32>,
    /// Window of failed writes in minutes [env: NRP_FAIL_WINDOW_MIN] [default: 360]
    ///
    /// AKS retries about every 3 minutes, and the activity log is up to 20 minutes late.
    #[arg(long, value_name = "MINUTES", value_parser = positive)]
    pub(crate) fail_window: Option<NonZeroU32>,
    /// What shows that writes keep failing: `direct` for enough failed writes or live state that shows the same, `writes`
    /// for enough failed writes only [env: MOORING_SIGNS]
    /// [default: direct; writes if the threshold or the window is set]
    #[arg(long, value_name = "SIGNS", value_parser = sign_policy)]
    pub(crate) signs: Option<SignPolicy>,
    /// YAML file with the errors and direct checks that define a wedge; replaces the built-in list
    /// [env: MOORING_SIGNATURES]
    #[arg(long, value_name = "FILE")]
    pub(crate) signatures: Option<String>,
    /// More pool states that count as wedged, in addition to Failed: Canceled, Updating, Upgrading
    #[arg(long, value_name = "STATE,…", value_delimiter = ',')]
    pub(crate) wedge_states: Vec<String>,
    /// Override a failed check (repeatable); the reason is recorded
    #[arg(long = "override", value_name = "CHECK=REASON")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArguments {
    /// Kubernetes version of the new nodes: current, or that of the control plane
    #[arg(long, value_parser = version_policy(), default_value = "keep")]
    pub(crate) kubernetes_version: VersionPolicy,
    /// Policy for PDBs that block eviction: wait, or stop at once
    ///
    /// `--override pdb=REASON` deletes the pods instead.
    #[arg(long, value_parser = budget_policy(), default_value = "wait")]
    pub(crate) budgets: BudgetPolicy,
    /// Deadline of the run in minutes; it can be resumed afterwards
    #[arg(long, value_name = "MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(crate) deadline: u32,
    /// Polling interval in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=60))]
    pub(crate) poll: u32,
}

pub(crate) fn positive(text: &str) -> Result<NonZeroU32, &'static str> {
    text.parse().map_err(|_| "must be a whole number from 1 to 4294967295")
}

pub(crate) fn sign_policy(text: &str) -> Result<SignPolicy, &'static str> {
    let known = [SignPolicy::Direct, SignPolicy::Writes];
    known.into_iter().find(|policy| policy.flag() == text).ok_or("must be direct or writes")
}

fn version_policy() -> impl TypedValueParser<Value = VersionPolicy> {
    PossibleValuesParser::new(["keep", "control-plane"]).map(|name| match name.as_str() {
        "keep" => VersionPolicy::Keep,
        _ => VersionPolicy::ControlPlane,
    })
}

fn budget_policy() -> impl TypedValueParser<Value = BudgetPolicy> {
    PossibleValuesParser::new(["wait", "stop"]).map(|name| match name.as_str() {
        "wait" => BudgetPolicy::Wait,
        _ => BudgetPolicy::Stop,
    })
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
    fn pool_names_are_those_of_aks() {
        for name in ["a", "system", "p2", "abcdefghijkl"] {
            assert_eq!(pool_name(name).as_deref(), Ok(name));
        }
        for name in ["", "2p", "System", "a-b", "abcdefghijklm", "é"] {
            assert!(pool_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn flags_are_repeated_for_a_further_command() {
        let target = |words: &[&str]| Flags::parse_from([&["x"], words].concat()).target;
        assert_eq!(target(&[]).repeated("user"), " --pool user");
        assert_eq!((target(&[]).pool(), target(&["--pool", "user"]).pool()), ("system", "user"));
        let words = [
            "--subscription",
            "s",
            "--resource-group",
            "g",
            "--cluster",
            "c",
            "--namespace",
            "n",
            "--context",
            "a b",
            "--kubeconfig",
            "/k",
            "--journal",
            "configmap/n",
        ];
        let repeated = target(&words).repeated("user");
        let expected = " --pool user --subscription s --resource-group g --cluster c --namespace n --context 'a b' --kubeconfig /k --journal configmap/n";
        assert_eq!(repeated, expected);
    }

    #[test]
    fn help_lists_all_overridable_checks() {
        for name in mooring_repair::checks::overridable() {
            assert!(HELP.contains(name), "{name}");
        }
    }
}

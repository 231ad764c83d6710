//! The cluster and the operator of a command.

use std::rc::Rc;

use jiff::Timestamp;
use mooring_finalizers::commands::{Remover, SignedOut};
use mooring_finalizers::plan::Plan;
use mooring_finalizers::profile::Settings;
use mooring_k8s::kubeconfig::Connection;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::approval::ApprovalToken;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName};

use super::arguments::TargetArguments;
use super::target::{self, Change, ensure_one_cluster};
use crate::cluster::{connect, wait_for};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::process::build_runtime;
use crate::workflows::runs::{ReadLimit, Signals, write_screen};

const WAITING: &str = "waiting for the Kubernetes API";
const SERVICE: &str = "the Kubernetes API";

/// One operator of one cluster, with display names.
pub(super) struct FinalizerSession {
    pub(super) remover: Remover,
    pub(super) context: Option<String>,
    /// The context of a change, if it is protected.
    pub(super) protected: Option<String>,
    pub(super) cluster: Option<String>,
    pub(super) server: String,
    pub(super) profile: String,
    pub(super) groups: String,
    /// Flags of a further command.
    pub(super) flags: String,
    /// No flag selects the operator.
    pub(super) is_default: bool,
    pub(super) limit: Option<ReadLimit>,
}

impl FinalizerSession {
    /// Awaits reads. Prints what it waits for.
    pub(super) async fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        wait_for(WAITING, &ReadLimit::end(self.limit), work).await
    }

    /// Returns the cluster of the kubeconfig's context, or the API server's host if the name cannot be typed.
    pub(super) fn cluster(&self) -> &str {
        let typed =
            |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        self.cluster.as_deref().filter(typed).unwrap_or_else(|| {
            let host = self.server.split_once("://").map_or(self.server.as_str(), |(_, host)| host);
            host.rsplit_once(':').map_or(host, |(host, _)| host)
        })
    }

    /// Returns `CLUSTER/PROFILE`, which confirms a change.
    pub(super) fn typed_name(&self) -> String {
        format!("{}/{}", self.cluster(), self.profile)
    }

    /// Returns what a document says of the cluster and its source; a screen needs no further read. `uid` is known from a plan.
    pub(super) async fn about(
        &self,
        format: AnswerFormat,
        uid: Option<&str>,
    ) -> (ClusterIdentity, Vec<Source>) {
        if !format.is_document() {
            return (ClusterIdentity::default(), Vec::new());
        }
        let began = Timestamp::now();
        let read = match uid {
            Some(uid) => Some(uid.to_owned()),
            None => self.remover.uid().await,
        };
        let uid = read.filter(|uid| !uid.is_empty());
        let mut source = Source::new(SourceName::Cluster);
        let error = uid.is_none().then(|| "the uid of kube-system could not be read".to_owned());
        source.add(began, Timestamp::now(), error);
        let identity = ClusterIdentity {
            name: Some(self.cluster().to_owned()),
            id: None,
            context: self.context.clone(),
            server: Some(self.server.clone()),
            uid,
        };
        (identity, vec![source])
    }

    /// Creates a plan from live state, with the expiry of the approval if given.
    pub(super) async fn plan(&self, token: Option<&ApprovalToken>) -> Result<Plan, CommandFailure> {
        let expires = token.map_or_else(|| self.remover.expiry(), |token| token.expires);
        self.wait_for(self.remover.plan(expires)).await.map_err(signed_out)
    }

    /// Shows what a command changes, and where.
    pub(super) fn show_target(&self) {
        let mut screen = Screen::default();
        let what = Text::new("This removes the resources of ").bold(&self.profile);
        screen.marked(Mark::Warning, what.plain(format!(" ({}) from", self.groups)));
        screen.labeled(2, 10, "cluster", [Text::default().bold(self.cluster())]);
        screen.labeled(2, 10, "server", [Text::new(&self.server)]);
        write_screen(&screen);
    }

    pub(super) fn unreadable(&self, why: String) -> CommandFailure {
        if self.remover.is_signed_out() { signed_out(SignedOut) } else { CommandFailure::io(why) }
    }
}

pub(super) fn with_session(
    target: &TargetArguments,
    change: Change,
    limit: Option<ReadLimit>,
    settings: Settings,
    act: impl AsyncFnOnce(&FinalizerSession, Signals) -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    build_runtime()?.block_on(ReadLimit::apply(limit, SERVICE, async {
        let Connection { client, context, cluster, server } =
            connect::connect_kube(target.kubeconfig.as_deref(), target.context.as_ref()).await?;
        let (signals, stopped) = Signals::channel();
        let protected = target::protected(context.as_deref(), change)?;
        let one_cluster = ensure_one_cluster(&client, change);
        wait_for(WAITING, &ReadLimit::end(limit), one_cluster).await?;
        let client = mooring_k8s::Client::new(client);
        let session = FinalizerSession {
            profile: settings.profile.name.clone(),
            groups: settings.profile.groups.join(", "),
            remover: Remover::new(client, settings, Rc::new(Timestamp::now), stopped),
            context,
            protected,
            cluster,
            server,
            flags: target.repeated(),
            is_default: target.is_default(),
            limit,
        };
        act(&session, signals).await
    }))
}

/// Reports rejected credentials, which are not a missing permission.
fn signed_out(error: SignedOut) -> CommandFailure {
    CommandFailure::io(format!("{error}\n{}", connect::SIGN_IN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_credentials_have_a_hint_to_sign_in() {
        let failure = signed_out(SignedOut);
        assert!(failure.text().contains("rejected the credentials"), "{}", failure.text());
        assert!(failure.text().contains("\nhint: sign in again"), "{}", failure.text());
    }
}

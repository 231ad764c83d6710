//! Cases: named behaviors, in tables.

use futures::future::BoxFuture;

use crate::cluster::Cluster;

/// The two generations of the NodeClaim CRD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Conditions are a map by type.
    Map,
    /// Conditions are one value.
    Atomic,
}

impl Generation {
    /// Both exist in one cluster, so the older one has a separate group.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::Map => "karpenter.sh/v1",
            Self::Atomic => "legacy.karpenter.sh/v1",
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) area: &'static str,
    pub(crate) name: &'static str,
    pub(crate) generation: Generation,
    /// Runs once per generation.
    pub(crate) on_both: bool,
    /// Oldest minor version of Kubernetes that has it.
    pub(crate) since: u32,
    pub(crate) run: fn(Cluster) -> BoxFuture<'static, ()>,
}

impl Case {
    /// Returns area, behavior, and the CRD's generation if it matters.
    pub(crate) fn full_name(&self) -> String {
        let Self { area, name, .. } = self;
        match (self.on_both, self.generation) {
            (false, _) => format!("{area}::{name}"),
            (true, Generation::Map) => format!("{area}::{name}::map"),
            (true, Generation::Atomic) => format!("{area}::{name}::atomic"),
        }
    }
}

/// A module's table. `on_both` runs a case on both generations of `NodeClaim`; a number before a
/// name is the oldest minor version of Kubernetes that the case needs.
macro_rules! cases {
    ($area:literal: $($name:ident),* $(,)? $(; on_both: $($both:ident),* $(,)?)? $(; since $since:literal: $($new:ident),* $(,)?)?) => {
        pub(crate) fn cases() -> Vec<$crate::case::Case> {
            use $crate::case::{Case, Generation};
            #[allow(unused_mut, reason = "some tables have one part only")]
            let mut cases = vec![$(Case {
                area: $area,
                name: stringify!($name),
                generation: Generation::Map,
                on_both: false,
                since: 0,
                run: |cluster| Box::pin($name(cluster)),
            }),*];
            $($(for generation in [Generation::Map, Generation::Atomic] {
                cases.push(Case {
                    area: $area,
                    name: stringify!($both),
                    generation,
                    on_both: true,
                    since: 0,
                    run: |cluster| Box::pin($both(cluster)),
                });
            })*)?
            $($(cases.push(Case {
                area: $area,
                name: stringify!($new),
                generation: Generation::Map,
                on_both: false,
                since: $since,
                run: |cluster| Box::pin($new(cluster)),
            });)*)?
            cases
        }
    };
}
pub(crate) use cases;

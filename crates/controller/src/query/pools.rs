//! AKS node pools: scale sets, whose instances have the extension `vmssCSE`.

use mooring_arm::ResourceId;
use mooring_arm::calls::{ScaleSet, Vm};
use mooring_nodes::NodeReport;
use mooring_nodes::claim::Claim;
use mooring_nodes::claim::scope::Scope;

use super::why::{NodeQuery, QueryError};
use crate::observation::{Observation, VmObservation};

const POOL: &str = "aks-managed-poolName";

impl NodeQuery {
    /// Returns all instances of a pool, or the one with this number or host name. None if the pool does not exist.
    pub async fn instances(
        &self,
        pool: &str,
        instance: Option<&str>,
    ) -> Result<Vec<NodeReport>, QueryError> {
        let mut reports = Vec::new();
        let Scope { subscription, node_resource_group, .. } = &self.scope;
        for set in self.arm.scale_sets::<ScaleSet>(subscription, node_resource_group).await? {
            let own = set.tags.get(POOL).is_some_and(|name| name == pool);
            // A node's name begins with the name of its scale set.
            let holds =
                instance.is_none() && !set.name.is_empty() && pool.starts_with(set.name.as_str());
            let Some(id) = set.id.clone().filter(|_| own || holds) else { continue };
            let pool_name = set.tags.get(POOL).map(String::as_str);
            for one in self.arm.scale_set_vms::<Vm>(&id).await? {
                let host = host(&one);
                let number = one.instance_id.as_deref();
                let wanted = match instance {
                    Some(wanted) => number == Some(wanted) || host == wanted,
                    None => own || host == pool,
                };
                if wanted {
                    let joined = self.has_joined(&host).await?;
                    reports.push(self.of_instance(&one, pool_name, joined).await?);
                }
            }
        }
        Ok(reports)
    }

    /// Returns one instance by its id, which is in scope.
    pub(super) async fn instance(
        &self,
        id: &ResourceId,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<NodeReport, QueryError> {
        let one = self.arm.vm(id).await?;
        self.of_instance(&one, pool, joined).await
    }

    async fn of_instance(
        &self,
        instance: &Vm,
        pool: Option<&str>,
        joined: Option<bool>,
    ) -> Result<NodeReport, QueryError> {
        let placeholder = self.placeholder(&host(instance), None, pool, joined);
        let image = instance.properties.storage_profile.as_ref();
        let image = image.and_then(|profile| profile.image_reference.as_ref());
        let image = image.and_then(|image| {
            image.id.clone().or_else(|| image.community_gallery_image_id.clone())
        });
        let claim = Claim { image: image.map(|image| image.as_str().into()), ..placeholder };
        let observation = Observation::Vm(VmObservation::of(instance));
        let mut report = self.evaluate_observation(&claim, &observation)?;
        report.joined = joined;
        if let Some(id) = &instance.id {
            self.read_node_report(id, &claim, &mut report).await?;
        }
        Ok(report)
    }
}

fn host(instance: &Vm) -> String {
    let profile = instance.properties.os_profile.as_ref();
    let host = profile.and_then(|profile| profile.computer_name.clone());
    host.unwrap_or_else(|| instance.name.clone())
}

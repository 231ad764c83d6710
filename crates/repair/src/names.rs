//! Names of pools, tags, journals and checks.

use mooring_workflow::approval::PlanHash;

/// Tag with the purpose of a temporary pool.
pub const PURPOSE_TAG: &str = "mooring-purpose";
pub const PURPOSE: &str = "repair-temporary-pool";
/// Tag with the resource id of the pool that the temporary pool replaces.
pub const SOURCE_TAG: &str = "mooring-source";
/// Tag with the location of the journal.
pub const JOURNAL_TAG: &str = "mooring-journal";
/// Tag with the run that created the pool, or that last updated the cluster.
pub const RUN_TAG: &str = "mooring-run";
/// Tag with the approved plan, see [`approval_tag`].
pub const APPROVAL_TAG: &str = "mooring-approval";

const APPROVAL_VERSION: &str = "v1:";

// Checks, as in `--override`, plans and reports.
pub const MISSING_NODES: &str = "missing-nodes";
pub const FAILING_WRITES: &str = "failing-writes";
pub const CLUSTER_STATE: &str = "cluster-state";
pub const OTHER_POOLS: &str = "other-pools";
pub const POOL_STATE: &str = "pool-state";
pub const QUOTA: &str = "quota";
pub const VM_SIZE: &str = "vm-size";
pub const SUBNET: &str = "subnet";
pub const PDB: &str = "pdb";
pub const POOL_NAME: &str = "pool-name";
pub const POOL_LIMIT: &str = "pool-limit";
pub const RECREATIONS: &str = "recreations";
pub const PERMISSIONS: &str = "permissions";
pub const LOCKS: &str = "locks";
pub const DENY_ASSIGNMENTS: &str = "deny-assignments";
/// The plan is bound to the cluster by the uid of `kube-system`.
pub const CLUSTER_UID: &str = "cluster-uid";
pub const TIME: &str = "time";
pub const TOLERATIONS: &str = "tolerations";
pub const WEDGED: &str = "wedged";
pub const POOL_UNCHANGED: &str = "pool-unchanged";
pub const POOL_RECREATED: &str = "pool-recreated";
pub const REPLACEMENT_READY: &str = "replacement-ready";
pub const WORKLOADS: &str = "workloads";
pub const IP_ADDRESSES: &str = "ip-addresses";
pub const OTHER_OPERATION: &str = "other-operation";

/// Returns the value of [`APPROVAL_TAG`]. It takes permission to write the agent pool, so it approves a plan that anyone with
/// access to the journal could have changed.
pub fn approval_tag(plan: &PlanHash) -> String {
    format!("{APPROVAL_VERSION}{plan}")
}

/// Returns the plan of a value of [`APPROVAL_TAG`].
pub fn approved_plan(tag: &str) -> Option<PlanHash> {
    tag.strip_prefix(APPROVAL_VERSION)?.parse().ok()
}

/// Returns the name of the `ConfigMap` with a pool's journal.
pub fn config_map(pool: &str) -> String {
    format!("repair-{pool}")
}

/// Returns the pool of a `ConfigMap` with a journal; none for other objects and for the full parts of a journal.
pub fn pool_of_config_map(name: &str) -> Option<&str> {
    let pool = name.strip_prefix("repair-")?;
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (!pool.is_empty() && pool.bytes().all(is_name)).then_some(pool)
}

/// Returns the location of the journal for the temporary pool's tag.
pub fn pointer(namespace: &str, pool: &str) -> String {
    format!("configmap/{namespace}/{}", config_map(pool))
}

/// Returns the name of the temporary pool for `pool`.
///
/// `systmp` for `system`. For others a hash keeps the name within twelve characters (`tmp` and at most seven digits), or six
/// for Windows (`t` and five digits).
pub fn temporary_pool(pool: &str, windows: bool) -> String {
    if pool == "system" {
        return "systmp".to_owned();
    }
    let hash = fnv1a(pool);
    if windows {
        return format!("t{:0>5}", base36(hash % 36_u32.pow(5)));
    }
    format!("tmp{}", base36(hash))
}

fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_of_a_journal_is_in_its_name() {
        assert_eq!(pool_of_config_map(&config_map("user1")), Some("user1"));
        for other in ["repair-user1-0", "repair-", "mooring-failures", "finalizers-x", "repair-A"] {
            assert_eq!(pool_of_config_map(other), None, "{other}");
        }
    }

    #[test]
    fn journal_location_names_its_config_map() {
        assert_eq!(pointer("ops", "system"), "configmap/ops/repair-system");
    }

    #[test]
    fn temporary_names_are_stable() {
        for (pool, name) in [
            ("system", "systmp"),
            ("a", "tmp1r9wi7g"),
            ("user", "tmpqrm3n6"),
            ("userswft1", "tmp1byjpwd"),
            ("userswft2", "tmp1b4kwtg"),
            ("userswft3", "tmp1bekiif"),
            ("userswft3a", "tmp1k5xuci"),
            ("userswft3b", "tmp1jvy8nj"),
            ("userswft3xyz", "tmpld9v1e"),
            ("abcdefghijkl", "tmp1sn6plh"),
            ("infra", "tmpdhakv1"),
            ("systemnode1", "tmpt28l3f"),
            ("systemnode12", "tmp1p1qdx7"),
            ("systempool1", "tmp19tk0fd"),
            ("systempool2", "tmp18zl7cg"),
            ("otherpool", "tmp177nf6b"),
        ] {
            assert_eq!(temporary_pool(pool, false), name);
        }
        assert_eq!(format!("tmp{}", base36(fnv1a("system"))), "tmpkack2k");
    }

    #[test]
    fn temporary_names_are_valid_in_aks() {
        for pool in ["a", "user", "system", "userswft3a", "userswft3xyz", "abcdefghijkl"] {
            for (windows, most) in [(false, 12), (true, 6)] {
                let name = temporary_pool(pool, windows);
                assert!((1..=most).contains(&name.len()), "{name}");
                assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
                assert!(
                    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()),
                    "{name}"
                );
            }
        }
        assert_eq!(base36(0), "0");
        assert_eq!(base36(35), "z");
        assert_eq!(base36(36), "10");
    }
}

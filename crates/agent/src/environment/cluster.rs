//! The cluster, as its cloud provider sees it.

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{LoadBalancerSku, OrUnset as _, VmType};

use super::Environment;
use super::go::number;

pub(super) fn variables(config: &NodeConfig, out: &mut Environment) {
    place(config, out);
    load_balancer(config, out);
    cloud_provider(config, out);
}

fn place(config: &NodeConfig, out: &mut Environment) {
    let cluster = config.cluster_config.or_unset();
    let network = cluster.cluster_network_config.or_unset();
    let vm_type = match cluster.vm_type {
        VmType::STANDARD => "standard",
        VmType::VMSS => "vmss",
        _ => "",
    };
    out.text("RESOURCE_GROUP", &cluster.resource_group)
        .text("LOCATION", &cluster.location)
        .text("VM_TYPE", vm_type)
        .text("PRIMARY_AVAILABILITY_SET", &cluster.primary_availability_set)
        .text("PRIMARY_SCALE_SET", &cluster.primary_scale_set)
        .flag("USE_INSTANCE_METADATA", cluster.use_instance_metadata)
        .text("SUBNET", &network.subnet)
        .text("NETWORK_SECURITY_GROUP", &network.security_group_name)
        .text("VIRTUAL_NETWORK", &network.vnet_name)
        .text("VIRTUAL_NETWORK_RESOURCE_GROUP", &network.vnet_resource_group)
        .text("ROUTE_TABLE", &network.route_table);
}

fn load_balancer(config: &NodeConfig, out: &mut Environment) {
    let balancer = config.cluster_config.or_unset().load_balancer_config.or_unset();
    let sku = match balancer.load_balancer_sku {
        LoadBalancerSku::BASIC => "basic",
        LoadBalancerSku::STANDARD => "standard",
        _ => "",
    };
    out.text("LOAD_BALANCER_SKU", sku)
        .flag("LOAD_BALANCER_DISABLE_OUTBOUND_SNAT", balancer.disable_outbound_snat)
        .flag(
            "EXCLUDE_MASTER_FROM_STANDARD_LB",
            balancer.exclude_master_from_standard_load_balancer.unwrap_or(true),
        )
        .integer(
            "MAXIMUM_LOADBALANCER_RULE_COUNT",
            balancer.max_load_balancer_rule_count.unwrap_or(148),
        );
}

/// An explicit zero or `false` counts; only an unset field takes its default.
fn cloud_provider(config: &NodeConfig, out: &mut Environment) {
    let provider = config.cluster_config.or_unset().cloud_provider_config.or_unset();
    let mode = match provider.backoff_mode.as_str() {
        "" => "v2",
        mode => mode,
    };
    let double = |value: Option<f64>, default| number::double(value.unwrap_or(default));
    out.flag("CLOUDPROVIDER_BACKOFF", provider.backoff.unwrap_or(true))
        .text("CLOUDPROVIDER_BACKOFF_MODE", mode)
        .integer("CLOUDPROVIDER_BACKOFF_RETRIES", provider.backoff_retries.unwrap_or(6))
        .text("CLOUDPROVIDER_BACKOFF_EXPONENT", double(provider.backoff_exponent, 0.0))
        .integer("CLOUDPROVIDER_BACKOFF_DURATION", provider.backoff_duration.unwrap_or(5))
        .text("CLOUDPROVIDER_BACKOFF_JITTER", double(provider.backoff_jitter, 0.0))
        .flag("CLOUDPROVIDER_RATELIMIT", provider.rate_limit.unwrap_or(true))
        .text("CLOUDPROVIDER_RATELIMIT_QPS", double(provider.rate_limit_qps, 10.0))
        .text("CLOUDPROVIDER_RATELIMIT_QPS_WRITE", double(provider.rate_limit_qps_write, 10.0))
        .integer("CLOUDPROVIDER_RATELIMIT_BUCKET", provider.rate_limit_bucket.unwrap_or(100))
        .integer(
            "CLOUDPROVIDER_RATELIMIT_BUCKET_WRITE",
            provider.rate_limit_bucket_write.unwrap_or(100),
        );
}

//! Kernel and limits of the node.

use crate::node_config::schema::message;

message! {
    pub struct CustomLinuxOsConfig = "CustomLinuxOsConfig" {
        1 sysctl_config "sysctlConfig": Option<SysctlConfig>,
        /// Containerd unit limits; mere presence switches the feature on
        2 ulimit_config "ulimitConfig": Option<UlimitConfig>,
        3 enable_swap_config "enableSwapConfig": bool,
        4 swap_file_size "swapFileSize": i32,
        5 transparent_hugepage_support "transparentHugepageSupport": String,
        6 transparent_defrag "transparentDefrag": String,
    }
}

message! {
    /// Kernel parameters; those not set keep the image's value unless a default is given.
    pub struct SysctlConfig = "SysctlConfig" {
        /// Sets `net.core.somaxconn` (default 16384)
        1 net_core_somaxconn "netCoreSomaxconn": Option<i32>,
        2 net_core_netdev_max_backlog "netCoreNetdevMaxBacklog": Option<i32>,
        3 net_core_rmem_default "netCoreRmemDefault": Option<i32>,
        4 net_core_rmem_max "netCoreRmemMax": Option<i32>,
        5 net_core_wmem_default "netCoreWmemDefault": Option<i32>,
        6 net_core_wmem_max "netCoreWmemMax": Option<i32>,
        7 net_core_optmem_max "netCoreOptmemMax": Option<i32>,
        /// Sets `net.ipv4.tcp_max_syn_backlog` (default 16384)
        8 net_ipv4_tcp_max_syn_backlog "netIpv4TcpMaxSynBacklog": Option<i32>,
        9 net_ipv4_tcp_max_tw_buckets "netIpv4TcpMaxTwBuckets": Option<i32>,
        10 net_ipv4_tcp_fin_timeout "netIpv4TcpFinTimeout": Option<i32>,
        11 net_ipv4_tcp_keepalive_time "netIpv4TcpKeepaliveTime": Option<i32>,
        12 net_ipv4_tcp_keepalive_probes "netIpv4TcpKeepaliveProbes": Option<i32>,
        /// Sets `net.ipv4.tcp_keepalive_intvl` (note the irregular field name)
        13 net_ipv4_tcpkeepalive_intvl "netIpv4TcpkeepaliveIntvl": Option<i32>,
        /// Sets `net.ipv4.tcp_tw_reuse`, true=1 false=0
        14 net_ipv4_tcp_tw_reuse "netIpv4TcpTwReuse": Option<bool>,
        /// Sets `net.ipv4.ip_local_port_range`, may add `ip_local_reserved_ports`
        15 net_ipv4_ip_local_port_range "netIpv4IpLocalPortRange": Option<String>,
        /// Sets `net.ipv4.neigh.default.gc_thresh1` (default 4096)
        16 net_ipv4_neigh_default_gc_thresh1 "netIpv4NeighDefaultGcThresh1": Option<i32>,
        /// Sets `net.ipv4.neigh.default.gc_thresh2` (default 8192)
        17 net_ipv4_neigh_default_gc_thresh2 "netIpv4NeighDefaultGcThresh2": Option<i32>,
        /// Sets `net.ipv4.neigh.default.gc_thresh3` (default 16384)
        18 net_ipv4_neigh_default_gc_thresh3 "netIpv4NeighDefaultGcThresh3": Option<i32>,
        19 net_netfilter_nf_conntrack_max "netNetfilterNfConntrackMax": Option<i32>,
        20 net_netfilter_nf_conntrack_buckets "netNetfilterNfConntrackBuckets": Option<i32>,
        21 fs_inotify_max_user_watches "fsInotifyMaxUserWatches": Option<i32>,
        22 fs_file_max "fsFileMax": Option<i32>,
        23 fs_aio_max_nr "fsAioMaxNr": Option<i32>,
        24 fs_nr_open "fsNrOpen": Option<i32>,
        25 kernel_threads_max "kernelThreadsMax": Option<i32>,
        26 vm_max_map_count "vmMaxMapCount": Option<i32>,
        27 vm_swappiness "vmSwappiness": Option<i32>,
        28 vm_vfs_cache_pressure "vmVfsCachePressure": Option<i32>,
    }
}

message! {
    pub struct UlimitConfig = "UlimitConfig" {
        /// `LimitNOFILE` of the containerd unit
        1 no_file "noFile": Option<String>,
        /// `LimitMEMLOCK` of the containerd unit
        2 max_locked_memory "maxLockedMemory": Option<String>,
    }
}

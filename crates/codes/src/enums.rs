//! The enums of a row. Their labels are stable: metrics and JSON contain them.

use std::fmt;

macro_rules! enums {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

enums! {
    /// The operating system of the node; the same number differs between the two.
    Os {
        Linux = "linux",
        Windows = "windows",
    }
}

enums! {
    /// The life cycle of a meaning.
    Status {
        /// Mooring's agent writes it, and its report's `Error` starts with the name.
        Agent = "agent",
        /// A constant of the bootstrap scripts as of 2026-08-21.
        Current = "current",
        /// The exit status of a tool or shell, without a constant.
        Raw = "raw",
        /// A constant that the bootstrap scripts no longer have.
        Removed = "removed",
        /// A constant of the image build's own scripts.
        ImageBuildOnly = "image-build-only",
        /// Used only in an open pull request.
        Proposed = "proposed-unmerged",
    }
}

enums! {
    /// Effect of the exit on the bootstrap.
    Reach {
        /// Can end a node's bootstrap.
        Node = "node",
        /// Thrown by the command that wraps the setup script.
        Wrapper = "wrapper",
        /// Not a constant; leaks from tools or the shell.
        Raw = "raw",
        /// Raised in a background job; never the bootstrap's exit code.
        Background = "background",
        /// Raised on the node, but its exit status is lost.
        Masked = "masked",
        /// Raised, then ignored by the caller.
        Ignored = "ignored",
        /// The exit code of a separate systemd service.
        Service = "service",
        /// Raised only while an image is built.
        ImageBuild = "image-build",
        /// Nothing exits with it today.
        None = "none",
    }
}

impl Reach {
    pub const fn description(self) -> &'static str {
        match self {
            Self::Node => "It can end a node's bootstrap.",
            Self::Wrapper => "It is thrown by the command that wraps the setup script.",
            Self::Raw => "Not a named constant; set by a tool or the shell.",
            Self::Background => "It is raised in a background job and never ends a bootstrap.",
            Self::Masked => "It is raised on the node, but its exit status is lost.",
            Self::Ignored => "It is raised on the node, and then ignored.",
            Self::Service => "It is the exit code of a separate service, not of the bootstrap.",
            Self::ImageBuild => "It is raised only while an image is built.",
            Self::None => "Nothing exits with it today.",
        }
    }
}

enums! {
    Category {
        /// Egress from the subnet.
        Outbound = "network-outbound",
        /// Connection to the API server.
        ApiServer = "network-api-server",
        /// Network setup of the node.
        LocalNetwork = "network-local",
        Dns = "dns",
        /// The bootstrap registry or an image pull.
        Registry = "registry",
        Identity = "identity",
        Imds = "imds",
        Package = "package-install",
        Containerd = "containerd",
        Kubelet = "kubelet",
        Gpu = "gpu",
        Disk = "disk",
        /// Settings given to the node.
        Config = "config",
        Image = "image",
        Timeout = "timeout",
        /// Not known from the number.
        Unknown = "unknown",
        None = "none",
    }
}

enums! {
    /// The owner of the next step.
    Owner {
        /// The operator of the cluster and its pools.
        Operator = "operator",
        /// The owner of the node image.
        Image = "image",
        Platform = "platform",
        /// The owner of the virtual network, its DNS and its firewalls.
        Network = "network",
    }
}

impl Owner {
    /// Returns the team that the label names.
    pub const fn role(self) -> &'static str {
        match self {
            Self::Operator => "the operator of the cluster and its pools",
            Self::Image => "the owner of the node image",
            Self::Platform => "Azure",
            Self::Network => "the owner of the virtual network, its DNS and its firewalls",
        }
    }
}

enums! {
    /// Expected result of a retry with the same node config.
    Transient {
        /// A retry usually works.
        Yes = "yes",
        /// A retry may work.
        Maybe = "maybe",
        /// A retry fails in the same way.
        No = "no",
        /// Nothing failed.
        NotNeeded = "not-needed",
    }
}

impl Transient {
    pub const fn description(self) -> &'static str {
        match self {
            Self::Yes => "Yes: a new node usually works.",
            Self::Maybe => "Maybe: recreate one node before changing anything.",
            Self::No => "No: new nodes fail in the same way until the cause is fixed.",
            Self::NotNeeded => "Not needed: nothing failed.",
        }
    }
}

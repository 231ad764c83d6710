//! The enums of a row. Each word is stable: labels and JSON contain it.

use std::fmt;

macro_rules! enums {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable lower-case word.
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
        /// Any Linux node.
        Linux = "linux",
        /// Any Windows node.
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
        /// In an open pull request only.
        Proposed = "proposed-unmerged",
    }
}

enums! {
    /// How far the exit gets.
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
    /// Describes it in a sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Node => "It can end a node's bootstrap.",
            Self::Wrapper => "It is thrown by the command that wraps the setup script.",
            Self::Raw => "It is no named constant; tools and the shell leave it behind.",
            Self::Background => "It is raised in a background job and never ends a bootstrap.",
            Self::Masked => "It is raised on the node, but its exit status is lost on the way.",
            Self::Ignored => "It is raised on the node, and then ignored.",
            Self::Service => "It is the exit code of a separate service, not of the bootstrap.",
            Self::ImageBuild => "It is raised only while an image is built.",
            Self::None => "Nothing exits with it today.",
        }
    }
}

enums! {
    /// The kind of failure.
    Category {
        /// The way out of the subnet.
        Outbound = "network-outbound",
        /// The way to the API server.
        ApiServer = "network-api-server",
        /// The network setup of the node.
        LocalNetwork = "network-local",
        /// Name resolution.
        Dns = "dns",
        /// The bootstrap registry or an image pull.
        Registry = "registry",
        /// Identities, tokens and permissions.
        Identity = "identity",
        /// The instance metadata service.
        Imds = "imds",
        /// Package managers and their repositories.
        Package = "package-install",
        /// The container runtime.
        Containerd = "containerd",
        /// kubelet.
        Kubelet = "kubelet",
        /// GPUs and other accelerators.
        Gpu = "gpu",
        /// Disks and files.
        Disk = "disk",
        /// Settings given to the node.
        Config = "config",
        /// The node image itself.
        Image = "image",
        /// Time ran out.
        Timeout = "timeout",
        /// Not known from the number.
        Unknown = "unknown",
        /// Success.
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
        /// Azure.
        Platform = "platform",
        /// The owner of the virtual network, its DNS and its firewalls.
        Network = "network",
    }
}

impl Owner {
    /// Describes it in a sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Operator => {
                "The operator of the cluster: a setting, a right or a size has to change."
            }
            Self::Image => "Whoever chooses the node image: another image version has to be used.",
            Self::Platform => "Azure: recreate the node, and open a support case if it repeats.",
            Self::Network => {
                "Whoever runs the virtual network: its egress, DNS, firewall or proxy."
            }
        }
    }
}

enums! {
    /// The prospects of a retry with the same node config.
    Transient {
        /// A retry usually works.
        Yes = "yes",
        /// A retry may work.
        Maybe = "maybe",
        /// A retry fails in the same way.
        No = "no",
    }
}

impl Transient {
    /// Describes it in a sentence.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Yes => "Yes: a new node usually works.",
            Self::Maybe => "Maybe: try one new node, not more, before changing anything.",
            Self::No => "No: a new node fails in the same way until the cause is gone.",
        }
    }
}

//! The small vocabularies of a row. Each word is stable: labels and JSON carry it.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every value, in the order of the definition.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable lower-case word.
            #[must_use]
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

words! {
    /// The operating system of the node; the same number differs between the two.
    Os {
        /// Any Linux node.
        Linux = "linux",
        /// Any Windows node.
        Windows = "windows",
    }
}

words! {
    /// Where a meaning stands in the life of its number.
    Status {
        /// Mooring's agent writes it, and its report's `Error` starts with the name.
        Agent = "agent",
        /// A constant of the bootstrap scripts as of 2026-08-21.
        Current = "current",
        /// No constant: what a tool or shell leaves behind.
        Raw = "raw",
        /// A constant that the bootstrap scripts no longer have.
        Removed = "removed",
        /// A constant of the image build's own scripts.
        ImageBuildOnly = "image-build-only",
        /// Stands only in an open pull request.
        Proposed = "proposed-unmerged",
    }
}

words! {
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
    /// The same as a sentence for a person.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
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

words! {
    /// What kind of trouble it is.
    Category {
        /// The way out of the subnet.
        Outbound = "network-outbound",
        /// The way to the API server.
        ApiServer = "network-api-server",
        /// The node's own network set-up.
        LocalNetwork = "network-local",
        /// Name resolution.
        Dns = "dns",
        /// The bootstrap registry or an image pull.
        Registry = "registry",
        /// Identities, tokens and rights.
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
        /// The number does not tell.
        Unknown = "unknown",
        /// No trouble at all.
        None = "none",
    }
}

words! {
    /// Who acts first.
    Owner {
        /// Whoever sets up the cluster and its pools.
        Operator = "operator",
        /// Whoever chooses or builds the node image.
        Image = "image",
        /// Azure.
        Platform = "platform",
        /// Whoever runs the virtual network, its DNS and its firewalls.
        Network = "network",
    }
}

impl Owner {
    /// The same as a sentence for a person.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
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

words! {
    /// Whether the same node config can succeed on another try.
    Transient {
        /// A new try usually works.
        Yes = "yes",
        /// A new try may work.
        Maybe = "maybe",
        /// A new try fails in the same way.
        No = "no",
    }
}

impl Transient {
    /// The same as a sentence for a person.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Yes => "Yes: a new node usually works.",
            Self::Maybe => "Maybe: try one new node, not more, before changing anything.",
            Self::No => "No: a new node fails in the same way until the cause is gone.",
        }
    }
}

//! Packages, their repositories and the disk that they are written to, in a node's own log.
//!
//! The causes are those of the rules for exit codes.

use mooring_codes::Owner;

use super::{About, BOOTSTRAP, Cause, Wording};
use crate::diagnosis::Confidence;

const FETCHING: &[i32] = &[2, 9, 25, 26, 28, 31, 41, 42, 43, 70, 84, 85, 99, 121, 122, 124, 137];

static REPOSITORY_KEY: Cause = Cause {
    reason: "RepositoryKeyInvalid",
    owner: Owner::Platform,
    summary: "A package repository is signed with a key that is expired, unknown to the node or not valid. The repository was reached; \
        network and names are fine.",
    actions: &[
        "Move the pool to a newer node image, which has the repository's current key.",
        "If a repository of your own or of a driver is named, renew its key or remove it from the node's sources.",
        "Where a mirror or proxy serves the repository, check that it serves all files of one release.",
    ],
    ..BOOTSTRAP
};

static BROKEN: Cause = Cause {
    reason: "DownloadBroken",
    summary: "A package arrived damaged or incomplete: the mirror was changing, or a proxy altered or cut it.",
    actions: &[
        "Recreate the node: a mirror in the middle of an update is consistent again after minutes.",
        "If it repeats, compare the file's checksum with and without the proxy, and exempt the host from inspection and caching.",
    ],
    ..BOOTSTRAP
};

static NOT_PUBLISHED: Cause = Cause {
    reason: "PackageNotPublished",
    owner: Owner::Operator,
    summary: "The wanted version is not where the node looks for it (404).",
    actions: &[
        "Choose a Kubernetes patch version that the node image carries, or a newer image.",
        "If a package URL is overridden, correct it.",
    ],
    ..BOOTSTRAP
};

static DISK: Cause = Cause {
    reason: "DiskFull",
    owner: Owner::Operator,
    summary: "A disk of the node is full.",
    actions: &[
        "Give the pool a larger OS disk, or a VM size whose temporary disk holds an ephemeral OS disk of that size.",
        "On a custom image, find what fills it: `df -h` and `du -x` on the node.",
    ],
    ..BOOTSTRAP
};

static APT_LOCK: Cause = Cause {
    reason: "AptLockHeld",
    owner: Owner::Image,
    summary: "Another process held the package manager's lock while the node was being set up, most often an unattended upgrade or an \
        extension that installs packages.",
    actions: &[
        "Recreate the node: most often the lock is gone in time.",
        "If it repeats, find the holder (`fuser -v /var/lib/dpkg/lock-frontend`) and look for extensions or policies that install \
            packages at boot.",
    ],
    ..BOOTSTRAP
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "repository-key",
        cause: &REPOSITORY_KEY,
        phrases: &[
            "the following signatures were invalid: expkeysig",
            "the following signatures were invalid",
            "the following signatures couldn't be verified",
            "openpgp signature verification failed",
            "clearsigned file isn't valid",
            "is no longer signed",
            "is not signed",
            "expkeysig",
            "keyexpired",
            "no_pubkey",
            "public key is not available",
            "gpg key verification failed",
            "could not be verified",
        ],
        near: &[&[
            "inrelease",
            "release",
            "repository",
            "expkeysig",
            "no_pubkey",
            "keyexpired",
            "repodata",
            "gpg error",
            "gpg:",
        ]],
        about: About::NodeLog,
        codes: FETCHING,
        ..Wording::ANY
    },
    Wording {
        name: "package-broken",
        cause: &BROKEN,
        phrases: &[
            "hash sum mismatch",
            "file has unexpected size",
            "mirror sync in progress",
            "gzip: stdin: unexpected end of file",
            "gzip: stdin: not in gzip format",
            "tar: unexpected eof in archive",
            "unexpected eof in archive",
            "checksum verification failed",
            "checksum mismatch",
            "sha256 mismatch",
            "sha256 checksum did not match",
            "unexpected size",
            "failed to verify certificate chain of package",
            "dpkg-deb: error: archive",
            "corrupted package archive",
        ],
        about: About::NodeLog,
        codes: FETCHING,
        ..Wording::ANY
    },
    Wording {
        name: "package-not-published",
        cause: &NOT_PUBLISHED,
        phrases: &[
            "the requested url returned error: 404",
            "returned error: 404",
            "404  not found",
            "404 not found",
            "unable to locate package",
        ],
        near: &[&[
            "packages.aks.azure.com",
            "acs-mirror.azureedge.net",
            "packages.microsoft.com",
            "kubernetes-node",
            "kubelet",
            "curl: (22)",
            "kubectl",
        ]],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "disk-full-in-a-log",
        cause: &DISK,
        phrases: &["no space left on device"],
        about: About::NodeLog,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "apt-lock-in-a-log",
        cause: &APT_LOCK,
        phrases: &[
            "could not get lock /var/lib/dpkg",
            "could not get lock /var/lib/apt",
            "unable to acquire the dpkg frontend lock",
        ],
        about: About::NodeLog,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
];

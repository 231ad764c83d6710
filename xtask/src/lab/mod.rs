//! `lab node`: nodes of real parts. The agent's Debian package in a Debian root that systemd boots in a container, with real
//! cloud-init, oras, docker-registry and dnsmasq; the cases are data (`xtask/lab/node.yaml`).
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | `chore` | arguments, and where the cases run | yes |
//! | `case` | what a case is, what was seen, and whether they agree | |
//! | `host` | what the machine must have, and may not permit | yes |
//! | `image` | the Debian root, oras and the package | yes |
//! | `outside` | the network, names and registries of the nodes | yes |
//! | `machine` | one node: boot, enter, end | yes |
//! | `run` | a case from its first boot to its last | yes |

mod case;
mod chore;
mod host;
mod image;
mod machine;
mod outside;
mod run;

pub(crate) use chore::node;

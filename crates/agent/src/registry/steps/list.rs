//! The steps, in order.

use super::{anonymous, exchange, identity, oras, permission};
use crate::registry::error::RegistryStop;
use crate::registry::session::{RegistrySession, StepResult};

pub(in crate::registry) struct Step {
    pub(in crate::registry) name: &'static str,
    pub(super) what: &'static str,
    pub(in crate::registry) run:
        fn(&mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop>,
}

pub(in crate::registry) static STEPS: [Step; 6] = [
    Step { name: "oras", what: "find the oras binary (232 if it is missing)", run: oras::find },
    Step {
        name: "anonymous",
        what: "list the registry without an identity; if that works, done (211)",
        run: anonymous::probe,
    },
    Step {
        name: "identity",
        what: "get a token of the kubelet identity from IMDS (210, 212)",
        run: identity::ask_imds,
    },
    Step {
        name: "exchange",
        what: "exchange it for a refresh token at the registry (211, 212)",
        run: exchange::exchange,
    },
    Step {
        name: "permission",
        what: "check that the token may pull (212)",
        run: permission::check,
    },
    Step {
        name: "login",
        what: "`oras login`, the token on standard input (211, 212)",
        run: oras::login,
    },
];

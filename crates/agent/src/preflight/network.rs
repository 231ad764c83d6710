//! Can the node reach what it will need? Asked only on request, all at once, each with a deadline.

use std::thread;
use std::time::Duration;

use mooring_codes::Owner;
use mooring_contract::node_config::OrUnset as _;
use mooring_redact::Secret;

use super::check::{Check, Need};
use super::{Facts, Finding, Result};
use crate::registry::{Proxies, system_certificates};
use crate::world::{HttpFailure, HttpFailureKind, HttpRequest, Roots, Url, World};

/// A name server, a handshake and an answer take milliseconds; this is for those that are ill.
const LIMIT: Duration = Duration::from_secs(5);

/// What is asked of the metadata service: nothing that could hold a secret.
const IMDS_TARGET: &str = "/metadata/instance/compute/location?api-version=2021-02-01&format=text";

/// The probes. None is fatal: what cannot be reached now may be reached when it is needed.
pub(super) const PROBES: &[Check] = &[
    Check {
        name: "imds",
        about: "the instance metadata service answers",
        needs: Need::Node,
        code: Some(210),
        audience: Owner::Platform,
        find: imds,
    },
    Check {
        name: "registry",
        about: "the bootstrap registry answers on /v2/",
        needs: Need::Node,
        code: Some(211),
        audience: Owner::Network,
        find: registry,
    },
    Check {
        name: "api-server",
        about: "the API server's name has an address, and a connection is possible",
        needs: Need::Config,
        code: Some(51),
        audience: Owner::Network,
        find: api_server,
    },
];

/// Runs all probes side by side.
pub(super) fn run(world: &dyn World, facts: &Facts<'_>) -> Vec<Result> {
    thread::scope(|scope| {
        let probes: Vec<_> = PROBES
            .iter()
            .map(|probe| {
                let mut world = world.apart();
                (probe, scope.spawn(move || probe.run(&mut *world, facts)))
            })
            .collect();
        let ended = probes.into_iter().map(|(probe, thread)| {
            let finding = thread.join();
            (probe, finding.unwrap_or_else(|_| Finding::skipped("the probe itself failed")))
        });
        ended.collect()
    })
}

fn imds(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    const ACTION: &str =
        "recreate the node; if it repeats, look for a rule or proxy that catches 169.254.169.254";
    let Some(imds) = &facts.imds else { return Finding::skipped("no address is given") };
    let url = imds.with_target(IMDS_TARGET);
    let answer = world.fetch(&HttpRequest {
        url: &url,
        headers: &[("Metadata", Secret::from("true"))],
        form: None,
        proxy: None,
        roots: &Roots::none(),
        limit: LIMIT,
    });
    match answer {
        Ok(answer) if answer.status == 200 => Finding::pass("IMDS answers"),
        Ok(answer) => Finding::warning(format!("IMDS answers {}", answer.status), ACTION),
        Err(failure) => Finding::warning(format!("IMDS: {}", failure.text), ACTION),
    }
}

fn registry(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let Some(server) = facts.config.bootstrap_registry() else {
        return Finding::skipped("no bootstrap registry is configured");
    };
    let shown = mooring_redact::identifier(&server);
    let Ok(url) = Url::parse(&format!("https://{server}/v2/")) else {
        let action = "mend bootstrap_profile_container_registry_server in the node config";
        return Finding::warning(format!("{shown} is no server name"), action);
    };
    let proxies = Proxies::from_environment(&world.environment());
    let roots = Roots::from_pem(&system_certificates(world, facts.layout));
    let proxy = proxies.of(&url);
    let request =
        HttpRequest { url: &url, headers: &[], form: None, proxy, roots: &roots, limit: LIMIT };
    match world.fetch(&request) {
        // Whether it lets us in is another question; it is there.
        Ok(answer) if answer.status < 500 => {
            Finding::pass(format!("{shown} answers ({})", answer.status))
        }
        Ok(answer) => Finding::warning(
            format!("{shown} answers {}", answer.status),
            "look at the registry's health in Azure",
        ),
        Err(failure) => Finding::warning(format!("{shown}: {}", failure.text), advice(&failure)),
    }
}

fn api_server(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let config = facts.config.node_config();
    let name = config.map(|config| config.api_server_config.or_unset().api_server_name.as_str());
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Finding::skipped("the config names no API server");
    };
    let shown = mooring_redact::identifier(name);
    let Ok(url) = Url::parse(&format!("https://{name}/")) else {
        let action = "mend api_server_config.api_server_name in the node config";
        return Finding::warning(format!("{shown} is no server name"), action);
    };
    match world.connect(&url.host, url.port, LIMIT) {
        Ok(()) => Finding::pass(format!("{shown} can be connected to")),
        Err(failure) => Finding::warning(format!("{shown}: {}", failure.text), advice(&failure)),
    }
}

fn advice(failure: &HttpFailure) -> &'static str {
    match failure.kind {
        HttpFailureKind::Dns => {
            "mend DNS: the name servers of the virtual network, and private DNS zones linked to it"
        }
        HttpFailureKind::Connect | HttpFailureKind::TimedOut => {
            "look for a firewall, network security group or route that blocks port 443"
        }
        HttpFailureKind::Proxy(_) => "let the proxy through to this name, or except it",
        HttpFailureKind::Certificate | HttpFailureKind::Tls => {
            "look for a proxy or firewall that opens TLS; give its CA to the node"
        }
        HttpFailureKind::Cut | HttpFailureKind::Malformed => {
            "something on the way answers in its place; find out what"
        }
    }
}

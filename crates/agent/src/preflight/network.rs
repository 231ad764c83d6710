//! Network probes: run only on request, in parallel, each with a deadline.

use std::thread;
use std::time::Duration;

use mooring_codes::Owner;
use mooring_contract::node_config::OrUnset as _;
use mooring_redact::Secret;

use crate::node::paths::PreflightStage;
use crate::node::trust::{Proxies, system_certificates};
use crate::preflight::{
    NO_CONFIG, NOT_ON_A_NODE, PreflightCheck, PreflightFacts, PreflightFinding, Result,
};
use crate::world::{HttpFailure, HttpFailureKind, HttpRequest, Roots, Url, World};

/// A probe usually takes milliseconds; this covers slow servers.
const LIMIT: Duration = Duration::from_secs(5);

/// Query to the metadata service, without secrets in its response.
const IMDS_TARGET: &str = "/metadata/instance/compute/location?api-version=2021-02-01&format=text";

/// The probes. None is fatal: what cannot be reached now may be reached when it is needed.
pub(super) const PROBES: &[PreflightCheck] = &[
    PreflightCheck {
        name: "imds",
        about: "the instance metadata service responds",
        code: Some(210),
        audience: Owner::Platform,
        find: imds,
    },
    PreflightCheck {
        name: "registry",
        about: "the bootstrap registry responds on /v2/",
        code: Some(211),
        audience: Owner::Network,
        find: registry,
    },
    PreflightCheck {
        name: "api-server",
        about: "the API server's name has an address, and a connection is possible",
        code: Some(51),
        audience: Owner::Network,
        find: api_server,
    },
];

pub(super) fn run(world: &dyn World, facts: &PreflightFacts<'_>) -> Vec<Result> {
    thread::scope(|scope| {
        let probes: Vec<_> = PROBES
            .iter()
            .map(|probe| {
                let mut world = world.apart();
                (probe, scope.spawn(move || (probe.find)(&mut *world, facts)))
            })
            .collect();
        let ended = probes.into_iter().map(|(probe, thread)| {
            let finding = thread.join();
            (
                probe,
                finding.unwrap_or_else(|_| PreflightFinding::skipped("the probe itself failed")),
            )
        });
        ended.collect()
    })
}

fn imds(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    const ACTION: &str =
        "recreate the node; if it repeats, look for a rule or proxy that catches 169.254.169.254";
    if facts.stage == PreflightStage::Image {
        return PreflightFinding::skipped(NOT_ON_A_NODE);
    }
    let Some(imds) = &facts.imds else { return PreflightFinding::skipped("no address is given") };
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
        Ok(answer) if answer.status == 200 => PreflightFinding::pass("IMDS responds"),
        Ok(answer) => PreflightFinding::warning(format!("IMDS returns {}", answer.status), ACTION),
        Err(failure) => PreflightFinding::warning(format!("IMDS: {}", failure.text), ACTION),
    }
}

fn registry(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    if facts.stage == PreflightStage::Image {
        return PreflightFinding::skipped(NOT_ON_A_NODE);
    }
    let Some(server) = facts.config.bootstrap_registry() else {
        return PreflightFinding::skipped("no bootstrap registry is configured");
    };
    let shown = mooring_redact::identifier(&server);
    let Ok(url) = Url::parse(&format!("https://{server}/v2/")) else {
        let action = "fix bootstrap_profile_container_registry_server in the node config";
        return PreflightFinding::warning(format!("{shown} is not a server name"), action);
    };
    let proxies = Proxies::from_environment(&world.environment());
    let roots = Roots::from_pem(&system_certificates(world, facts.layout));
    let proxy = proxies.of(&url);
    let request =
        HttpRequest { url: &url, headers: &[], form: None, proxy, roots: &roots, limit: LIMIT };
    match world.fetch(&request) {
        // The endpoint is reachable; authentication is another check.
        Ok(answer) if answer.status < 500 => {
            PreflightFinding::pass(format!("{shown} responds ({})", answer.status))
        }
        Ok(answer) => PreflightFinding::warning(
            format!("{shown} returns {}", answer.status),
            "check the registry's health in Azure",
        ),
        Err(failure) => {
            PreflightFinding::warning(format!("{shown}: {}", failure.text), advice(&failure))
        }
    }
}

fn api_server(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    if !facts.config.is_given() {
        return PreflightFinding::skipped(NO_CONFIG);
    }
    let config = facts.config.node_config();
    let name = config.map(|config| config.api_server_config.or_unset().api_server_name.as_str());
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return PreflightFinding::skipped("the config names no API server");
    };
    let shown = mooring_redact::identifier(name);
    let Ok(url) = Url::parse(&format!("https://{name}/")) else {
        let action = "fix api_server_config.api_server_name in the node config";
        return PreflightFinding::warning(format!("{shown} is not a server name"), action);
    };
    match world.connect(&url.host, url.port, LIMIT) {
        Ok(()) => PreflightFinding::pass(format!("{shown} can be connected to")),
        Err(failure) => {
            PreflightFinding::warning(format!("{shown}: {}", failure.text), advice(&failure))
        }
    }
}

fn advice(failure: &HttpFailure) -> &'static str {
    match failure.kind {
        HttpFailureKind::Dns => {
            "fix DNS: check the VNet's DNS servers and linked private DNS zones"
        }
        HttpFailureKind::Connect | HttpFailureKind::TimedOut => {
            "look for a firewall, network security group or route that blocks port 443"
        }
        HttpFailureKind::Proxy(_) => "allow this name in the proxy, or add it to NO_PROXY",
        HttpFailureKind::Certificate | HttpFailureKind::Tls => {
            "look for a proxy or firewall that intercepts TLS; add its CA to the node"
        }
        HttpFailureKind::Cut | HttpFailureKind::Malformed => {
            "another server responds in its place; find it with `curl -v`"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_about_the_part_that_failed() {
        for (kind, word) in [
            (HttpFailureKind::Dns, "DNS"),
            (HttpFailureKind::Connect, "firewall"),
            (HttpFailureKind::TimedOut, "firewall"),
            (HttpFailureKind::Proxy(Some(403)), "NO_PROXY"),
            (HttpFailureKind::Certificate, "CA"),
            (HttpFailureKind::Tls, "CA"),
            (HttpFailureKind::Cut, "curl"),
            (HttpFailureKind::Malformed, "curl"),
        ] {
            let failure = HttpFailure { kind, text: String::new() };
            assert!(advice(&failure).contains(word), "{kind:?}");
        }
    }
}

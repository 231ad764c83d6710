//! Retries, budget and Retry-After, in a network in which no real time passes.

use std::cell::Cell;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::rc::Rc;
use std::time::Duration;

use mooring_agent::world::{HttpFailure, HttpRequest, HttpResponse};

use crate::fault_injection::{EIO, Faulty, Network, START_TIME};
use crate::support::Node;

type Answer = Result<HttpResponse, HttpFailure>;

const MOMENT: Duration = Duration::from_millis(10);
/// Longer than any request may take.
const NEVER: Duration = Duration::MAX;
/// Seeds for tests that must pass with any pauses.
const SEEDS: std::ops::Range<u8> = 1..100;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[expect(clippy::unnecessary_wraps, reason = "an answer may also be none")]
fn status(status: u16) -> Answer {
    Ok(HttpResponse { status, ..Default::default() })
}

fn silence(_: &HttpRequest<'_>) -> (Duration, Answer) {
    (NEVER, status(200))
}

/// Runs a login in a network that answers so.
fn run(
    variables: &[(&str, String)],
    words: &[&str],
    answers: impl FnMut(&HttpRequest<'_>) -> (Duration, Answer) + 'static,
) -> (u8, String, Network) {
    run_in(Network::new(1, answers), variables, words)
}

fn run_in(network: Network, variables: &[(&str, String)], words: &[&str]) -> (u8, String, Network) {
    let node = Node::new();
    let oras = node.write_typed("oras", "#!/bin/sh\n");
    std::fs::set_permissions(oras, Permissions::from_mode(0o755)).unwrap();
    // This is not the process whose panics count.
    let rule = |operation: &str, _: &_| (operation == "on_panic").then_some(EIO);
    let mut world = Faulty::new(&node.root(), rule);
    world.variables = vec![("PATH".into(), node.typed("").into())];
    world.variables.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
    world.network = Some(network);
    let usual = ["registry-login", "--registry=r.test", "--client-id=c", "--tenant-id=t"];
    let code = world.run(&[&usual[..], words].concat());
    (code, String::from_utf8(world.err).unwrap(), world.network.unwrap())
}

#[test]
fn an_outage_is_asked_often_at_first_and_then_seldom() {
    let (code, _, network) = run(&[], &[], |_| (MOMENT, status(503)));
    assert_eq!(code, 211);
    let attempts = network.requests.len();
    // 15 seconds a pause on average, with full jitter.
    assert!((20..90).contains(&attempts), "{attempts}");
    let first = &network.pauses[..3];
    assert!(
        first[0] <= seconds(1) && first[1] <= seconds(2) && first[2] <= seconds(4),
        "{first:?}"
    );
    let distinct = network.pauses.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(distinct > attempts / 2, "nodes that fail together must not come back together");
}

/// A registry that fails after a second, each time.
fn failing(_: &HttpRequest<'_>) -> (Duration, Answer) {
    (seconds(1), status(500))
}

#[test]
fn the_budget_of_the_cse_is_never_passed() {
    let cse_start = |ago: u64| {
        let start = START_TIME.as_secs() - ago;
        vec![("CSE_STARTTIME_SECONDS", start.to_string())]
    };
    // 780 - 500 seconds are left.
    let (code, output, network) = run(&cse_start(500), &[], silence);
    assert_eq!(code, 211);
    assert!(network.now <= seconds(280) && network.now > seconds(240), "{:?}", network.now);
    assert!(output.contains("of 280 s"), "{output}");
    // The flag still counts where it is shorter.
    let (_, _, network) = run(&cse_start(0), &["--budget=10s"], silence);
    assert!(network.now <= seconds(10));
    // Nothing is left: that is neither the network's fault nor a refusal.
    let (code, output, network) = run(&cse_start(900), &[], |_| (MOMENT, status(200)));
    assert_eq!(code, 124, "{output}");
    assert!(output.contains("the time is up: step 2/6 anonymous"), "{output}");
    assert!(network.requests.is_empty());
    // An invalid value is logged and ignored.
    let nonsense = [("CSE_STARTTIME_SECONDS", "canary-of-somebody".to_owned())];
    let (_, output, network) = run(&nonsense, &["--budget=10s"], |_| (MOMENT, status(503)));
    assert!(output.contains("CSE_STARTTIME_SECONDS") && !network.requests.is_empty());
    assert!(!output.contains("canary"), "{output}");
}

#[test]
fn persistent_error_is_reported_with_its_step() {
    for (of_imds, answer, code, step, expected) in [
        (false, 503, 211, "step 2/6 anonymous", "server error 503"),
        (true, 500, 210, "step 3/6 identity", "server error 500"),
        (true, 404, 210, "step 3/6 identity", "being updated"),
    ] {
        let (got, text, network) = run(&[], &[], move |request| {
            let is_imds = request.url.target.starts_with("/metadata/");
            (MOMENT, status(if is_imds == of_imds { answer } else { 401 }))
        });
        assert_eq!(got, code, "{text}");
        assert!(text.contains(step) && text.contains(expected), "{text}");
        assert!(text.contains("gave up after"), "{text}");
        assert!(network.requests.len() > 10, "{}", network.requests.len());
    }
}

#[test]
fn a_permanent_answer_is_asked_for_once() {
    let (code, output, network) = run(&[], &[], |request| {
        let target = &request.url.target;
        (MOMENT, if target.starts_with("/v2/") { status(401) } else { status(403) })
    });
    assert_eq!(code, 212, "{output}");
    // The registry and IMDS, once each.
    assert_eq!((network.requests.len(), network.pauses.len()), (2, 0));
}

#[test]
fn retry_after_is_never_waited_past_the_budget() {
    let busy = |seconds: &'static str| {
        let headers = vec![("retry-after".to_owned(), seconds.to_owned())];
        move |_: &HttpRequest<'_>| {
            (MOMENT, Ok(HttpResponse { status: 429, headers: headers.clone(), body: Vec::new() }))
        }
    };
    let (code, output, network) = run(&[], &["--budget=100s"], busy("40"));
    assert_eq!(code, 211, "{output}");
    assert_eq!(network.pauses, [seconds(40), seconds(40)]);
    assert!(output.contains("gave up after 3 attempts"), "{output}");
    let (_, output, network) = run(&[], &["--budget=100s"], busy("100"));
    assert!(network.pauses.is_empty(), "{:?}", network.pauses);
    assert!(output.contains("gave up after 1 attempt in"), "{output}");
}

#[test]
fn the_steps_share_one_budget() {
    let (code, output, network) = run(&[], &["--budget=60s"], |request| {
        let is_registry = request.url.target.starts_with("/v2/");
        (if is_registry { seconds(25) } else { NEVER }, status(401))
    });
    assert_eq!(code, 210, "{output}");
    assert!(network.now <= seconds(60), "{:?}", network.now);
    let (at, limit) = *network.requests.last().unwrap();
    assert!(limit <= seconds(30) && at + limit <= seconds(60));
}

#[test]
fn token_of_another_server_is_asked_for_with_tls_only() {
    for (realm, is_asked) in
        [("http://other.test/token", false), ("https://other.test/token", true)]
    {
        let asked = Rc::new(Cell::new(false));
        let seen = asked.clone();
        let (_, output, _) = run(&[], &["--budget=90s"], move |request| {
            seen.set(seen.get() || request.url.host == "other.test");
            let headers =
                vec![("WWW-Authenticate".to_owned(), format!("Bearer realm=\"{realm}\""))];
            (MOMENT, Ok(HttpResponse { status: 401, headers, body: Vec::new() }))
        });
        assert!(output.contains("the registry requires an identity"), "{output}");
        assert!(output.contains("no CA certificates"), "{output}");
        assert_eq!(asked.get(), is_asked, "{realm}");
    }
}

#[test]
fn last_error_counts_unless_the_budget_cut_it_short() {
    // After one failure: a denial (by the registry, then by IMDS), silence, and an unusable response.
    type Then = fn() -> (Duration, Answer);
    let denied: Then = || (MOMENT, status(403));
    let silent: Then = || (NEVER, status(200));
    let redirect: Then = || (MOMENT, status(302));
    for (then, code, expected, requests) in [
        (denied, 212, "denied with 403", Some(3)),
        (silent, 211, "timed out; gave up after ", None),
        (redirect, 211, "a redirect (302)", Some(3)),
    ] {
        let mut asked = 0;
        let (got, output, network) = run(&[], &["--budget=300s"], move |request| {
            if request.url.target.starts_with("/metadata/") {
                return (MOMENT, status(403));
            }
            asked += 1;
            if asked == 1 { (seconds(1), status(500)) } else { then() }
        });
        assert_eq!(got, code, "{output}");
        assert!(output.contains(expected), "{output}");
        assert!(output.contains("\"durationMs\":1000"), "{output}");
        assert!(!output.contains("not a number of seconds"), "{output}");
        let asked = network.requests.len();
        assert!(requests.is_none_or(|requests| asked == requests), "{asked}: {output}");
    }
}

mod slow {
    use super::*;

    #[test]
    fn silent_registry_takes_exactly_the_budget() {
        for seed in SEEDS {
            let (code, output, network) = run_in(Network::new(seed, silence), &[], &[]);
            assert_eq!(code, 211, "{seed}: {output}");
            assert!(output.contains("timed out; gave up after "), "{seed}: {output}");
            assert!(network.now <= seconds(600), "{seed}: {:?}", network.now);
            assert!(network.now >= seconds(570), "{seed}: it gives up early: {:?}", network.now);
            assert!(network.pauses.iter().all(|pause| *pause <= seconds(30)));
            assert!(
                network
                    .requests
                    .iter()
                    .all(|(at, limit)| *limit <= seconds(30) && *at + *limit <= seconds(600))
            );
        }
    }

    #[test]
    fn attempt_cut_short_by_the_budget_keeps_the_cause() {
        let mut cut_short = 0;
        for seed in SEEDS {
            let (code, output, network) =
                run_in(Network::new(seed, failing), &[], &["--budget=90s"]);
            assert_eq!(code, 211, "{seed}: {output}");
            assert!(output.contains("server error 500; gave up after "), "{seed}: {output}");
            let now = network.now;
            assert!(now <= seconds(90) && now >= seconds(60), "{seed}: {now:?}");
            cut_short += usize::from(network.requests.last().unwrap().1 < seconds(1));
        }
        assert!(cut_short > 0, "some seed must show it");
    }

    #[test]
    fn pause_past_the_budget_keeps_the_cause() {
        let mut late = 0;
        for seed in SEEDS {
            let mut network = Network::new(seed, failing);
            network.oversleep = seconds(5);
            let (code, output, network) = run_in(network, &[], &["--budget=90s"]);
            assert_eq!(code, 211, "{seed}: {output}");
            let attempts = network.requests.len();
            let expected = format!("server error 500; gave up after {attempts} attempts in ");
            assert!(output.contains(&expected), "{seed}: {output}");
            late += usize::from(network.now > seconds(90));
        }
        assert!(late > 0, "some seed must show it");
    }
}

//! `registry-login`: lets this node pull from its bootstrap registry, or says who stands in the way.
//!
//! Natively what the image's shell function `oras_login_with_kubelet_identity` does, but every answer
//! keeps its meaning: a missing program is no network failure, a refusal is no time-out, and a silent
//! IMDS is neither.
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | `steps`, `flow` | the list that is executed, logged and explained; how it goes on | |
//! | `session` | what the steps share; how an attempt is made, logged and repeated | yes |
//! | `oras`, `anonymous`, `identity`, `exchange`, `permission` | the steps | through the session |
//! | `trouble` | what an answer, or none, means, and with which code it ends | |
//! | `budget` | how long everything may take, and the pauses in between | |
//! | `answers`, `token`, `form` | bodies, tokens and forms, read and written | |
//! | `proxy`, `trust` | by which way, and whom to believe | reads files |

mod anonymous;
mod answers;
mod budget;
mod exchange;
mod flow;
mod form;
mod identity;
mod oras;
mod permission;
mod proxy;
mod session;
mod steps;
mod token;
mod trouble;
mod trust;

use self::session::FindOras;
use crate::agent::Agent;
use crate::cli::LoginFlags;
use crate::event::Task;
use crate::log::Value;
use crate::world::{Host, Stream, World as _};
use flow::Flow;
use session::Session;
use steps::STEPS;
use trouble::Stop;

pub(crate) use budget::{Budget, cse_left};
pub(crate) use proxy::Proxies;
pub(crate) use steps::help;
pub(crate) use trust::system as system_certificates;

/// Runs the command; the result is the process's exit code.
pub(crate) fn login(agent: &mut Agent<'_>, flags: &LoginFlags, find_oras: &FindOras) -> u8 {
    let last_words = |place: &str| {
        let text = format!("panic during registry-login at {place}\n");
        Host::default().print(Stream::Err, text.as_bytes());
    };
    agent.world.on_panic(None, Box::new(last_words));
    let start = agent.started(Task::RegistryLogin);
    let mut session = Session::new(agent, flags, find_oras);
    let ended = walk(&mut session);
    let agent = session.agent;
    match ended {
        Ok(result) => {
            agent.info("registry-login", &[("result", Value::Text(result))]);
            agent.finished(Task::RegistryLogin, start, None);
            0
        }
        Err(stop) => {
            agent.finished(Task::RegistryLogin, start, Some(&stop.text));
            let told = match stop.hint {
                Some(hint) => format!("{}\nhint: {hint}\n", stop.text),
                None => format!("{}\n", stop.text),
            };
            let told = agent.redactor.redact(&told).into_owned();
            agent.world.print(Stream::Err, told.as_bytes());
            stop.code.number()
        }
    }
}

fn walk(session: &mut Session<'_, '_>) -> Result<&'static str, Stop> {
    for (at, step) in STEPS.iter().enumerate() {
        let shown = format!("{}/{} {}", at + 1, STEPS.len(), step.name);
        session.step = step.name;
        let began = session.agent.world.monotonic();
        let flow = (step.run)(session);
        let took = session.since(began);
        let result = match &flow {
            Ok(Flow::Next(result) | Flow::Done(result)) => *result,
            Err(_) => "failed",
        };
        session.agent.info(
            "registry-login step",
            &[
                ("step", Value::Text(&shown)),
                ("result", Value::Text(result)),
                ("durationMs", Value::Number(took)),
            ],
        );
        match flow {
            Ok(Flow::Next(_)) => {}
            Ok(Flow::Done(result)) => return Ok(result),
            Err(stop) => return Err(stop.at_step(&shown)),
        }
    }
    Ok("logged in")
}

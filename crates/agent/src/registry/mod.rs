//! `registry-login`: logs this node in to its bootstrap registry, or reports the cause of the failure.
//!
//! Replaces the image's shell function `oras_login_with_kubelet_identity`, but keeps causes apart: a
//! missing binary is not a network failure, and a denied request is not a timeout.
//!
//! | file | contents | I/O |
//! |---|---|---|
//! | `steps` | the steps, as executed, logged and documented: `oras`, `anonymous`, `identity`, `exchange`, `permission` | through the session |
//! | `session` | state and result of the steps; attempts, their log and retries | yes |
//! | `flags` | parameters of a login | |
//! | `error` | errors and their exit codes | |
//! | `budget` | time limit, and pauses between attempts | |
//! | `responses`, `token`, `form` | bodies, tokens and forms | |
//! | `proxy`, `ca_certs` | proxy selection, and trusted certificates | reads files |

mod budget;
mod ca_certs;
mod error;
mod flags;
mod form;
mod proxy;
mod responses;
mod session;
mod steps;
mod token;

use crate::format::event::Task;
use crate::node::agent::Agent;
use crate::node::log::Value;
use crate::world::{Host, Stream, World as _};
use error::Stop;
use session::{FindOras, Session, StepResult};
use steps::STEPS;

pub(crate) use budget::{Budget, cse_left};
pub(crate) use ca_certs::system as system_certificates;
pub(crate) use flags::{Identity, LoginFlags};
pub(crate) use proxy::Proxies;
pub(crate) use steps::help;

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
            let message = match stop.hint {
                Some(hint) => format!("{}\nhint: {hint}\n", stop.text),
                None => format!("{}\n", stop.text),
            };
            let message = agent.redactor.redact(&message).into_owned();
            agent.world.print(Stream::Err, message.as_bytes());
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
            Ok(StepResult::Next(result) | StepResult::Done(result)) => *result,
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
            Ok(StepResult::Next(_)) => {}
            Ok(StepResult::Done(result)) => return Ok(result),
            Err(stop) => return Err(stop.at_step(&shown)),
        }
    }
    Ok("logged in")
}

//! Runs the steps of a login.

use super::error::RegistryStop;
use super::flags::LoginFlags;
use super::session::{FindOras, RegistrySession, StepResult};
use super::steps::STEPS;
use crate::format::event::Task;
use crate::node::agent::Agent;
use crate::node::log::LogValue::{Number, Text};
use crate::world::{Host, Stream, World as _};

pub(crate) fn login(agent: &mut Agent<'_>, flags: &LoginFlags, find_oras: &FindOras) -> u8 {
    let last_words = |place: &str| {
        let text = format!("panic during registry-login at {place}\n");
        Host::default().print(Stream::Err, text.as_bytes());
    };
    agent.world.on_panic(None, Box::new(last_words));
    let start = agent.started(Task::RegistryLogin);
    let mut session = RegistrySession::new(agent, flags, find_oras);
    let ended = walk(&mut session);
    let agent = session.agent;
    match ended {
        Ok(result) => {
            agent.info("registry-login", &[("result", Text(result))]);
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

fn walk(session: &mut RegistrySession<'_, '_>) -> Result<&'static str, RegistryStop> {
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
            &[("step", Text(&shown)), ("result", Text(result)), ("durationMs", Number(took))],
        );
        match flow {
            Ok(StepResult::Next(_)) => {}
            Ok(StepResult::Done(result)) => return Ok(result),
            Err(stop) => return Err(stop.at_step(&shown)),
        }
    }
    Ok("logged in")
}

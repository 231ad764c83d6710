//! End of the scripts: exit code, error and stop.

use mooring_redact::identifier;

use crate::format::go_text::child_error;
use crate::node::agent::Agent;
use crate::world::{ChildEnd, ChildStatus, Signal, Stopped};

/// Returns true if a signal stopped the scripts. At a shutdown each process gets its own signal, the scripts
/// perhaps before the agent.
pub(super) fn is_stopped(agent: &mut Agent<'_>, end: &ChildEnd) -> bool {
    let by_signal =
        |number: i32| [Signal::Terminate, Signal::Interrupt].iter().any(|s| s.number() == number);
    let is_signaled =
        matches!(end.status, ChildStatus::Signaled { number, .. } if by_signal(number));
    end.stopped.is_some() || is_signaled || agent.world.caught_signal().is_some()
}

/// Returns the exit code of the report: that of the child; -1 for a signal, as in the upstream Go agent. A
/// bootstrap that exits with 0 after a stop signal is incomplete.
pub(super) fn code_of(end: &ChildEnd) -> i32 {
    match (end.status, &end.stopped) {
        (ChildStatus::Exited(0), Some(stopped)) => 128 + stopped.signal.number(),
        (ChildStatus::Exited(code), _) => code,
        (ChildStatus::Signaled { .. }, _) => -1,
    }
}

pub(super) fn error_of(end: &ChildEnd) -> Option<String> {
    match (child_error(end.status), &end.stopped) {
        (error, None) => error,
        (None, Some(stopped)) => Some(interrupted(stopped)),
        (Some(error), Some(stopped)) => Some(format!("{error} ({})", interrupted(stopped))),
    }
}

fn interrupted(stopped: &Stopped) -> String {
    let Stopped { signal, processes, killed, left } = stopped;
    let killed = match killed {
        0 => String::new(),
        killed => format!(", {killed} of them by SIGKILL"),
    };
    let names: Vec<String> = left
        .iter()
        .take(5)
        .map(|(pid, name)| format!("{} (pid {pid})", identifier(name)))
        .collect();
    let left = match left.len() {
        0 => String::new(),
        left => format!("; {} still run: {}", count(left), names.join(", ")),
    };
    format!("interrupted by {}; stopped {}{killed}{left}", signal.name(), count(*processes))
}

fn count(processes: usize) -> String {
    match processes {
        1 => "1 process".to_owned(),
        _ => format!("{processes} processes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_is_part_of_the_error_and_never_a_success() {
        let left = vec![(7, "a b".to_owned()), (8, "sleep".to_owned())];
        let few = Stopped { signal: Signal::Interrupt, processes: 1, killed: 0, left: Vec::new() };
        let many = Stopped { signal: Signal::Terminate, processes: 3, killed: 2, left };
        let killed = ChildStatus::Signaled { number: 9, core_dumped: false };
        for (status, stopped, code, error) in [
            (ChildStatus::Exited(0), None, 0, None),
            (ChildStatus::Exited(50), None, 50, Some("exit status 50")),
            (killed, None, -1, Some("signal: killed")),
            (
                ChildStatus::Exited(0),
                Some(few.clone()),
                130,
                Some("interrupted by SIGINT; stopped 1 process"),
            ),
            (
                ChildStatus::Exited(0),
                Some(many),
                143,
                Some(
                    "interrupted by SIGTERM; stopped 3 processes, 2 of them by SIGKILL; \
                     2 processes still run: a b (pid 7), sleep (pid 8)",
                ),
            ),
            (
                ChildStatus::Exited(50),
                Some(few.clone()),
                50,
                Some("exit status 50 (interrupted by SIGINT; stopped 1 process)"),
            ),
            (
                killed,
                Some(few),
                -1,
                Some("signal: killed (interrupted by SIGINT; stopped 1 process)"),
            ),
        ] {
            let end = ChildEnd { status, stopped, output_left_open: false };
            assert_eq!((code_of(&end), error_of(&end).as_deref()), (code, error));
        }
    }
}

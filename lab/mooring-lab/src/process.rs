//! Runtime, signals and speed of a command.

use std::io;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::LabFailure;

pub(crate) fn build_runtime() -> Result<Runtime, LabFailure> {
    Ok(Builder::new_multi_thread().worker_threads(2).enable_all().build()?)
}

/// Returns the end of a command: Ctrl-C or SIGTERM, which are received from now on.
pub(crate) fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

pub(crate) fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("must be a number above 0, such as 1 or 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_speed;

    #[test]
    fn speed_is_a_finite_number_above_zero() {
        assert_eq!([parse_speed("60"), parse_speed("0.5")], [Ok(60.0), Ok(0.5)]);
        for text in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(text).is_err_and(|error| error.contains("above 0")), "{text}");
        }
    }
}

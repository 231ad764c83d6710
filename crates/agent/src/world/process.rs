//! Other processes.

use std::fs;

/// When a process started, in ticks since the boot.
#[cfg(target_os = "linux")]
pub(super) fn start(pid: u32) -> Option<u64> {
    start_from_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Without `/proc` a process is only known to be there or not.
#[cfg(not(target_os = "linux"))]
pub(super) fn start(pid: u32) -> Option<u64> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::test_kill_process(pid).is_ok().then_some(0)
}

/// Field 22 of `/proc/PID/stat`, and nothing for a process that has ended and is not yet reaped. The
/// second field is the program's name in brackets, which may hold blanks and brackets itself.
#[cfg(any(target_os = "linux", test))]
fn start_from_stat(stat: &str) -> Option<u64> {
    let mut behind_name = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = behind_name.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    behind_name.nth(18)?.parse().ok()
}

pub(super) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20";
        assert_eq!(start_from_stat(&format!("7 (a) b 9 (c) {tail}")), Some(4242));
        assert_eq!(start_from_stat(&format!("7 (sh) {}", tail.replace('S', "Z"))), None);
        assert_eq!(start_from_stat("7 (sh) S 1"), None);
        assert_eq!(start_from_stat(""), None);
    }

    #[test]
    fn this_process_has_a_start_and_an_unlikely_one_has_none() {
        assert!(start(std::process::id()).is_some());
        assert_eq!(start(u32::MAX), None);
    }
}

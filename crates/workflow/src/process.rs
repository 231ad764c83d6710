//! This process, and whether another one still runs.

use std::path::Path;

use crate::lock::{Liveness, Owner};

/// This process, as the owner of a lock.
pub fn this_process(holder: String) -> Owner {
    let pid = std::process::id();
    Owner {
        host: host(),
        boot: read("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
        pid,
        start: start_of(pid).unwrap_or_default(),
        holder,
    }
}

/// A number that nobody else draws: of a run, or of who holds it.
pub fn random_id() -> String {
    use ring::rand::{SecureRandom as _, SystemRandom};
    let mut bytes = [0; 16];
    // Without chance the process still has its number and start, which tell it from others.
    let _ = SystemRandom::new().fill(&mut bytes);
    crate::canonical::hash_bytes(&bytes)[..32].to_owned()
}

/// The machine's name. Containers may share it and yet not see each other's processes, so that the space of
/// process numbers belongs to it, too, unless it is the machine's first one.
fn host() -> String {
    const FIRST: &str = "pid:[4026531836]";
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match space.to_str() {
        Some(space) if space != FIRST && !space.is_empty() => format!("{name} {space}"),
        _ => name,
    }
}

/// Whether an owner's process runs; only asked for owners on this machine and boot.
pub fn liveness(owner: &Owner, me: &Owner) -> Liveness {
    if owner.host != me.host || owner.boot != me.boot || me.boot.is_empty() {
        return Liveness::Unknown;
    }
    if !Path::new("/proc/self/stat").exists() {
        return Liveness::Unknown;
    }
    match start_of(owner.pid) {
        // The number may have been given to another process since.
        Some(start) if start == owner.start => Liveness::Alive,
        _ => Liveness::Gone,
    }
}

/// When a process started, in clock ticks since the boot; none if there is none, or only its corpse.
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name may hold blanks and brackets: what counts begins after the last one.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_by_its_number_start_and_boot() {
        let me = this_process("x".into());
        assert!(me.start > 0 && !me.boot.is_empty() && !me.host.is_empty());
        assert_eq!(liveness(&me, &me), Liveness::Alive);
        let reused = Owner { start: me.start + 1, ..me.clone() };
        assert_eq!(liveness(&reused, &me), Liveness::Gone);
        let gone = Owner { pid: u32::MAX - 1, ..me.clone() };
        assert_eq!(liveness(&gone, &me), Liveness::Gone);
        let elsewhere = Owner { host: "other".into(), ..me.clone() };
        assert_eq!(liveness(&elsewhere, &me), Liveness::Unknown);
    }
}

//! This process, as the owner of locks.

use crate::lock::Owner;

/// Returns this process; `holder` is a random number.
pub fn this_process(holder: String) -> Owner {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Owner { host, pid: std::process::id(), holder }
}

/// Returns a random number that no other run or process has.
pub fn random_id() -> String {
    use ring::rand::{SecureRandom as _, SystemRandom};
    let mut bytes = [0; 16];
    // Without random bytes a process still has its host and number.
    let _ = SystemRandom::new().fill(&mut bytes);
    crate::canonical::hash_bytes(&bytes)[..32].to_owned()
}

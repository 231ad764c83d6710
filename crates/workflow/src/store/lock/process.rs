//! This process as the owner of locks.

use super::LockOwner;

pub fn this_process(holder: String) -> LockOwner {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    LockOwner { host, pid: std::process::id(), holder }
}

/// Returns a unique random number.
pub fn random_id() -> String {
    use ring::rand::{SecureRandom as _, SystemRandom};
    let mut bytes = [0; 16];
    // Without random bytes the host and process ID remain.
    let _ = SystemRandom::new().fill(&mut bytes);
    crate::approval::canonical::hash_bytes(&bytes)[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_have_unique_identities() {
        let (one, two) = (random_id(), random_id());
        assert_ne!(one, two);
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        let owner = this_process(one.clone());
        assert_eq!((owner.pid, owner.holder), (std::process::id(), one));
        assert!(!owner.host.is_empty());
    }
}

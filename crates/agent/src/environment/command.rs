//! The command line that runs in the environment. It does not depend on the config.

use super::Root;

pub const PROGRAM: &str = "/bin/bash";

/// Its first argument; the second and last is the [`script`].
pub const FLAG: &str = "-c";

const LOG: &str = "/var/log/azure/cluster-provision.log";
/// The image's own script, which does all the work.
pub(crate) const START: &str = "/opt/azure/containers/provision_start.sh";

/// The text that bash runs, on the real root or under another one.
///
/// Without a root, these are the bytes of the upstream Go agent: one line made from five, hence the TAB in
/// the middle and the blank at the end.
pub fn script(root: Option<&Root>) -> String {
    match root {
        None => text("${PROVISION_OUTPUT}", LOG, &format!("\"/bin/bash {START}\"")),
        // The root may contain blanks, quotes or `$`: quote once for the outer shell, and again for the inner shell.
        Some(root) => {
            let inner = format!("/bin/bash {}", quote(&root.join(START)));
            text("\"${PROVISION_OUTPUT}\"", &quote(&root.join(LOG)), &quote(&inner))
        }
    }
}

/// The whole command line as `--dry-run` logs it: joined by blanks, without quoting.
pub fn line(root: Option<&Root>) -> String {
    format!("{PROGRAM} {FLAG} {}", script(root))
}

fn text(output: &str, log: &str, start: &str) -> String {
    format!(
        "echo $(date),$(hostname) > {output}; \
         if [ -f \"${{INIT_AKS_CLOUD_FILEPATH}}\" ]; then \
         \t\"${{INIT_AKS_CLOUD_FILEPATH}}\" >> {log} 2>&1 || exit $?; \
         fi; \
         /usr/bin/nohup /bin/bash -c {start} "
    )
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_root_the_bytes_are_those_of_the_go_program() {
        let expected = concat!(
            "echo $(date),$(hostname) > ${PROVISION_OUTPUT}; ",
            "if [ -f \"${INIT_AKS_CLOUD_FILEPATH}\" ]; then \t\"${INIT_AKS_CLOUD_FILEPATH}\" ",
            ">> /var/log/azure/cluster-provision.log 2>&1 || exit $?; fi; ",
            "/usr/bin/nohup /bin/bash -c \"/bin/bash /opt/azure/containers/provision_start.sh\" ",
        );
        assert_eq!(script(None), expected);
        assert_eq!(line(None), format!("/bin/bash -c {expected}"));
    }

    #[test]
    fn a_root_is_quoted_for_both_shells() {
        let script = script(Some(&Root::new("/a 'b").unwrap()));
        assert!(script.contains(r">> '/a '\''b/var/log/azure/cluster-provision.log' 2>&1"));
        assert!(script.ends_with(
            r"-c '/bin/bash '\''/a '\''\'\'''\''b/opt/azure/containers/provision_start.sh'\''' "
        ));
    }
}

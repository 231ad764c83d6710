//! The command line that runs in the environment, and the paths of the scripts, also under another root.

use crate::environment::Environment;

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

/// Variables that are fixed paths. The config's own `provision_output` is ignored, as upstream.
const FIXED: &[(&str, &str)] = &[
    ("PROVISION_OUTPUT", "/var/log/azure/cluster-provision-cse-output.log"),
    ("INIT_AKS_CLOUD_FILEPATH", "/opt/azure/containers/init-aks-cloud.sh"),
    ("CSE_HELPERS_FILEPATH", "/opt/azure/containers/provision_source.sh"),
    ("CSE_DISTRO_HELPERS_FILEPATH", "/opt/azure/containers/provision_source_distro.sh"),
    ("CSE_INSTALL_FILEPATH", "/opt/azure/containers/provision_installs.sh"),
    ("CSE_DISTRO_INSTALL_FILEPATH", "/opt/azure/containers/provision_installs_distro.sh"),
    ("CSE_CONFIG_FILEPATH", "/opt/azure/containers/provision_configs.sh"),
    ("CUSTOM_SEARCH_DOMAIN_FILEPATH", "/opt/azure/containers/setup-custom-search-domains.sh"),
    ("DHCPV6_SERVICE_FILEPATH", "/etc/systemd/system/dhcpv6.service"),
    ("DHCPV6_CONFIG_FILEPATH", "/opt/azure/containers/enable-dhcpv6.sh"),
];

/// A path only in custom clouds, empty elsewhere.
const IN_CUSTOM_CLOUDS: &str = "AZURE_ENVIRONMENT_FILEPATH";

pub(super) fn variables(out: &mut Environment) {
    for (name, path) in FIXED {
        out.text(*name, *path);
    }
}

impl Environment {
    /// The same environment with every variable that is a path moved under `root`.
    #[must_use]
    pub fn prefixed_paths(&self, root: &Root) -> Self {
        let mut moved = self.clone();
        for name in FIXED.iter().map(|(name, _)| *name).chain([IN_CUSTOM_CLOUDS]) {
            moved.change(name, |path| root.join(path));
        }
        moved
    }
}

/// A directory used instead of `/`, as for a simulated node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Without a final `/`, so that an absolute path can be appended.
    prefix: String,
}

impl Root {
    /// Validates the path of a directory, which need not exist. The scripts change their working directory, and a leading
    /// `-` would read as an option.
    pub fn new(folder: &str) -> Result<Self, &'static str> {
        if folder.contains('\0') {
            Err("the root folder contains a NUL character")
        } else if folder.starts_with('/') {
            Ok(Self { prefix: folder.trim_end_matches('/').to_owned() })
        } else {
            Err("the root folder must be an absolute path")
        }
    }

    /// An absolute path as it is under this root.
    pub fn join(&self, absolute: &str) -> String {
        format!("{}{absolute}", self.prefix)
    }
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

    #[test]
    fn paths_move_and_everything_else_stays() {
        let mut environment = Environment::default();
        variables(&mut environment);
        environment.text(IN_CUSTOM_CLOUDS, "").text("THP_ENABLED", "/not/a/path");
        let moved = environment.prefixed_paths(&Root::new("/tmp/a b/").unwrap());
        assert_eq!(
            moved.expose("DHCPV6_SERVICE_FILEPATH"),
            Some("/tmp/a b/etc/systemd/system/dhcpv6.service")
        );
        let unmoved =
            moved.expose_all().filter(|(_, value)| !value.starts_with("/tmp/a b/")).count();
        assert_eq!(unmoved, 2);
        assert_eq!(moved.expose(IN_CUSTOM_CLOUDS), Some(""));
        assert_eq!(environment.prefixed_paths(&Root::new("/").unwrap()), environment);
    }

    #[test]
    fn a_root_is_absolute_and_free_of_nul() {
        assert_eq!(Root::new(""), Err("the root folder must be an absolute path"));
        assert_eq!(Root::new("-x"), Err("the root folder must be an absolute path"));
        assert_eq!(Root::new("/a\0"), Err("the root folder contains a NUL character"));
        assert_eq!(Root::new("//").unwrap().join("/etc"), "/etc");
    }
}

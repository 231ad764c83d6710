//! Next steps for a failing image: the same on every screen, possible in this cluster, and remembered when taken.

use crate::common::controller::{
    change, delete_node_pool, run, simulate, start_controller, wait_for,
};
use crate::common::{Sim, text};

const SCREENS: [&[&str]; 7] = [
    &["why"],
    &["why", "default"],
    &["why", "default-bad1"],
    &["status"],
    &["fleet"],
    &["fleet", "-o", "markdown"],
    &["explain", "OrasBinaryMissing"],
];

fn screens(sim: &Sim) -> Vec<(String, String)> {
    let screen = |words: &&[&str]| (words.join(" "), text(&run(sim, words).stdout));
    SCREENS.iter().map(screen).collect()
}

/// Returns the first command of a screen that changes an object.
fn first_patch(shown: &str) -> &str {
    let start = shown.find("kubectl patch ").unwrap_or(shown.len());
    let line = shown[start..].lines().next().unwrap_or_default();
    line.split_once("}]'").map_or(line, |(patch, _)| &line[..patch.len() + "}]'".len()])
}

mod slow {
    use super::*;

    #[test]
    fn first_step_is_the_same_everywhere_and_remembered_with_its_undo() {
        let state = tempfile::tempdir().unwrap();
        let sim = simulate(state.path());
        let _controller = start_controller(&sim, "off");
        wait_for("the record", || {
            let shown = text(&run(&sim, &["explain", "OrasBinaryMissing"]).stdout);
            shown.contains(" 5 of 5 nodes on ").then_some(())
        });
        let hold = r#"kubectl patch nodepool default --type=json -p '[{"op":"add","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}}]'"#;
        for (name, shown) in screens(&sim) {
            assert!(!shown.contains("Use image 202601"), "nothing can pin it: {name}\n{shown}");
            assert_eq!(first_patch(&shown), hold, "{name}\n{shown}");
        }
        change(&sim, hold);
        let drift_held = "Drift of NodePool default is held";
        let undo = r#"kubectl patch nodepool default --type=json -p '[{"op":"test","path":"/spec/disruption/budgets/0","value":{"nodes":"0","reasons":["Drifted"]}},{"op":"remove","path":"/spec/disruption/budgets/0"}]'"#;
        let family = r#"kubectl patch aksnodeclass default --type=merge -p '{"spec":{"imageFamily":"Ubuntu2204"}}'"#;
        for (name, shown) in screens(&sim) {
            assert!(shown.contains(drift_held) && shown.contains(undo), "{name}\n{shown}");
            assert!(!shown.contains(hold), "it is in effect: {name}\n{shown}");
            assert!(shown.contains(family), "{name}\n{shown}");
            assert!(shown.contains("once drift is no longer held"), "{name}\n{shown}");
        }
        change(&sim, undo);
        for (name, shown) in screens(&sim) {
            assert!(!shown.contains(drift_held), "{name}\n{shown}");
            assert_eq!(first_patch(&shown), hold, "{name}\n{shown}");
        }
        change(
            &sim,
            r#"kubectl patch nodepool default --type=merge -p '{"spec":{"limits":{"nodes":"0"}}}'"#,
        );
        let limit = r#"kubectl patch nodepool default --type=merge -p '{"spec":{"limits":{"nodes":null}}}'"#;
        for (name, shown) in screens(&sim) {
            let said = "NodePool default creates no nodes: its limit of nodes is 0.";
            assert!(shown.contains(said) && shown.contains(limit), "{name}\n{shown}");
            assert!(!shown.contains(r#"{"nodes":"0"}}}"#), "it is in effect: {name}\n{shown}");
        }
        delete_node_pool(&sim, "default");
        for (name, shown) in screens(&sim) {
            assert!(shown.contains("NodePool default no longer exists"), "{name}\n{shown}");
            assert!(!shown.contains("kubectl patch"), "{name}\n{shown}");
        }
    }
}

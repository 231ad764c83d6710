//! VMs are created, boot, and join or fail.

use std::collections::BTreeMap;
use std::time::Duration;

use mooring_codes::{Os, image_date, lookup_named};
use tokio::time::Instant;

use crate::environment::{DemoEnvironment, POLL_INTERVAL};
use crate::error::{DemoError, expect};
use crate::observer::{CONDITION, ObservedClaim, condition};
use crate::present::output::{DemoMark, seconds};
use crate::present::result::{NodeFailure, NodeResult};
use crate::scenario::{BootStep, NodeEnd, NodeStarter};
use crate::vm::vms::{FinishedVm, VmEvent};

#[derive(Default)]
struct BootProgress {
    machine: Option<FinishedVm>,
    end: Option<NodeEnd>,
}

impl DemoEnvironment<'_> {
    pub(crate) async fn boot(&mut self, boot: &BootStep) -> Result<(), DemoError> {
        let began = Instant::now();
        let claims = self.claim_nodes(boot)?;
        let isolated = self.registry.as_ref().map_or_else(String::new, |registry| {
            format!("; these nodes fetch everything from {registry} with oras")
        });
        let image = self.images.get(&boot.image);
        let starts = match image.map(|image| (image.starter, image.preflight)) {
            None | Some((NodeStarter::Agent, _)) => "the agent",
            Some((NodeStarter::Scripts, false)) => "the scripts of the image",
            Some((NodeStarter::Scripts, true)) => "the scripts of the image, which check oras",
        };
        let vms = if boot.nodes == 1 { "a VM".to_owned() } else { format!("{} VMs", boot.nodes) };
        let text = format!(
            "Pods pending; Karpenter launches {vms}, each a directory that starts {starts}{isolated}"
        );
        self.output.print(DemoMark::Note, &text);
        let mut nodes: BTreeMap<String, BootProgress> =
            claims.iter().map(|claim| (claim.clone(), BootProgress::default())).collect();
        while nodes.values().any(|node| node.end.is_none()) {
            self.handle_events(&mut nodes)?;
            for (name, node) in &mut nodes {
                self.describe_failed(name);
                if node.end.is_none()
                    && let Some(claim) = self.observer.claim(name)
                {
                    node.end = end_of(&claim, node.machine.as_ref());
                    if let Some(end) = node.end {
                        self.report_end(name, boot, &claim, node.machine.as_ref(), end)?;
                    }
                }
            }
            let ended = nodes.values().filter(|node| node.end.is_some()).count();
            let text = format!("{ended} of {} have joined or failed", boot.nodes);
            self.output.now(&format!("{text}  {}", seconds(began.elapsed())));
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let of = |end| {
            let nodes = nodes.values().filter(|node| node.end == Some(end)).count();
            u16::try_from(nodes).unwrap_or(u16::MAX)
        };
        expect("nodes that joined", &of(NodeEnd::Joined), &boot.joined)?;
        expect("nodes that failed", &of(NodeEnd::Failed), &boot.failed)
    }

    /// Creates NodeClaims for VMs of this image, as Karpenter does for pending pods.
    fn claim_nodes(&mut self, boot: &BootStep) -> Result<Vec<String>, DemoError> {
        let world = self.simulation.shell().world().clone();
        let names: Vec<String> = (0..boot.nodes).map(|_| name(&mut self.random)).collect();
        world.with(|world, now| {
            if let Some(karpenter) = world.karpenter_mut() {
                karpenter.roll_image(&boot.image);
            }
            for name in &names {
                world
                    .create_claim(name, now)
                    .map_err(|error| DemoError::broken("the NodeClaim", error.message))?;
            }
            Ok(names.clone())
        })
    }

    /// Starts to describe the first failed NodeClaim while it exists.
    fn describe_failed(&mut self, name: &str) {
        let Some(kubectl) = self.kubectl.clone().filter(|_| self.descriptions.is_empty()) else {
            return;
        };
        let failed = |claim: &ObservedClaim| claim.reported.is_some() && claim.gone.is_none();
        if self.observer.claim(name).is_some_and(|claim| failed(&claim)) {
            let name = name.to_owned();
            self.descriptions.spawn(async move {
                let shown = kubectl.describe("nodeclaim", &name).await;
                (name, shown)
            });
        }
    }

    fn handle_events(
        &mut self,
        nodes: &mut BTreeMap<String, BootProgress>,
    ) -> Result<(), DemoError> {
        while let Ok(news) = self.news.try_recv() {
            match news {
                VmEvent::Boots(vm) => {
                    self.output.now(&format!("{} boots", vm.name));
                }
                VmEvent::Ended(machine) => {
                    if let Some(node) = nodes.get_mut(&machine.vm.claim) {
                        node.machine = Some(machine);
                    }
                }
                VmEvent::Broken { vm, why } => return Err(DemoError::broken(&vm, why)),
            }
        }
        Ok(())
    }

    fn report_end(
        &mut self,
        name: &str,
        boot: &BootStep,
        claim: &ObservedClaim,
        machine: Option<&FinishedVm>,
        end: NodeEnd,
    ) -> Result<(), DemoError> {
        let vm = machine.map_or_else(|| format!("aks-{name}"), |machine| machine.vm.name.clone());
        let took =
            machine.map_or_else(String::new, |machine| format!("  {}", seconds(machine.took)));
        let mut failure = None;
        match end {
            NodeEnd::Joined => self.output.print(DemoMark::Good, &format!("{vm}  joined{took}")),
            NodeEnd::Silent => self.output.print(
                DemoMark::Struck,
                &format!("{vm}  CSE succeeded, and no node registers{took}"),
            ),
            NodeEnd::Failed => {
                let said =
                    machine.map_or_else(|| condition_message(claim), |machine| &machine.cause);
                let code =
                    machine.map_or_else(|| condition_code(said), |machine| Some(machine.code));
                let code_text = code
                    .map_or_else(|| "no code".to_owned(), |code| named(code, said, &boot.image));
                let lead = lead(claim).map_or_else(String::new, |lead| {
                    format!(", reported {} before Karpenter deleted the NodeClaim", seconds(lead))
                });
                self.output.print(DemoMark::Bad, &format!("{vm}  {code_text}{took}{lead}"));
                failure = Some(NodeFailure {
                    code: code_text,
                    cause: condition_message(claim).to_owned(),
                });
                if claim.reported.is_none() {
                    return Err(DemoError::Unmet(format!(
                        "NodeClaim {name} was deleted before the cause was reported"
                    )));
                }
                if let (Some(expected), Some(code)) = (boot.code, code) {
                    expect(&format!("the exit code of {vm}"), &code, &expected)?;
                }
            }
        }
        self.result.nodes.push(NodeResult {
            vm,
            claim: name.to_owned(),
            image: boot.image.clone(),
            root: machine.map(|machine| machine.root.clone()),
            end,
            failure,
        });
        Ok(())
    }
}

/// Returns the result of a node, if known.
fn end_of(claim: &ObservedClaim, machine: Option<&FinishedVm>) -> Option<NodeEnd> {
    if claim.has_joined() {
        Some(NodeEnd::Joined)
    } else if claim.gone.is_some() {
        Some(NodeEnd::Failed)
    } else {
        let machine = machine.filter(|machine| machine.code == 0)?;
        // A node that is expected not to register would have registered by now.
        machine.overdue.filter(|at| Instant::now() >= *at).map(|_| NodeEnd::Silent)
    }
}

/// Time from the report of the cause to the deletion of the NodeClaim.
fn lead(claim: &ObservedClaim) -> Option<Duration> {
    let (_, reported) = claim.reported.as_ref()?;
    Some(claim.gone?.duration_since(*reported))
}

/// Returns the code with its name, such as `232 ERR_ORAS_BINARY_NOT_FOUND`.
fn named(code: i32, said: &str, image: &str) -> String {
    let meanings = lookup_named(Os::Linux, code, said, image_date(image).ok());
    meanings.first().map_or_else(|| code.to_string(), |meaning| format!("{code} {}", meaning.name))
}

fn condition_message(claim: &ObservedClaim) -> &str {
    let reported = claim.reported.as_ref().and_then(|(object, _)| condition(object, CONDITION));
    reported.map_or("", |reported| reported.message)
}

/// Parses the exit code in the condition's message.
fn condition_code(message: &str) -> Option<i32> {
    let digits = message.split("exited with code ").nth(1)?;
    digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// Generates a name as Karpenter does.
fn name(random: &mut mooring_simulator::random::Random) -> String {
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    let digits = (0..5).map(|_| {
        let at = random.below(letters.len() as u64);
        char::from(letters[usize::try_from(at).unwrap_or_default()])
    });
    format!("default-{}", digits.collect::<String>())
}

//! Machines are made, boot, and join or fail.

use std::collections::BTreeMap;
use std::time::Duration;

use mooring_codes::{Os, image_date, lookup_named};
use tokio::time::Instant;

use crate::observer::{CONDITION, Claim, condition};
use crate::room::{Machine, News};
use crate::scenario::Boot;
use crate::stage::{LOOK, Stage};
use crate::story::{NodeEnd, NodeTold};
use crate::trouble::{Trouble, expect};
use crate::voice::{Mark, seconds};

#[derive(Default)]
struct Standing {
    machine: Option<Machine>,
    end: Option<NodeEnd>,
}

impl Stage<'_> {
    pub(super) async fn boot(&mut self, boot: &Boot) -> Result<(), Trouble> {
        let began = Instant::now();
        let claims = self.claim_nodes(boot)?;
        let isolated = self.registry.as_ref().map_or_else(String::new, |registry| {
            format!("; these nodes fetch everything from {registry} with oras")
        });
        let text = format!(
            "pods wait, Karpenter makes {} VMs, each boots the agent in a folder{isolated}",
            boot.nodes
        );
        self.voice.say(Mark::Note, &text);
        let mut nodes: BTreeMap<String, Standing> =
            claims.iter().map(|claim| (claim.clone(), Standing::default())).collect();
        while nodes.values().any(|node| node.end.is_none()) {
            self.hear(&mut nodes)?;
            for (name, node) in &mut nodes {
                self.describe_failed(name);
                if node.end.is_none()
                    && let Some(claim) = self.observer.claim(name)
                {
                    node.end = end_of(&claim, node.machine.as_ref());
                    if let Some(end) = node.end {
                        self.tell_end(name, boot, &claim, node.machine.as_ref(), end)?;
                    }
                }
            }
            let ended = nodes.values().filter(|node| node.end.is_some()).count();
            let text = format!("{ended} of {} have joined or failed", boot.nodes);
            self.voice.now(&format!("{text}  {}", seconds(began.elapsed())));
            tokio::time::sleep(LOOK).await;
        }
        let of = |end| {
            let nodes = nodes.values().filter(|node| node.end == Some(end)).count();
            u16::try_from(nodes).unwrap_or(u16::MAX)
        };
        expect("nodes that joined", &of(NodeEnd::Joined), &boot.joined)?;
        expect("nodes that failed", &of(NodeEnd::Failed), &boot.failed)
    }

    /// Makes claims, as Karpenter does for pods that wait, for machines of this image.
    fn claim_nodes(&mut self, boot: &Boot) -> Result<Vec<String>, Trouble> {
        let world = self.simulation.shell().world().clone();
        let names: Vec<String> = (0..boot.nodes).map(|_| name(&mut self.random)).collect();
        world.with(|world, now| {
            if let Some(karpenter) = world.karpenter_mut() {
                karpenter.roll_image(&boot.image);
            }
            for name in &names {
                world
                    .create_claim(name, now)
                    .map_err(|error| Trouble::broken("the NodeClaim", error.message))?;
            }
            Ok(names.clone())
        })
    }

    /// Begins to describe the first NodeClaim that shows a failure, while it exists.
    fn describe_failed(&mut self, name: &str) {
        let Some(kubectl) = self.kubectl.clone().filter(|_| self.descriptions.is_empty()) else {
            return;
        };
        let failed = |claim: &Claim| claim.told.is_some() && claim.gone.is_none();
        if self.observer.claim(name).is_some_and(|claim| failed(&claim)) {
            let name = name.to_owned();
            self.descriptions.spawn(async move {
                let shown = kubectl.describe("nodeclaim", &name).await;
                (name, shown)
            });
        }
    }

    /// Hears what happened in the machine room.
    fn hear(&mut self, nodes: &mut BTreeMap<String, Standing>) -> Result<(), Trouble> {
        while let Ok(news) = self.news.try_recv() {
            match news {
                News::Boots(vm) => self.voice.now(&format!("{} runs, its agent starts", vm.name)),
                News::Ended(machine) => {
                    if let Some(node) = nodes.get_mut(&machine.vm.claim) {
                        node.machine = Some(machine);
                    }
                }
                News::Broken { vm, why } => return Err(Trouble::broken(&vm, why)),
            }
        }
        Ok(())
    }

    fn tell_end(
        &mut self,
        name: &str,
        boot: &Boot,
        claim: &Claim,
        machine: Option<&Machine>,
        end: NodeEnd,
    ) -> Result<(), Trouble> {
        let vm = machine.map_or_else(|| format!("aks-{name}"), |machine| machine.vm.name.clone());
        let took =
            machine.map_or_else(String::new, |machine| format!("  {}", seconds(machine.took)));
        match end {
            NodeEnd::Joined => self.voice.say(Mark::Good, &format!("{vm}  joined{took}")),
            NodeEnd::Silent => self
                .voice
                .say(Mark::Struck, &format!("{vm}  CSE succeeded, and no node registers{took}")),
            NodeEnd::Failed => {
                let said = machine.map_or_else(|| told_message(claim), |machine| &machine.cause);
                let code = machine.map_or_else(|| told_code(said), |machine| Some(machine.code));
                let code_text = code
                    .map_or_else(|| "no code".to_owned(), |code| named(code, said, &boot.image));
                let lead = lead(claim).map_or_else(String::new, |lead| {
                    format!(", told {} before Karpenter deleted the claim", seconds(lead))
                });
                self.voice.say(Mark::Bad, &format!("{vm}  {code_text}{took}{lead}"));
                if claim.told.is_none() {
                    return Err(Trouble::Unmet(format!(
                        "NodeClaim {name} was gone before the cause stood on it"
                    )));
                }
                if let (Some(expected), Some(code)) = (boot.code, code) {
                    expect(&format!("the exit code of {vm}"), &code, &expected)?;
                }
            }
        }
        self.story.nodes.push(NodeTold {
            vm,
            claim: name.to_owned(),
            image: boot.image.clone(),
            root: machine.map(|machine| machine.root.clone()),
            end,
        });
        Ok(())
    }
}

/// What became of a node, if that is known by now.
fn end_of(claim: &Claim, machine: Option<&Machine>) -> Option<NodeEnd> {
    if claim.has_joined() {
        Some(NodeEnd::Joined)
    } else if claim.gone.is_some() {
        Some(NodeEnd::Failed)
    } else if machine.is_some_and(|machine| machine.code == 0 && is_overdue(machine)) {
        Some(NodeEnd::Silent)
    } else {
        None
    }
}

/// True if a node that shall not register would have done so by now.
fn is_overdue(machine: &Machine) -> bool {
    machine.overdue.is_some_and(|at| Instant::now() >= at)
}

/// How long the cause stood on a claim until it was gone.
fn lead(claim: &Claim) -> Option<Duration> {
    let (_, told) = claim.told.as_ref()?;
    Some(claim.gone?.duration_since(*told))
}

/// `232 ERR_ORAS_BINARY_NOT_FOUND`, by what the node or the claim says of it.
fn named(code: i32, said: &str, image: &str) -> String {
    let meanings = lookup_named(Os::Linux, code, said, image_date(image).ok());
    meanings.first().map_or_else(|| code.to_string(), |meaning| format!("{code} {}", meaning.name))
}

fn told_message(claim: &Claim) -> &str {
    let told = claim.told.as_ref().and_then(|(object, _)| condition(object, CONDITION));
    told.map_or("", |told| told.message)
}

/// The code that the condition tells.
fn told_code(message: &str) -> Option<i32> {
    let digits = message.split("exited with code ").nth(1)?;
    digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// A name as Karpenter makes them.
fn name(random: &mut mooring_simulator::random::Random) -> String {
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    let digits = (0..5).map(|_| {
        let at = random.below(letters.len() as u64);
        char::from(letters[usize::try_from(at).unwrap_or_default()])
    });
    format!("default-{}", digits.collect::<String>())
}

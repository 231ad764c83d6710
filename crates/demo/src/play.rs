//! A story from its beginning to its end, with nothing left behind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use crate::place::Place;
use crate::scenario::{Chapter, Scenario};
use crate::stage::{LOOK, Setting, Stage};
use crate::story::{ChapterTold, NodeEnd};
use crate::trouble::Trouble;
use crate::voice::{Mark, Voice, seconds};
use crate::{files, processes, report};

/// What to play, and how.
#[derive(Debug)]
pub struct Options {
    pub scenario: Scenario,
    pub name: String,
    /// This program: it is the agent, the controller and the repair.
    pub mooring: PathBuf,
    /// How much faster than the scenario says.
    pub speed: f64,
    pub seed: u64,
    /// Whether everything stays open at the end, until somebody asks for the end.
    pub keep: bool,
    /// A folder in which nodes, logs and the report stay; without it, all but the report is temporary.
    pub out: Option<PathBuf>,
}

/// Plays a story; `stop` ends it at any time. Nothing that was started outlives this.
pub async fn play(
    options: &Options,
    voice: &mut Voice,
    stop: impl Future<Output = ()>,
) -> Result<(), Trouble> {
    let mut place = Place::new(options.out.as_deref())?;
    let mut stop = std::pin::pin!(stop);
    let told = {
        let story = tell(options, voice, &place);
        let mut story = std::pin::pin!(story);
        tokio::select! {
            told = &mut story => told,
            () = &mut stop => Err(Trouble::Interrupted),
        }
    };
    let ended = match told {
        Ok(stage) => {
            if options.keep {
                stop.await;
            }
            // With the stage go the clouds and the controller.
            drop(stage);
            Ok(())
        }
        Err(trouble) => Err(trouble),
    };
    if let Err(Trouble::Unmet(_) | Trouble::Broken(_)) = &ended {
        place.keep();
    }
    // Nodes may have left processes in groups of their own, and machines that were being made go on for a moment:
    // both write into the folder while they live.
    let mut quiet = 0;
    for _ in 0..200 {
        let left = processes::sweep(&place.folder);
        quiet = if left == 0 && place.clear() { quiet + 1 } else { 0 };
        if quiet == 2 {
            break;
        }
        tokio::time::sleep(LOOK).await;
    }
    ended
}

/// Tells the story; what it happened on is handed back, so that it can be kept open.
async fn tell<'v>(
    options: &Options,
    voice: &'v mut Voice,
    place: &Place,
) -> Result<Stage<'v>, Trouble> {
    let began = Instant::now();
    let Options { scenario, name, .. } = options;
    let speed = scenario.speed * options.speed;
    voice.plain(&format!("mooring demo: {name}"));
    voice.plain(scenario.description.trim());
    voice.plain(&format!(
        "Everything is real except the clouds. Time runs {speed} times faster than in Azure."
    ));
    voice.heading(1, "Azure, a cluster and Karpenter");
    let setting = Setting {
        scenario,
        mooring: &options.mooring,
        folder: &place.folder,
        speed,
        seed: options.seed,
    };
    let mut stage = Stage::set(&setting, voice)
        .await
        .map_err(|trouble| chapter_failed(trouble, 1, &place.folder))?;
    let took = began.elapsed();
    stage
        .story
        .chapters
        .push(ChapterTold { title: "Azure, a cluster and Karpenter".to_owned(), took });
    for (number, chapter) in (2..).zip(&scenario.chapters) {
        play_chapter(&mut stage, number, chapter, options.speed)
            .await
            .map_err(|trouble| chapter_failed(trouble, number, &place.folder))?;
    }
    let nodes = stage.story.nodes.iter();
    let left: Vec<_> =
        nodes.map(|node| node.root.as_deref().map(files::left_by).unwrap_or_default()).collect();
    let page = report::page(name, scenario, &stage.story, &left);
    files::replace(&place.report, &page).map_err(|error| {
        Trouble::Broken(format!(
            "cannot write the report {}: {error}\nhint: `--out DIR` names a folder for it",
            place.report.display()
        ))
    })?;
    end(&mut stage, place, began.elapsed(), options);
    Ok(stage)
}

async fn play_chapter(
    stage: &mut Stage<'_>,
    number: usize,
    chapter: &Chapter,
    faster: f64,
) -> Result<(), Trouble> {
    let began = Instant::now();
    stage.voice.heading(number, &chapter.title);
    if let Some(speed) = chapter.speed {
        stage.set_speed(speed * faster);
        stage
            .voice
            .say(Mark::Note, &format!("time runs {} times faster from here on", speed * faster));
    }
    let limit = Duration::from_secs(chapter.limit_seconds);
    let acts = async {
        for act in &chapter.acts {
            stage.play(act).await?;
        }
        Ok(())
    };
    tokio::time::timeout(limit, acts)
        .await
        .map_err(|_| Trouble::Broken(format!("it was not over after {}", seconds(limit))))??;
    let told = ChapterTold { title: chapter.title.clone(), took: began.elapsed() };
    stage.story.chapters.push(told);
    Ok(())
}

/// Which chapter failed, and where its logs are.
fn chapter_failed(trouble: Trouble, number: usize, folder: &Path) -> Trouble {
    let logs = folder.join("logs");
    trouble
        .with(&format!("\nchapter {number} did not come true; its logs are in {}", logs.display()))
}

/// What happened, and how to look further.
fn end(stage: &mut Stage<'_>, place: &Place, took: Duration, options: &Options) {
    let chapters = stage.story.chapters.clone();
    let lines = stage.story.summary();
    let failed = stage.story.last(NodeEnd::Failed).cloned();
    let joined = stage.story.last(NodeEnd::Joined).cloned();
    let booted = stage.story.nodes.iter().rev().find_map(|node| node.root.clone());
    let voice = &mut *stage.voice;
    voice.heading(chapters.len() + 1, "What happened");
    for line in lines {
        voice.say(Mark::Good, &line);
    }
    let times: Vec<String> = chapters
        .iter()
        .zip(1..)
        .map(|(chapter, number)| format!("{number}: {}", seconds(chapter.took)))
        .collect();
    voice.say(Mark::Note, &format!("{} in all (chapters {})", seconds(took), times.join(", ")));
    voice.say(Mark::Note, &format!("report: {}", place.report.display()));
    voice.plain("");
    let stays = options.keep || place.stays();
    if options.keep {
        let azure = place.folder.join("azure");
        voice.plain("Everything stays open until Ctrl-C. In another terminal:");
        voice.plain(&format!("  . {}", azure.join("env.sh").display()));
        voice.plain(&format!(
            "  kubectl --kubeconfig {} describe nodepool default",
            azure.join("kubeconfig").display()
        ));
        if let Some(node) = &joined {
            voice.plain(&format!("  kubectl describe nodeclaim {}", node.claim));
        }
        if let Some(node) = &failed {
            voice.plain(&format!("  mooring why {}", node.claim));
        }
        voice.plain("  mooring fleet");
        voice.plain("  mooring repair status --all");
    } else {
        voice.plain(
            "To look further: `mooring demo --keep` holds everything open for kubectl and mooring,",
        );
        voice.plain("`mooring demo --out DIR` keeps nodes and logs, `mooring demo --list` names other stories.");
    }
    if let Some(root) = booted.filter(|_| stays) {
        voice.plain(&format!("  mooring trace {}", root.display()));
    }
}

//! What must hold before anything is done, and what could not be read.

use crate::finalizers::machine::unreadable;
use crate::finalizers::seen::{Query, Seen, known};
use crate::finalizers::settings::Settings;
use crate::guards::{Guard, Outcome};
use crate::observation::Reading;

/// Why there is no answer; none if there is one, also if it is that there is nothing.
fn missing<T>(query: &Query, reading: Option<&Reading<T>>) -> Option<String> {
    reading
        .filter(|reading| matches!(reading, Reading::Denied(_) | Reading::Failed(_)))
        .map(|reading| unreadable(query, reading))
}

/// What must hold. Unknown is never pass; for what merely cannot be read, `--best-effort` goes on all the same.
pub(super) fn guards(seen: &Seen, settings: &Settings) -> Vec<Guard> {
    let running: Vec<String> = known(seen.controllers.as_ref())
        .iter()
        .filter(|controller| controller.runs())
        .map(|controller| controller.target.to_string())
        .collect();
    let running = running.join(", ");
    let gone = |outcome, evidence: String| Guard::new("operator-gone", outcome, evidence);
    let operator = match missing(&Query::Controllers, seen.controllers.as_ref()) {
        Some(why) => gone(Outcome::Unknown, why),
        None if running.is_empty() => {
            gone(Outcome::Pass, "nobody is there who would process the finalizers".to_owned())
        }
        None if settings.scale_down => {
            gone(Outcome::Pass, format!("it runs and will be scaled down: {running}"))
        }
        None => gone(Outcome::Fail, format!("it still runs: {running}")),
    };
    let mut unknown: Vec<String> =
        missing(&Query::Definitions, seen.definitions.as_ref()).into_iter().collect();
    unknown.extend(known(seen.definitions.as_ref()).iter().filter_map(|definition| {
        let query = Query::Objects(Box::new(definition.clone()));
        missing(&query, seen.objects.get(definition.name()))
    }));
    let mut objects =
        Guard::new("objects-known", Outcome::Pass, "all definitions and objects could be read");
    if !unknown.is_empty() {
        objects.outcome = Outcome::Unknown;
        objects.evidence = unknown;
        objects.overridden = settings.best_effort.then(|| "--best-effort".to_owned());
    }
    vec![operator, objects]
}

/// What else could not be read. It is left alone and told at the end.
pub(super) fn unread(seen: &Seen) -> Vec<String> {
    let mut unread: Vec<String> = seen
        .bindings
        .iter()
        .filter_map(|(name, reading)| missing(&Query::Binding(name.clone()), Some(reading)))
        .collect();
    unread.extend(missing(&Query::Release, seen.release.as_ref()));
    unread.extend(missing(&Query::Made, seen.made.as_ref()));
    unread.extend(missing(&Query::Namespace, seen.namespace.as_ref()));
    unread
}

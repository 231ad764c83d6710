//! The subject of a page: a pool, a node, an image, a cause, a code or a run.

use std::fmt::Write as _;

use mooring_diagnosis::{cause_page, find_codes};
use mooring_nodes::{Code, JoinState, Node};

use super::sections::runs;
use crate::html::{
    card, cause_link, code_link, command, duration, escape, exact_clock, explain_command,
    image_link, link, pool_link, why_command, word,
};
use crate::model::PageModel;
use crate::view::{PageView, Route};

/// Returns the section about the subject, empty on the overview; none if it does not exist.
pub(super) fn section(model: &PageModel<'_>) -> Option<String> {
    let (kind, html) = match &model.view.route {
        Route::Overview => return Some(String::new()),
        Route::Failures => ("Failures", String::new()),
        Route::Joining => ("Nodes joining", String::new()),
        Route::Pool(name) => {
            let nodes = &model.facts.inventory.nodes;
            let is_known = nodes.iter().any(|node| node.pool.as_deref() == Some(name))
                || model.status.pools.iter().any(|pool| pool.name == *name)
                || model.facts.karpenter.pool(name).is_some();
            is_known.then_some(())?;
            ("Pool", subject(&format!("Pool {name}"), &why_command(name)))
        }
        Route::Image(name) => {
            let known = model.facts.inventory.nodes.iter().any(|node| model.has_image(node));
            known.then_some(())?;
            ("Image", subject(&format!("Image {name}"), ""))
        }
        Route::Node(name) => ("Node", node_card(model, find_node(model, name)?)),
        Route::Cause(name) => ("Cause", cause_card(model, name)?),
        Route::Code(code) => ("Code", code_card(model, *code)?),
        Route::Run(id) => ("Run", runs::run_card(model, runs::find(model, id)?)),
    };
    Some(breadcrumb(model, kind) + &html)
}

pub(super) fn not_found(model: &PageModel<'_>) -> String {
    let unread = model.facts.unread();
    let html = if unread.is_empty() {
        "<p>Nothing in this cluster or its failure record has this name.</p>".to_owned()
    } else {
        format!("<p>Nothing that was read has this name. {}</p>", escape(&unread.join(" ")))
    };
    breadcrumb(model, "Not found") + &card("h-subject", "Not found", "", &html)
}

/// Renders a breadcrumb to the overview.
fn breadcrumb(model: &PageModel<'_>, kind: &str) -> String {
    format!(
        "<nav aria-label=\"Breadcrumb\" class=\"crumb\">{} › {}</nav>",
        link(model.view, Route::Overview, "Overview"),
        escape(kind)
    )
}

fn subject(title: &str, html: &str) -> String {
    format!("<div class=\"subject\"><h2>{}</h2>{html}</div>", escape(title))
}

fn find_node<'a>(model: &'a PageModel<'_>, name: &str) -> Option<&'a Node> {
    let nodes = &model.facts.inventory.nodes;
    // The newest: a name may be used again.
    nodes.iter().rev().find(|node| node.is_named(name) || node.uid == name)
}

struct Facts(String);

impl Facts {
    fn new() -> Self {
        Self(String::from("<dl class=\"facts\">"))
    }

    /// Adds HTML under a label.
    fn add(&mut self, label: &str, html: &str) {
        if !html.is_empty() {
            let _ = write!(self.0, "<dt>{label}</dt><dd>{html}</dd>");
        }
    }

    fn text(&mut self, label: &str, text: Option<&str>) {
        self.add(label, &escape(text.unwrap_or_default()));
    }

    fn finish(self) -> String {
        self.0 + "</dl>"
    }
}

fn node_card(model: &PageModel<'_>, node: &Node) -> String {
    let mut facts = Facts::new();
    let (severity, state) = match (node.state, node.exists) {
        (JoinState::Ready, _) => ("good", "ready"),
        (JoinState::NotReady, _) => ("slow", "not ready"),
        (JoinState::Joined, _) => ("slow", "joined, not known if ready"),
        (JoinState::Joining, _) => ("calm", "joining"),
        (JoinState::Failed, true) => ("failed", "failed"),
        (JoinState::Failed, false) => ("failed", "failed, deleted"),
    };
    facts.add("State", &word(severity, state));
    facts.text("NodeClaim", node.node_claim.as_deref());
    facts.text("Node", node.node.as_deref());
    let pool = node.pool.as_deref().map(|pool| pool_link(model.view, pool));
    facts.add("Pool", &pool.unwrap_or_default());
    let image = node.image.as_deref().map(|name| image_link(model.view, name));
    facts.add("Image", &image.unwrap_or_default());
    facts.text("Size", node.instance_type.as_deref());
    facts.text("Zone", node.zone.as_deref());
    for (label, at) in
        [("Created", node.created_at), ("Launched", node.launched_at), ("Joined", node.joined_at)]
    {
        facts.add(label, &at.map(|at| exact_clock(at, model.now)).unwrap_or_default());
    }
    if let Some(failure) = &node.failure {
        facts.add("Cause", &cause_link(model.view, &failure.cause));
        for (label, code) in [("Code", &failure.effective), ("Reported", &failure.reported)] {
            if let Some(Code { code, name }) = code {
                let name = name.as_deref().unwrap_or_default();
                facts.add(label, &code_and_name(model.view, *code, name));
            }
        }
        facts.text("Stage", Some(failure.stage));
        facts.text("Owner", failure.owner.as_deref());
        let failed = failure.failed_at.map(|at| exact_clock(at, model.now));
        let after =
            node.seconds_to_failure().map(|after| format!(", {} after launch", duration(after)));
        let late = failure.seconds_to_late_report();
        let late = late.map(|late| format!(", reported {} later", duration(late)));
        let failed = [failed, after, late].map(Option::unwrap_or_default).concat();
        facts.add("Failed", &failed);
        for line in &failure.evidence {
            facts.add("Evidence", &format!("<code>{}</code>", escape(&line.line)));
        }
        facts.text("Message", Some(&failure.message));
    }
    facts.add("Next", &why_command(node.name()));
    card("h-subject", &format!("Node {}", node.name()), "", &facts.finish())
}

fn code_and_name(view: &PageView, code: i32, name: &str) -> String {
    format!("{} {}", code_link(view, code), escape(name))
}

fn cause_card(model: &PageModel<'_>, name: &str) -> Option<String> {
    let Some(page) = cause_page(name) else {
        let mut failures =
            model.facts.inventory.nodes.iter().filter_map(|one| one.failure.as_ref());
        let is_known = !find_codes(name).is_empty()
            || failures.any(|failure| failure.cause.eq_ignore_ascii_case(name));
        return is_known.then(|| subject(&format!("Cause {name}"), &explain_command(name)));
    };
    let mut facts = Facts::new();
    facts.text("Summary", Some(page.summary));
    facts.text("Symptom", Some(&page.symptom));
    facts.text("Owner", Some(page.owner.as_str()));
    facts.text("Stage", Some(page.stage.as_str()));
    let mut actions = String::new();
    for action in &page.actions {
        let _ = write!(actions, "<li>{}</li>", escape(action));
    }
    facts.add("Next steps", &format!("<ol class=\"plain\">{actions}</ol>"));
    let codes = page.codes.iter().map(|code| code_and_name(model.view, code.number, code.name));
    facts.add("Codes", &codes.collect::<Vec<_>>().join(", "));
    facts.add("More", &explain_command(page.reason));
    facts.add("Docs", &docs_link(model.snapshot.docs.cause(page.reason)));
    Some(card("h-subject", &format!("Cause {}", page.reason), "", &facts.finish()))
}

/// Renders a link to a published page, if there is one.
fn docs_link(url: Option<String>) -> String {
    let link = |url: String| format!("<a href=\"{0}\" rel=\"noreferrer\">{0}</a>", escape(&url));
    url.map_or_else(String::new, link)
}

fn code_card(model: &PageModel<'_>, code: i32) -> Option<String> {
    let rows = mooring_codes::lookup(mooring_codes::Os::Linux, code, None);
    let row = rows.first();
    if row.is_none() && model.failures().is_empty() {
        return None;
    }
    let mut facts = Facts::new();
    if let Some(row) = row {
        facts.text("Name", Some(row.name));
        facts.text("Meaning", Some(row.meaning));
        facts.text("Cause", Some(row.cause));
        facts.text("Next step", Some(row.action));
        facts.text("Owner", Some(row.owner.as_str()));
    }
    facts.add("More", &command(&format!("mooring explain {code}")));
    facts.add("Docs", &docs_link(model.snapshot.docs.code(code)));
    Some(card("h-subject", &format!("Exit code {code}"), "", &facts.finish()))
}

//! Card: a section with a heading.

use crate::html::escape;

/// Renders a card with a heading.
pub(super) fn card(id: &str, heading: &str, small: &str, html: &str) -> String {
    let small =
        if small.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(small)) };
    format!(
        "<section class=\"card\" aria-labelledby=\"{id}\"><h2 id=\"{id}\">{}{small}</h2>{html}</section>",
        escape(heading)
    )
}

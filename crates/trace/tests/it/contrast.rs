//! Contrast of text on the pages, computed from the stylesheet (WCAG 2.2, 1.4.3).

use std::collections::{BTreeMap, BTreeSet};

use mooring_trace::bars::{self, Bar, BarRow, Chart, Tone};
use mooring_trace::page::HtmlPage;

const MIN_RATIO: f64 = 4.5;

type Color = [f64; 3];
type Theme = BTreeMap<String, Color>;

fn stylesheet() -> String {
    let page = HtmlPage::new("x").finish();
    page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0.to_owned()
}

/// Returns the custom properties of a block that starts with this text.
fn theme(css: &str, start: &str) -> Theme {
    let block = css.split_once(start).unwrap().1.split_once('}').unwrap().0;
    let declarations = block.split([';', '{']).filter_map(|one| one.trim().split_once(": "));
    let color = |(name, value): (&str, &str)| {
        let hex = u32::from_str_radix(value.strip_prefix('#')?, 16).ok()?;
        let channel = |shift: u32| f64::from((hex >> shift) & 0xff) / 255.0;
        Some((name.strip_prefix("--")?.to_owned(), [channel(16), channel(8), channel(0)]))
    };
    declarations.filter_map(color).collect()
}

fn luminance(color: Color) -> f64 {
    let linear =
        color.map(
            |part| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) },
        );
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn ratio(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Colors of text, and of surfaces below text: names of custom properties.
#[derive(Debug, Default)]
struct Used {
    text: BTreeSet<String>,
    surfaces: BTreeSet<String>,
}

fn used(css: &str) -> Used {
    let mut used = Used::default();
    for rule in css.split('}') {
        let Some((selector, declarations)) = rule.rsplit_once('{') else { continue };
        // Bars and hatches have no text on them: notes that overlap a bar have a separate surface.
        let is_bar = [".bar", ".hatch"].iter().any(|shape| selector.contains(shape));
        let is_surface = [".stripe", ".note-ground"].iter().any(|shape| selector.contains(shape));
        for declaration in declarations.split(';') {
            let Some((property, value)) = declaration.trim().split_once(": ") else { continue };
            let Some(name) = value.strip_prefix("var(--").and_then(|rest| rest.strip_suffix(')'))
            else {
                continue;
            };
            match property {
                "color" => used.text.insert(name.to_owned()),
                "background" => used.surfaces.insert(name.to_owned()),
                "fill" if is_surface => used.surfaces.insert(name.to_owned()),
                "fill" if !is_bar => used.text.insert(name.to_owned()),
                _ => false,
            };
        }
    }
    used
}

#[test]
fn every_text_color_is_readable_on_every_surface() {
    assert!((ratio([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let css = stylesheet();
    let used = used(&css);
    let names = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(names(&used.text), "failed good muted plain slow text");
    assert_eq!(names(&used.surfaces), "ground raised");
    for (start, kind) in
        [(":root {", "light"), ("dark) {\n  :root:not([data-theme=light]) {", "dark")]
    {
        let theme = theme(&css, start);
        let mut surfaces: Vec<Color> = used.surfaces.iter().map(|name| theme[name]).collect();
        // A stripe of a chart: 55 % of the ground over the raised surface.
        let (ground, raised) = (theme["ground"], theme["raised"]);
        surfaces.push(std::array::from_fn(|part| 0.55 * ground[part] + 0.45 * raised[part]));
        for name in &used.text {
            for surface in &surfaces {
                let ratio = ratio(theme[name], *surface);
                assert!(ratio >= MIN_RATIO, "{kind}: {name} on {surface:?}: {ratio:.2}");
            }
        }
    }
}

#[test]
fn note_that_overlaps_a_bar_has_a_surface() {
    let draw = |to: f64| {
        let bars = vec![Bar { from: 0.0, to, tone: Tone::Failed, outlined: false }];
        let note = "✗ failed after 1 min 14 s".to_owned();
        let row = BarRow { bars, note, ..BarRow::default() };
        bars::svg(&Chart { label: String::new(), seconds: 10.0, rows: vec![row] })
    };
    let whole = draw(10.0);
    let (surface, note) = (whole.find("note-ground"), whole.find("class=\"note\""));
    assert!(surface.is_some() && surface < note, "{whole}");
    assert!(!draw(1.0).contains("note-ground"));
}

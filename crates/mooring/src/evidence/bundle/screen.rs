//! The screen of `mooring bundle`.

use mooring_terminal::{Column, Mark, Screen, Table, Text};
use mooring_workflow::plural::counted;

use super::archive::{Contents, FileOrigin};

/// Skipped files on the screen; manifest.json lists all.
const MAX_SKIPPED: usize = 8;

pub(super) fn screen(path: &str, bytes: usize, contents: &Contents, is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    // Counts manifest.json.
    let files = contents.entries.len() + 1;
    let secrets = counted(contents.redactions(), "secret");
    screen.marked(
        Mark::Good,
        Text::default()
            .bold(path)
            .plain(format!(": {files} files, {}, {secrets} redacted", size(bytes))),
    );
    for (label, part) in [
        ("Cluster", FileOrigin::Cluster),
        ("Azure", FileOrigin::Azure),
        ("Mooring", FileOrigin::Mooring),
        ("Node", FileOrigin::Node),
    ] {
        let names = names(contents, part);
        if !names.is_empty() {
            screen.label(label, [Text::new(names)]);
        }
    }
    if is_wide {
        screen.table(file_table(contents));
    }
    let most = if is_wide { contents.skipped.len() } else { MAX_SKIPPED };
    let skipped = contents.skipped.iter().take(most);
    let skipped = skipped.map(|one| Text::new(format!("{}: {}", one.label, one.why)));
    screen.label("Left out", skipped);
    if let Some(more) = contents.skipped.len().checked_sub(most).filter(|more| *more > 0) {
        screen.label("", [Text::new(format!("and {more} more; manifest.json lists all"))]);
    }
    let review = "Secrets are redacted by pattern, and some may remain: review the archive before you share it. manifest.json lists the redactions.";
    screen.label("Review", [Text::new(review)]);
    screen
}

/// Returns the files with their sizes and redactions.
fn file_table(contents: &Contents) -> Table {
    let mut table = Table::new([
        Column::left("FILE"),
        Column::right("BYTES"),
        Column::right("REDACTED"),
        Column::left("CONTENT").rank(1),
    ]);
    for entry in &contents.entries {
        let (bytes, redactions) = (entry.bytes.len().to_string(), entry.redactions.to_string());
        table.row([&entry.path, &bytes, &redactions, &entry.why].map(Text::new));
    }
    table
}

/// Returns the names of a part's files, each once, with a count if several nodes have it.
fn names(contents: &Contents, part: FileOrigin) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    let entries = contents.entries.iter().filter(|entry| entry.part == part);
    for entry in entries {
        match names.iter_mut().find(|(name, _)| *name == entry.label) {
            Some((_, count)) => *count += 1,
            None => names.push((&entry.label, 1)),
        }
    }
    let shown = names.into_iter().map(|(name, count)| match (name, count) {
        ("", count) => format!("{count} files: report, events, logs, versions"),
        (name, 1) => name.to_owned(),
        (name, count) => format!("{name} ({count})"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn size(bytes: usize) -> String {
    match bytes {
        ..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes.div_ceil(1_048_576)),
    }
}

#[cfg(test)]
mod tests {
    use mooring_terminal::Style;

    use super::super::archive::ArchivedFile;
    use super::*;

    fn entry(part: FileOrigin, label: &str) -> ArchivedFile {
        ArchivedFile {
            part,
            label: label.to_owned(),
            path: label.to_owned(),
            why: String::new(),
            original_bytes: 1,
            is_truncated: false,
            redactions: 1,
            bytes: vec![1],
        }
    }

    #[test]
    fn screen_names_the_contents_and_what_is_left_out() {
        let mut contents = Contents::default();
        contents.entries.push(entry(FileOrigin::Cluster, "NodeClaim"));
        contents.entries.push(entry(FileOrigin::Cluster, "14 events"));
        contents.entries.push(entry(FileOrigin::Azure, "VM"));
        contents.entries.push(entry(FileOrigin::Azure, "VM"));
        contents.skip_as("a/serial.log", "serial console log", "boot diagnostics are off");
        let text = screen("x.tar.gz", 2000, &contents, false).render(&Style::PIPE);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "✓ x.tar.gz: 5 files, 2 KiB, 4 secrets redacted");
        assert_eq!(lines[1], "Cluster     NodeClaim, 14 events");
        assert_eq!(lines[2], "Azure       VM (2)");
        assert_eq!(lines[3], "Left out    serial console log: boot diagnostics are off");
        for number in 1..MAX_SKIPPED {
            contents.skip(&number.to_string(), "x");
        }
        let text = screen("x.tar.gz", 2000, &contents, false).render(&Style::PIPE);
        assert!(!text.contains(" more; "), "{text}");
        contents.skip("8", "x");
        contents.skip("9", "x");
        let text = screen("x.tar.gz", 2000, &contents, false).render(&Style::PIPE);
        assert!(text.contains("            and 2 more; manifest.json lists all\n"), "{text}");
        let text = screen("x.tar.gz", 2000, &contents, true).render(&Style::PIPE);
        assert!(text.contains("\nNodeClaim      1         1\n"), "{text}");
        assert!(text.contains("            9: x\n") && !text.contains(" more; "), "{text}");
        let sizes = [1023, 1024, 1_048_576].map(size);
        assert_eq!(sizes, ["1023 bytes", "1 KiB", "1 MiB"]);
        contents.entries.truncate(1);
        let text = screen("x", 1, &contents, false).render(&Style::PIPE);
        assert!(text.starts_with("✓ x: 2 files, 1 bytes, 1 secret redacted\n"), "{text}");
    }
}

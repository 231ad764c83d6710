//! Compiles `data/*.toml` into sorted static tables, and rejects data with an error.
//!
//! A row is an [`ExitCode`]: a field that it lacks comes from `[defaults]` of its file, or is empty.
//! Line breaks in texts count as blanks.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::{env, fs};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[path = "src/code.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library")]
mod code;
#[path = "src/date.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library")]
mod date;
#[path = "src/enums.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library")]
mod enums;

use code::{ExitCode, Since};
use date::Date;
use enums::{Category, Os, Owner, Reach, Status, Transient};

const HISTORY: &str = "history.toml";

/// The files of rows. Of rows with the same number, rank and day, those of the first file come first.
const ROWS: [&str; 8] = [
    "agent.toml",
    "linux.toml",
    "dormant.toml",
    "raw.toml",
    "past.toml",
    "image_build.toml",
    "windows.toml",
    "proposed.toml",
];

#[expect(clippy::disallowed_methods, reason = "cargo runs the script again if it is interrupted")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=data");
    let mut files = Vec::new();
    for name in ROWS.into_iter().chain([HISTORY]) {
        files.push((name, fs::read_to_string(Path::new("data").join(name))?));
    }
    let directory = env::var("OUT_DIR")?;
    Ok(fs::write(Path::new(&directory).join("tables.rs"), compile(&files)?)?)
}

/// Returns the tables as Rust source, or an error in the data: `FILE:LINE: ROW: what is wrong`.
pub(crate) fn compile(files: &[(&str, String)]) -> Result<String, String> {
    let mut rows = Vec::new();
    let mut history = BTreeMap::new();
    for (name, text) in files {
        let file = File { name, text };
        if *name == HISTORY { file.read_history(&mut history)? } else { file.read_rows(&mut rows)? }
    }
    rows.sort_by_key(|row| (row.os, row.order()));
    let mut source = String::new();
    for os in Os::ALL {
        let rows: String = rows.iter().filter(|row| row.os == *os).map(source_of).collect();
        let name = os.as_str().to_uppercase();
        _ = writeln!(source, "pub(crate) static {name}: &[ExitCode] = &[\n{rows}];");
    }
    let changes: String = history.into_values().flatten().collect();
    _ = writeln!(source, "pub(crate) static HISTORY: &[Change] = &[\n{changes}];");
    Ok(source)
}

/// `Debug` prints everything but enums with common names as Rust source.
fn source_of(row: &ExitCode) -> String {
    let ExitCode { os, number, name, status, reach, category, owner, transient, .. } = row;
    let ExitCode { meaning, cause, action, origin, introduced, away, removed, .. } = row;
    let ExitCode { became, aks_names, doc_url, .. } = row;
    format!(
        "ExitCode {{ os: Os::{os:?}, number: {number}, name: {name:?}, status: Status::{status:?}, \
         reach: Reach::{reach:?}, category: Category::{category:?}, owner: Owner::{owner:?}, \
         transient: Transient::{transient:?}, meaning: {meaning:?}, cause: {cause:?}, \
         action: {action:?}, origin: {origin:?}, introduced: Since::{introduced:?}, \
         away: {away:?}, removed: {removed:?}, became: {became:?}, aks_names: &{aks_names:?}, \
         doc_url: {doc_url:?} }},\n"
    )
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl File<'_> {
    fn error(&self, at: usize, row: &str, why: impl fmt::Display) -> String {
        let line = 1 + self.text[..at].matches('\n').count();
        format!("data/{}:{line}: {row}: {why}", self.name)
    }

    fn parse(&self) -> Result<Spanned<DeTable<'_>>, String> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            self.error(at, "TOML", error.message())
        })
    }

    fn read_rows(&self, rows: &mut Vec<ExitCode>) -> Result<(), String> {
        let root = self.parse()?;
        let mut defaults = ExitCode::EMPTY;
        for (key, value) in root.get_ref() {
            match (&**key.get_ref(), value.get_ref()) {
                ("defaults", DeValue::Table(fields)) => {
                    self.read_fields(&mut defaults, "defaults", fields)?;
                }
                ("code", DeValue::Array(_)) => {}
                (other, _) => return Err(self.error(key.span().start, other, "unknown table")),
            }
        }
        let Some(codes) = root.get_ref().get("code").and_then(|codes| codes.get_ref().as_array())
        else {
            return Err(self.error(0, "code", "no rows"));
        };
        for code in codes {
            let at = code.span().start;
            let Some(fields) = code.get_ref().as_table() else {
                return Err(self.error(at, "code", "not a table"));
            };
            let label = |field| fields.get(field).map_or("?", |value| &self.text[value.span()]);
            let label = format!("{} {}", label("number"), label("name").trim_matches('"'));
            let mut row = defaults;
            self.read_fields(&mut row, &label, fields)?;
            row.check(rows).map_err(|why| self.error(at, &label, why))?;
            rows.push(row);
        }
        Ok(())
    }

    fn read_fields(
        &self,
        row: &mut ExitCode,
        label: &str,
        fields: &DeTable<'_>,
    ) -> Result<(), String> {
        for (key, value) in fields {
            let set = row.set(key.get_ref(), value.get_ref());
            set.map_err(|why| {
                self.error(key.span().start, label, format!("{}: {why}", key.get_ref()))
            })?;
        }
        Ok(())
    }

    fn read_history(&self, history: &mut BTreeMap<i32, Vec<String>>) -> Result<(), String> {
        for (key, periods) in self.parse()?.get_ref() {
            let (label, at) = (key.get_ref(), key.span().start);
            let number = label.parse().map_err(|why| self.error(at, label, why))?;
            let mut last = None;
            let mut changes = Vec::new();
            for period in array(periods.get_ref()).map_err(|why| self.error(at, label, why))? {
                let at = period.span().start;
                let (from, names) =
                    read_period(period).map_err(|why| self.error(at, label, why))?;
                if last > Some(from) {
                    return Err(self.error(at, label, format!("{from} is before the last period")));
                }
                last = Some(from);
                changes.push(format!(
                    "Change {{ number: {number}, from: {from:?}, names: &{names:?} }},\n"
                ));
            }
            history.insert(number, changes);
        }
        Ok(())
    }
}

impl ExitCode {
    fn set(&mut self, field: &str, value: &DeValue<'_>) -> Result<(), String> {
        match field {
            "os" => self.os = word(Os::ALL, Os::as_str, value)?,
            "number" => self.number = number(value)?,
            "name" => self.name = text(value)?,
            "status" => self.status = word(Status::ALL, Status::as_str, value)?,
            "reach" => self.reach = word(Reach::ALL, Reach::as_str, value)?,
            "category" => self.category = word(Category::ALL, Category::as_str, value)?,
            "owner" => self.owner = word(Owner::ALL, Owner::as_str, value)?,
            "transient" => self.transient = word(Transient::ALL, Transient::as_str, value)?,
            "meaning" => self.meaning = text(value)?,
            "cause" => self.cause = text(value)?,
            "action" => self.action = text(value)?,
            "origin" => self.origin = text(value)?,
            "since" => self.introduced = Since::On(day(value)?),
            "since_at_latest" => self.introduced = Since::By(day(value)?),
            "away" => match array(value)? {
                [from, until] => self.away = Some((day(from.get_ref())?, day(until.get_ref())?)),
                _ => return Err("not two days".to_owned()),
            },
            "removed" => self.removed = Some(day(value)?),
            "became" => {
                match value.as_table().and_then(|to| Some((to.get("number")?, to.get("name")?))) {
                    Some((to, name)) => {
                        self.became = Some((number(to.get_ref())?, text(name.get_ref())?));
                    }
                    None => return Err("not a number and a name".to_owned()),
                }
            }
            "aks_names" => self.aks_names = texts(value)?.leak(),
            "doc_url" => self.doc_url = Some(text(value)?),
            _ => return Err("unknown field".to_owned()),
        }
        Ok(())
    }

    /// Validates the row against itself and the rows before it.
    fn check(&self, rows: &[Self]) -> Result<(), String> {
        let texts = [self.name, self.meaning, self.cause, self.action, self.origin];
        if texts.contains(&"") {
            return Err("lacks a name, meaning, cause, action or origin".to_owned());
        }
        if self.removed.is_some_and(|removed| Some(removed) <= self.introduced.date()) {
            return Err("removed before it was introduced".to_owned());
        }
        let repeats = matches!(self.status, Status::Removed | Status::Proposed);
        let clashes = |row: &&Self| {
            (row.os, row.number, row.status) == (self.os, self.number, self.status)
                && (!repeats || row.name == self.name)
        };
        match rows.iter().find(clashes) {
            Some(row) => Err(format!("duplicate number: {row} is also {}", row.status)),
            None => Ok(()),
        }
    }

    /// Sorts by number, then by rank, then the newest first.
    fn order(&self) -> (i32, u8, std::cmp::Reverse<Option<Date>>) {
        (self.number, self.rank(), std::cmp::Reverse(self.introduced.date()))
    }
}

fn read_period(period: &Value<'_>) -> Result<(Date, Vec<&'static str>), String> {
    let fields = period.get_ref().as_table().ok_or("not a table")?;
    if let Some(other) = fields.keys().find(|key| !matches!(&**key.get_ref(), "from" | "names")) {
        return Err(format!("unknown field {}", other.get_ref()));
    }
    let from = day(fields.get("from").ok_or("lacks from")?.get_ref())?;
    Ok((from, texts(fields.get("names").ok_or("lacks names")?.get_ref())?))
}

fn word<T: Copy>(
    all: &[T],
    as_str: fn(T) -> &'static str,
    value: &DeValue<'_>,
) -> Result<T, String> {
    let given = value.as_str().ok_or("not a string")?;
    let found = all.iter().copied().find(|one| as_str(*one) == given);
    found.ok_or_else(|| format!("unknown value {given}"))
}

fn number(value: &DeValue<'_>) -> Result<i32, String> {
    let number = value.as_integer().ok_or("not a number")?;
    number.as_str().parse().map_err(|error| format!("{error}"))
}

fn day(value: &DeValue<'_>) -> Result<Date, String> {
    let date = value.as_datetime().filter(|day| day.time.is_none()).and_then(|day| day.date);
    let date = date.ok_or("not a date")?;
    Date::new(date.year, date.month, date.day).ok_or_else(|| "not a day".to_owned())
}

fn text(value: &DeValue<'_>) -> Result<&'static str, String> {
    let text = value.as_str().ok_or("not a string")?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" ").leak())
}

fn texts(value: &DeValue<'_>) -> Result<Vec<&'static str>, String> {
    array(value)?.iter().map(|one| text(one.get_ref())).collect()
}

fn array<'a, 'i>(value: &'a DeValue<'i>) -> Result<&'a [Value<'i>], String> {
    value.as_array().map(|array| &**array).ok_or_else(|| "not an array".to_owned())
}

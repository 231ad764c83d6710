//! Compiles `data/*.toml` into sorted static tables, and rejects data with an error.
//!
//! A row is an [`ExitCode`]: a field that it lacks comes from `[defaults]` of its file, or is empty.
//! Line breaks in texts count as blanks.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;
use toml::{Spanned, Table, Value};

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
    for name in ROWS {
        files.push((name, fs::read_to_string(Path::new("data").join(name))?));
    }
    let directory = env::var("OUT_DIR")?;
    Ok(fs::write(Path::new(&directory).join("tables.rs"), compile(&files)?)?)
}

/// Returns the tables as Rust source, or an error in the data: `FILE:LINE: ROW: what is wrong`.
pub(crate) fn compile(files: &[(&str, String)]) -> Result<String, String> {
    let mut rows = Vec::new();
    for (name, text) in files {
        read_rows(name, text, &mut rows)?;
    }
    rows.sort_by_key(|row| (row.os, row.order()));
    let mut source = String::new();
    for os in Os::ALL {
        let rows: String = rows.iter().filter(|row| row.os == *os).map(source_of).collect();
        let name = os.as_str().to_uppercase();
        _ = writeln!(source, "pub(crate) static {name}: &[ExitCode] = &[\n{rows}];");
    }
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    defaults: Table,
    code: Vec<Spanned<Table>>,
}

fn read_rows(name: &str, text: &str, rows: &mut Vec<ExitCode>) -> Result<(), String> {
    let error = |at: usize, row: &str, why: &str| {
        let line = 1 + text[..at].matches('\n').count();
        format!("data/{name}:{line}: {row}: {why}")
    };
    let file: File = toml::from_str(text)
        .map_err(|why| error(why.span().map_or(0, |span| span.start), "TOML", why.message()))?;
    let mut defaults = ExitCode::EMPTY;
    defaults.set_all(&file.defaults).map_err(|why| error(0, "defaults", &why))?;
    for code in file.code {
        let (at, fields) = (code.span().start, code.get_ref());
        let number = fields.get("number").and_then(Value::as_integer).unwrap_or_default();
        let name = fields.get("name").and_then(Value::as_str).unwrap_or("?");
        let label = format!("{number} {name}");
        let mut row = defaults;
        let read = row.set_all(fields).and_then(|()| row.check(rows));
        read.map_err(|why| error(at, &label, &why))?;
        rows.push(row);
    }
    Ok(())
}

impl ExitCode {
    /// Defaults of every row in the data.
    const EMPTY: Self = Self {
        os: Os::Linux,
        number: 0,
        name: "",
        status: Status::Current,
        reach: Reach::None,
        category: Category::Unknown,
        owner: Owner::Image,
        transient: Transient::Maybe,
        meaning: "",
        cause: "",
        action: "",
        origin: "",
        introduced: Since::Unrecorded,
        away: None,
        removed: None,
        became: None,
        aks_names: &[],
        doc_url: None,
    };

    fn set_all(&mut self, fields: &Table) -> Result<(), String> {
        for (field, value) in fields {
            self.set(field, value).map_err(|why| format!("{field}: {why}"))?;
        }
        Ok(())
    }

    fn set(&mut self, field: &str, value: &Value) -> Result<(), String> {
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
            "away" => match value.as_array().map(Vec::as_slice) {
                Some([from, until]) => self.away = Some((day(from)?, day(until)?)),
                _ => return Err("not two days".to_owned()),
            },
            "removed" => self.removed = Some(day(value)?),
            "became" => match (value.get("number"), value.get("name")) {
                (Some(to), Some(name)) => self.became = Some((number(to)?, text(name)?)),
                _ => return Err("not a number and a name".to_owned()),
            },
            "aks_names" => {
                let names = value.as_array().ok_or("not an array")?.iter().map(text);
                self.aks_names = names.collect::<Result<Vec<_>, _>>()?.leak();
            }
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

fn word<T: Copy>(all: &[T], as_str: fn(T) -> &'static str, value: &Value) -> Result<T, String> {
    let given = value.as_str().ok_or("not a string")?;
    let found = all.iter().copied().find(|one| as_str(*one) == given);
    found.ok_or_else(|| format!("unknown value {given}"))
}

fn number(value: &Value) -> Result<i32, String> {
    let number = value.as_integer().and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| "not a number".to_owned())
}

fn day(value: &Value) -> Result<Date, String> {
    let date = value.as_datetime().filter(|day| day.time.is_none()).and_then(|day| day.date);
    let date = date.ok_or("not a date")?;
    Date::new(date.year, date.month, date.day).ok_or_else(|| "not a day".to_owned())
}

fn text(value: &Value) -> Result<&'static str, String> {
    let text = value.as_str().ok_or("not a string")?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" ").leak())
}

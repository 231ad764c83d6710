//! The part of the facts that an address names: path and query.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::{ClusterFacts, Filter};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// Longest name in an address, in bytes.
const MAX_NAME: usize = 253;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Overview,
    Failures,
    /// All nodes that are joining.
    Joining,
    Pool(String),
    Node(String),
    Image(String),
    Cause(String),
    Code(i32),
    Run(String),
}

impl Route {
    /// Returns what the page is about; none for the overview.
    pub fn title(&self) -> Option<String> {
        Some(match self {
            Self::Overview => return None,
            Self::Failures => "Failures".to_owned(),
            Self::Joining => "Nodes joining".to_owned(),
            Self::Pool(name) => format!("Pool {name}"),
            Self::Node(name) => format!("Node {name}"),
            Self::Image(name) => format!("Image {name}"),
            Self::Cause(name) => format!("Cause {name}"),
            Self::Code(code) => format!("Exit code {code}"),
            Self::Run(id) => format!("Run {id}"),
        })
    }
}

/// Time that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeRange {
    Hour,
    #[default]
    Day,
    Week,
}

impl TimeRange {
    pub const ALL: [Self; 3] = [Self::Hour, Self::Day, Self::Week];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    /// Returns the label of a link.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Hour => "1 h",
            Self::Day => "24 h",
            Self::Week => "7 d",
        }
    }

    /// Returns `last 24 hours`.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Hour => "last hour",
            Self::Day => "last 24 hours",
            Self::Week => "last 7 days",
        }
    }

    pub const fn seconds(self) -> i64 {
        match self {
            Self::Hour => 3600,
            Self::Day => 86_400,
            Self::Week => 604_800,
        }
    }

    pub fn start(self, now: Timestamp) -> Timestamp {
        now.checked_sub(SignedDuration::from_secs(self.seconds())).unwrap_or(Timestamp::MIN)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageView {
    pub route: Route,
    pub since: TimeRange,
    pub pool: Option<String>,
    pub image: Option<String>,
    pub cause: Option<String>,
    /// Entries of a list before the first one that is shown.
    pub from: usize,
}

impl PageView {
    pub const fn new(route: Route) -> Self {
        Self { route, since: TimeRange::Day, pool: None, image: None, cause: None, from: 0 }
    }

    /// Parses path and query of a page; none if there is no such page.
    pub fn parse(path: &str, query: Option<&str>) -> Option<Self> {
        let route = match path.strip_prefix('/')?.split_once('/') {
            None if path == "/" => Route::Overview,
            None if path == "/failures" => Route::Failures,
            None if path == "/joining" => Route::Joining,
            Some((kind, name)) => {
                let name = decode(name)?;
                match kind {
                    "pools" => Route::Pool(name),
                    "nodes" => Route::Node(name),
                    "images" => Route::Image(name),
                    "causes" => Route::Cause(name),
                    "codes" => Route::Code(name.parse().ok()?),
                    "runs" => Route::Run(name),
                    _ => return None,
                }
            }
            None => return None,
        };
        let mut view = Self::new(route);
        view.add_query(query);
        Some(view)
    }

    /// Adds the parameters of a query. Others are ignored.
    pub fn add_query(&mut self, query: Option<&str>) {
        for pair in query.unwrap_or_default().split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(value) = decode(value) else { continue };
            match name {
                "since" => {
                    let found = TimeRange::ALL.into_iter().find(|since| since.as_str() == value);
                    self.since = found.unwrap_or(self.since);
                }
                "pool" => self.pool = Some(value),
                "image" => self.image = Some(value),
                "cause" => self.cause = Some(value),
                "from" => self.from = value.parse().unwrap_or(self.from),
                _ => {}
            }
        }
    }

    /// Returns the filter of commands and documents with the same flags.
    pub fn filter(&self, facts: &ClusterFacts) -> Filter {
        let since = Some(facts.filter_start(self.since.start(facts.now)));
        let Self { pool, image, cause, .. } = self.clone();
        let filter = Filter { since, pool, image, cause };
        match self.route.clone() {
            Route::Pool(name) => Filter { pool: Some(name), ..filter },
            Route::Image(name) => Filter { image: Some(name), ..filter },
            Route::Cause(name) => Filter { cause: Some(name), ..filter },
            _ => filter,
        }
    }

    /// Returns the address of this view.
    pub fn address(&self) -> String {
        let mut address = match &self.route {
            Route::Overview => "/".to_owned(),
            Route::Failures => "/failures".to_owned(),
            Route::Joining => "/joining".to_owned(),
            Route::Pool(name) => format!("/pools/{}", encode(name)),
            Route::Node(name) => format!("/nodes/{}", encode(name)),
            Route::Image(name) => format!("/images/{}", encode(name)),
            Route::Cause(name) => format!("/causes/{}", encode(name)),
            Route::Code(code) => format!("/codes/{code}"),
            Route::Run(id) => format!("/runs/{}", encode(id)),
        };
        let since = (self.since != TimeRange::default()).then(|| self.since.as_str().to_owned());
        let from = (self.from > 0).then(|| self.from.to_string());
        let pairs = [
            ("since", since.as_ref()),
            ("pool", self.pool.as_ref()),
            ("image", self.image.as_ref()),
            ("cause", self.cause.as_ref()),
            ("from", from.as_ref()),
        ];
        let mut mark = '?';
        for (name, value) in pairs {
            if let Some(value) = value {
                let _ = write!(address, "{mark}{name}={}", encode(value));
                mark = '&';
            }
        }
        address
    }

    /// Returns the address of another page that keeps the time.
    pub fn link(&self, route: Route) -> String {
        Self { since: self.since, ..Self::new(route) }.address()
    }
}

/// Decodes percent escapes; none if the result is empty, too long or not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        bytes.push(match first {
            b'%' => {
                let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
                rest = tail.get(2..)?;
                u8::from_str_radix(digits, 16).ok()?
            }
            b'+' => b' ',
            other => *other,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.is_empty() && text.len() <= MAX_NAME).then_some(text)
}

/// Bytes of a segment or value that are escaped.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Escapes a segment of a path or a value of a query.
fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, ESCAPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_everything_that_is_shown() {
        for address in [
            "/",
            "/failures?since=7d&pool=default&image=202601.27.0&cause=OrasBinaryMissing",
            "/nodes/default-7kq2c?since=1h",
            "/pools/a%2Fb%3F%3C",
            "/images/AKSUbuntu%2F2204%2F202601.27.0",
            "/joining?pool=default&from=200",
            "/codes/232",
            "/codes/-1",
            "/runs/c696c392",
        ] {
            let (path, query) =
                address.split_once('?').map_or((address, None), |(a, b)| (a, Some(b)));
            assert_eq!(PageView::parse(path, query).unwrap().address(), address);
        }
    }

    #[test]
    fn unknown_paths_and_broken_escapes_have_no_page() {
        for path in
            ["", "x", "/x", "/pools", "/pools/", "/pools/%", "/pools/%2", "/pools/%ff", "/codes/x"]
        {
            assert_eq!(PageView::parse(path, None), None, "{path}");
        }
        let long = format!("/pools/{}", "x".repeat(254));
        assert_eq!(PageView::parse(&long, None), None);
        let view = PageView::parse("/", Some("since=2d&x=1&&pool=")).unwrap();
        assert_eq!(view, PageView::new(Route::Overview));
    }
}

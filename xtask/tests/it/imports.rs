//! Structure of the crates: imports between files have no cycles, and `mod.rs` files have no code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;
use syn::{Attribute, Item, UseTree, Visibility};

use crate::root;

/// A module as its path in the crate.
type Module = Vec<String>;

/// Messages of the node config contain each other, as in the contract.
const ALLOWED: [&str; 1] = ["crates/contract/src/node_config/"];

struct Source {
    /// Path of the file, relative to the workspace.
    file: String,
    syntax: syn::File,
}

struct Use {
    path: Module,
    name: String,
    is_public: bool,
}

/// Modules of a crate with their files, without tests.
struct Crate {
    sources: BTreeMap<Module, Source>,
    uses: BTreeMap<Module, Vec<Use>>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg")
            && list
                .tokens
                .to_string()
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl Crate {
    fn read(folder: &Path) -> Self {
        let mut sources = BTreeMap::new();
        let start = ["lib.rs", "main.rs"].map(|file| folder.join("src").join(file));
        let start = start.iter().find(|file| file.exists()).unwrap();
        read_module(start, &mut Vec::new(), &mut sources);
        let mut uses = BTreeMap::new();
        let known: BTreeSet<Module> = sources.keys().cloned().collect();
        for (module, source) in &sources {
            let mut found = Vec::new();
            for item in source.syntax.items.iter().filter(|item| !is_test(attributes(item))) {
                if let Item::Use(item) = item {
                    let is_public = !matches!(item.vis, Visibility::Inherited);
                    let mut add = |path: &[String], name: String| {
                        let Some(path) = absolute(path, module, &known) else { return };
                        found.push(Use { path, name, is_public });
                    };
                    flatten(&item.tree, &mut Vec::new(), &mut add);
                }
            }
            uses.insert(module.clone(), found);
        }
        Self { sources, uses }
    }

    /// Returns the module that defines what a path names, through its re-exports.
    fn definition(&self, path: &[String], depth: usize) -> Option<Module> {
        let known = (0..=path.len()).rev().find(|end| self.sources.contains_key(&path[..*end]))?;
        let (module, rest) = path.split_at(known);
        let name = rest.first()?;
        let exported = self.uses[module].iter().find(|one| one.is_public && one.name == *name);
        match exported {
            Some(one) if depth < 8 => {
                self.definition(&[&one.path[..], &rest[1..]].concat(), depth + 1)
            }
            _ => Some(module.to_vec()),
        }
    }

    /// Returns the modules that a module imports from or names in a path.
    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let known: BTreeSet<Module> = self.sources.keys().cloned().collect();
        let own = &self.uses[module];
        let mut named = Paths::default();
        for item in &self.sources[module].syntax.items {
            if !is_test(attributes(item)) && !matches!(item, Item::Use(_)) {
                named.visit_item(item);
            }
        }
        let in_scope = |path: Vec<String>| {
            let imported = own.iter().find(|one| one.name == path[0] && known.contains(&one.path));
            match imported {
                Some(one) => Some([&one.path[..], &path[1..]].concat()),
                None => absolute(&path, module, &known),
            }
        };
        let imported = own.iter().filter(|one| !one.is_public).map(|one| one.path.clone());
        imported
            .chain(named.0.into_iter().filter_map(in_scope))
            .filter_map(|path| self.definition(&path, 0))
            .filter(|other| other != module)
            .collect()
    }

    /// Returns the imports between files, and between the top-level parts of the crate.
    fn graphs(&self) -> [BTreeMap<String, BTreeSet<String>>; 2] {
        let (mut files, mut parts) = (BTreeMap::new(), BTreeMap::new());
        let is_allowed = |file: &str| ALLOWED.iter().any(|allowed| file.starts_with(allowed));
        for (module, source) in self.sources.iter().filter(|(_, source)| !is_allowed(&source.file))
        {
            for other in self.imports(module) {
                let file = &self.sources[&other].file;
                let add = |graph: &mut BTreeMap<String, BTreeSet<String>>, from: &str, to: &str| {
                    graph.entry(from.to_owned()).or_default().insert(to.to_owned());
                };
                add(&mut files, &source.file, file);
                if let (Some(from), Some(to)) = (module.first(), other.first())
                    && from != to
                {
                    add(&mut parts, from, to);
                }
            }
        }
        [files, parts]
    }
}

fn read_module(file: &Path, module: &mut Module, sources: &mut BTreeMap<Module, Source>) {
    let text = std::fs::read_to_string(file).unwrap();
    let syntax =
        syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let is_root = file
        .file_name()
        .is_some_and(|name| ["lib.rs", "main.rs", "mod.rs"].iter().any(|root| name == *root));
    let folder = if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
    for item in &syntax.items {
        if let Item::Mod(item) = item
            && item.content.is_none()
            && !is_test(&item.attrs)
            && !item.attrs.iter().any(|attribute| attribute.path().is_ident("path"))
        {
            let name = item.ident.to_string();
            let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
            let place = places.iter().find(|place| place.exists());
            module.push(name);
            read_module(place.unwrap_or_else(|| panic!("{module:?}")), module, sources);
            module.pop();
        }
    }
    let file = file.strip_prefix(root()).unwrap().display().to_string();
    sources.insert(module.clone(), Source { file, syntax });
}

/// Returns a path from the root of the crate; none if it is of another crate or of a prelude.
fn absolute(path: &[String], module: &Module, known: &BTreeSet<Module>) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match path[0].as_str() {
        "crate" => (base, rest) = (Vec::new(), &path[1..]),
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        child => {
            base.push(child.to_owned());
            if !known.contains(&base) {
                return None;
            }
            rest = &path[1..];
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

fn flatten(tree: &UseTree, path: &mut Vec<String>, add: &mut impl FnMut(&[String], String)) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            flatten(&tree.tree, path, add);
            path.pop();
        }
        UseTree::Name(tree) if tree.ident == "self" => {
            let name = path.last().cloned().unwrap_or_default();
            add(path, name);
        }
        UseTree::Name(tree) => {
            let name = tree.ident.to_string();
            add(&[&path[..], std::slice::from_ref(&name)].concat(), name);
        }
        UseTree::Rename(tree) => {
            add(&[&path[..], &[tree.ident.to_string()]].concat(), tree.rename.to_string());
        }
        UseTree::Glob(_) => add(&[&path[..], &["*".to_owned()]].concat(), "*".to_owned()),
        UseTree::Group(tree) => {
            for tree in &tree.items {
                flatten(tree, path, add);
            }
        }
    }
}

/// Paths in code with more than one part.
#[derive(Default)]
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.0.push(path.segments.iter().map(|part| part.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }
}

/// Returns a shortest cycle, if there is one.
fn find_cycle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<&str>> {
    let cycle = |start: &str| {
        let mut paths =
            std::collections::VecDeque::from([vec![graph.get_key_value(start)?.0.as_str()]]);
        let mut visited = BTreeSet::new();
        while let Some(path) = paths.pop_front() {
            for next in graph.get(*path.last()?).into_iter().flatten() {
                if next == start {
                    return Some([&path[..], &[next.as_str()]].concat());
                }
                if visited.insert(next.as_str()) {
                    paths.push_back([&path[..], &[next.as_str()]].concat());
                }
            }
        }
        None
    };
    graph.keys().filter_map(|start| cycle(start)).min_by_key(Vec::len)
}

/// Returns the directories of all crates.
fn directories() -> impl Iterator<Item = PathBuf> {
    let list = |name: &str| std::fs::read_dir(root().join(name)).unwrap();
    let crates = list("crates").chain(list("lab")).map(|entry| entry.unwrap().path());
    crates.chain([root().join("xtask")])
}

fn crates() -> impl Iterator<Item = Crate> {
    directories().map(|directory| Crate::read(&directory))
}

/// Returns the names of crates whose dependencies include this one.
fn dependents(name: &str, section: &str) -> Vec<String> {
    let depends = |directory: &PathBuf| {
        let text = std::fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let parts = text.split("\n[").filter(|part| part.starts_with(section));
        parts
            .flat_map(str::lines)
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' '])))
    };
    let folders = directories().filter(depends);
    let mut names: Vec<String> =
        folders.map(|folder| folder.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn imports_have_no_cycles() {
    let mut cycles = Vec::new();
    let mut count = 0;
    for graph in crates().flat_map(|one| one.graphs()) {
        count += graph.values().map(BTreeSet::len).sum::<usize>();
        cycles.extend(find_cycle(&graph).map(|cycle| cycle.join(" → ")));
    }
    assert!(count > 1000, "{count} imports found");
    assert_eq!(cycles, Vec::<String>::new());
}

#[test]
fn only_the_command_line_imports_the_controller() {
    assert_eq!(dependents("mooring-controller", "dependencies]"), ["mooring"]);
}

#[test]
fn product_does_not_depend_on_the_lab() {
    let lab = std::fs::read_dir(root().join("lab")).unwrap();
    let lab: Vec<String> =
        lab.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for name in &lab {
        let package = format!("mooring-{}", name.trim_start_matches("mooring-"));
        let mut found = dependents(&package, "dependencies]");
        found.retain(|name| !lab.contains(name) && name != "xtask");
        assert_eq!(found, Vec::<String>::new(), "{package}");
    }
    assert_eq!(dependents("mooring-demo", "dependencies]"), ["mooring-lab"]);
}

#[test]
fn cycles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert_eq!(find_cycle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    let found = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "b")]);
    assert_eq!(find_cycle(&found), Some(vec!["b", "c", "b"]));
}

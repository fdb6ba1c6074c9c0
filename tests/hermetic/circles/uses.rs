//! Which source file uses which, by the paths in their code.
//!
//! A file uses the one that defines what it names: a `pub use` passes a name on, and whoever names it through there uses
//! the file behind it. So a parent that only declares its children and passes on what they have uses none of them, while
//! one that calls them does; and a child uses its parent only where it names what the parent itself defines.
//! Tests inside a file (`#[cfg(test)] mod`) and comments do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where a module stands below the crate's root: `["peer", "service", "echo"]`.
pub type Name = Vec<String>;

/// Files, and the files that each uses.
pub type Uses = BTreeMap<Name, BTreeSet<Name>>;

/// The module of a file below `src`; `None` of the roots, which have all modules as children.
fn module_of(path: &Path) -> Option<Name> {
    let mut name: Name =
        path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if name.last().is_some_and(|last| last == "mod") {
        name.pop();
    }
    (!["lib", "main"].contains(&name.join("/").as_str())).then_some(name)
}

/// Code without comments and without the modules of its tests.
fn code_of(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//")).peekable();
    let mut code = String::new();
    while let Some(line) = lines.next() {
        let is_test = line.starts_with("#[cfg(")
            && line.contains("test")
            && lines.peek().is_some_and(|next| next.starts_with("mod "));
        if !is_test {
            code += line;
            code.push('\n');
        } else if lines.next().is_some_and(|opening| !opening.ends_with(';')) {
            while lines.next().is_some_and(|line| line != "}") {}
        }
    }
    code
}

/// A path that code names, with the inline module that it stands in.
struct Named {
    path: Name,
    /// Whether a `use` passes it on to others.
    passed_on: bool,
}

/// What a source file names, and its code without its `use` declarations.
struct Source {
    named: Vec<Named>,
    body: String,
}

impl Source {
    /// Reads the code of a module. Its inline modules (`mod x86 { … }`) are part of it: `super` in them is the module.
    fn of(module: &Name, code: &str, modules: &BTreeSet<Name>) -> Self {
        let mut source = Source { named: vec![], body: String::new() };
        let (mut here, mut declaration) = (module.clone(), String::new());
        for line in code.lines() {
            if let Some(inline) =
                line.trim_start_matches("pub ").strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {"))
            {
                here = [module.as_slice(), &[inline.to_owned()]].concat();
            } else if line == "}" {
                here.clone_from(module);
            }
            let start = line.trim_start();
            let begins = start.starts_with("use ") || (start.starts_with("pub") && start.contains(" use "));
            if !begins && declaration.is_empty() {
                source.body += line;
                source.body.push('\n');
                let paths = paths(line).filter_map(|path| resolved(&here, &path, modules));
                source.named.extend(paths.map(|path| Named { path, passed_on: false }));
                continue;
            }
            declaration += start;
            if line.ends_with(';') {
                source.declare(&here, &std::mem::take(&mut declaration), modules);
            }
        }
        source
    }

    fn declare(&mut self, here: &Name, declaration: &str, modules: &BTreeSet<Name>) {
        let passed_on = declaration.starts_with("pub");
        let Some((_, tree)) = declaration.trim_end_matches(';').split_once("use ") else { return };
        let paths = branches(tree).into_iter().filter_map(|path| resolved(here, &path, modules));
        self.named.extend(paths.map(|path| Named { path, passed_on }));
    }

    /// Whether the code names something by its last word, beyond declaring it.
    fn has_word(&self, word: &str) -> bool {
        self.body.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|found| found == word)
    }
}

/// The paths of a `use` tree: `a::{b, c::{d, e as f}}` has three.
fn branches(tree: &str) -> Vec<Name> {
    let tree = tree.trim();
    let Some((stem, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or(tree);
        return vec![path.split("::").map(|part| part.trim().to_owned()).collect()];
    };
    let inner = rest.strip_suffix('}').unwrap_or(rest);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in inner.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match (letter, depth) {
            (',', 0) => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(letter),
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| branches(&format!("{stem}{}", part.trim()))).collect()
}

/// The paths of at least two parts in a line of code.
fn paths(line: &str) -> impl Iterator<Item = Name> {
    let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
    words.filter(|word| word.contains("::")).map(|word| {
        let parts = word.split("::").filter(|part| !part.is_empty());
        parts.map(|part| part.trim_matches(':').to_owned()).collect()
    })
}

/// A path from the crate's root; `None` where it leads out of the crate.
fn resolved(here: &Name, path: &Name, modules: &BTreeSet<Name>) -> Option<Name> {
    let first = path.first()?;
    let mut found = if first == "crate" { vec![] } else { here.clone() };
    let mut rest = &path[usize::from(first == "crate")..];
    while let Some(step @ ("super" | "self")) = rest.first().map(String::as_str) {
        if step == "super" {
            found.pop();
        }
        rest = &rest[1..];
    }
    let relative =
        rest.len() < path.len() || modules.contains(&[here.as_slice(), std::slice::from_ref(first)].concat());
    found.extend(rest.iter().filter(|part| *part != "self").cloned());
    (relative && !found.is_empty()).then_some(found)
}

/// What modules pass on, by the module and the name: the path behind it.
type PassedOn = BTreeMap<(Name, String), Name>;

/// The module that defines what a path names.
fn definer(path: &Name, modules: &BTreeSet<Name>, passed_on: &PassedOn) -> Option<Name> {
    let mut path = path.clone();
    // A name is passed on through a few modules at most; more would be a name that leads to itself.
    for _ in 0..9 {
        let length = (1..=path.len()).rev().find(|length| modules.contains(&path[..*length]))?;
        let (module, rest) = (path[..length].to_vec(), path[length..].to_vec());
        let behind = rest.first().and_then(|name| passed_on.get(&(module.clone(), name.clone())));
        let Some(behind) = behind.filter(|behind| **behind != path) else { return Some(module) };
        path = [behind.as_slice(), &rest[1..]].concat();
    }
    None
}

/// Which file uses which; `texts` are the sources by their paths below `src`.
pub fn uses<'a>(texts: impl Iterator<Item = (&'a Path, &'a str)>) -> Uses {
    let code: BTreeMap<Name, String> =
        texts.filter_map(|(path, text)| Some((module_of(path)?, code_of(text)))).collect();
    let modules: BTreeSet<Name> = code.keys().cloned().collect();
    let sources: BTreeMap<&Name, Source> =
        code.iter().map(|(module, code)| (module, Source::of(module, code, &modules))).collect();
    let mut passed_on = PassedOn::new();
    for (module, source) in &sources {
        for named in source.named.iter().filter(|named| named.passed_on) {
            let name = named.path.last().cloned().unwrap_or_default();
            passed_on.insert(((*module).clone(), name), named.path.clone());
        }
    }
    let used = |module: &Name, source: &Source| -> BTreeSet<Name> {
        let counts =
            |named: &&Named| !named.passed_on || named.path.last().is_some_and(|word| source.has_word(word));
        let definers =
            source.named.iter().filter(counts).filter_map(|named| definer(&named.path, &modules, &passed_on));
        definers.filter(|other| other != module).collect()
    };
    sources.iter().map(|(module, source)| ((*module).clone(), used(module, source))).collect()
}

/// The circles: modules each of which uses, by way of others, every other one of its circle.
pub fn circles(uses: &Uses) -> Vec<BTreeSet<Name>> {
    let reached: BTreeMap<&Name, BTreeSet<&Name>> =
        uses.keys().map(|module| (module, reached(uses, module))).collect();
    let back = |module: &Name, other: &Name| reached.get(other).is_some_and(|from| from.contains(module));
    let mut circles: Vec<BTreeSet<Name>> = vec![];
    for (module, from) in &reached {
        let circle: BTreeSet<Name> =
            from.iter().filter(|other| back(module, other)).map(|other| (*other).clone()).collect();
        if !circle.is_empty() && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

/// Everything that a module uses, also by way of others.
fn reached<'a>(uses: &'a Uses, module: &Name) -> BTreeSet<&'a Name> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
    while let Some(module) = next.pop() {
        for other in uses.get(module).into_iter().flatten() {
            if reached.insert(other) {
                next.push(other);
            }
        }
    }
    reached
}

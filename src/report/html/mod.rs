//! The report as one page of HTML that needs nothing else: no network, no font, and no script to be complete.
//!
//! Names and messages in a run file may be hostile. Three walls stand before them: the template engine escapes
//! everything that is not a drawing of ours, the data inside the page have no `<`, and the page's own policy lets only
//! the script and the style that we wrote run, by their hashes.

mod experiment;
mod page;
mod policy;
mod references;
mod table;

use crate::report::json;
use crate::results::Results;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, HtmlEscape, UndefinedBehavior, context};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const TEMPLATES: [(&str, &str); 3] = [
    ("page.html", include_str!("page.html")),
    ("experiment.html", include_str!("experiment.html")),
    ("macros.html", include_str!("macros.html")),
];

/// The whole page.
pub fn render(results: &Results) -> String {
    match filled(results) {
        Ok(page) => page,
        // Only a fault in a template can come here, and every test of this module would fail with it.
        Err(error) => {
            format!("<!doctype html><title>fathom</title><p>The page could not be made: {}", safe(&error))
        }
    }
}

fn filled(results: &Results) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("prose", prose);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.get_template("page.html")?.render(context! {
        page => Serde(page::Page::of(results)),
        policy => policy::policy(STYLE, SCRIPT),
        style => STYLE,
        script => SCRIPT,
        data => harmless(&json::compact(results)),
    })
}

/// Text of ours or of a run file, escaped, with what stands between back ticks set as code.
fn prose(text: &str) -> Value {
    let escaped: Vec<String> = text.split('`').map(|part| HtmlEscape(part).to_string()).collect();
    // An odd number of pieces is an even number of back ticks: every one has its partner.
    if escaped.len().is_multiple_of(2) {
        return Value::from_safe_string(escaped.join("`"));
    }
    let set = |(index, part): (usize, &String)| {
        if index % 2 == 1 { format!("<code>{part}</code>") } else { part.clone() }
    };
    Value::from_safe_string(escaped.iter().enumerate().map(set).collect())
}

/// JSON in which nothing can end the element that it stands in: the same values, spelt without `<`.
fn harmless(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn safe(error: &minijinja::Error) -> String {
    HtmlEscape(&error.to_string()).to_string()
}

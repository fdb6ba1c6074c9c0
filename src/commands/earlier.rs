//! Whether a file is an earlier report of the same kind, which a new one may replace without being told to.
//!
//! Documents say at their end who made them, tables and texts begin with the same line, and data have the same fields. Whatever
//! is in doubt is none: `--force` overwrites it.

use serde_json::{Map, Value};

/// The least that must be equal for two files to be of a kind: a line of this many letters, or this many fields.
const LEAST_LINE: usize = 20;
const LEAST_FIELDS: usize = 3;

/// Whether `earlier` is of the same kind as a new report.
pub(super) fn is_earlier(new: &str, earlier: &str) -> bool {
    match new.as_bytes() {
        [b'<', b's', ..] => is_document(new, earlier, "<svg ", "<metadata>"),
        [b'<', ..] => is_document(new, earlier, "<!doctype html>", "<footer><p>"),
        [b'%', ..] => is_document(new, earlier, "% ", "\n{\\small\\itshape "),
        [b'#', b' ', rest @ ..] if !begins_metrics(rest) => is_document(new, earlier, "# ", "\n"),
        [b'{', ..] if new.starts_with(OF_ATLAS) => has_same_machine(new, earlier),
        [b'{', ..] => has_same_fields(new, earlier),
        _ => has_same_first_line(new, earlier),
    }
}

/// `OpenMetrics` begins its comments as Markdown does its title.
fn begins_metrics(rest: &[u8]) -> bool {
    [&b"TYPE "[..], b"HELP ", b"UNIT "].iter().any(|word| rest.starts_with(word))
}

/// Two documents that begin alike, with the mark of this program behind the last `lead`.
fn is_document(new: &str, earlier: &str, head: &str, lead: &str) -> bool {
    let is = |text: &str| {
        let foot = text.trim_end().rfind(lead).map_or("", |at| &text[at + lead.len()..]);
        text.starts_with(head)
            && ["Made by Fathom", "Made by fathom "].iter().any(|mark| foot.starts_with(mark))
    };
    let is_appendix = |text: &str| text.get(2..).is_some_and(|text| text.starts_with("Appendix: "));
    is(new) && is(earlier) && is_appendix(new) == is_appendix(earlier)
}

/// How a file of the atlas begins.
const OF_ATLAS: &str = "{\"atlas\":";

/// Two files of the atlas with the same name of a machine.
fn has_same_machine(new: &str, earlier: &str) -> bool {
    let id = |text: &str| {
        let first = text.lines().next().filter(|line| line.starts_with(OF_ATLAS))?;
        serde_json::from_str::<Value>(first).ok()?.get("id")?.as_str().map(str::to_owned)
    };
    id(new).is_some_and(|new| Some(new) == id(earlier))
}

fn has_same_first_line(new: &str, earlier: &str) -> bool {
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    first(new).chars().count() >= LEAST_LINE && first(new) == first(earlier)
}

fn has_same_fields(new: &str, earlier: &str) -> bool {
    let fields = |text: &str| serde_json::from_str::<Map<String, Value>>(text).ok();
    let (Some(new), Some(earlier)) = (fields(new), fields(earlier)) else { return false };
    new.len() >= LEAST_FIELDS && new.keys().eq(earlier.keys())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_known_by_who_made_them() {
        let paper = |title: &str| format!("# {title}\n\ntext\n\nMade by Fathom from the run file alone.\n");
        assert!(is_earlier(&paper("a"), &paper("b")));
        assert!(!is_earlier(&paper("a"), "# Notes\n\nMade by Fathom, and my thoughts.\n\nBuy milk.\n"));
        assert!(
            !is_earlier(&paper("Appendix: a"), &paper("b"))
                && !is_earlier(&paper("a"), &paper("Appendix: b"))
        );
        let page = "<!doctype html>\n<title>x</title><footer><p>Made by Fathom.</p></footer>";
        assert!(is_earlier(page, page) && !is_earlier(page, "<!doctype html>\n<title>x</title>mine"));
        let latex = "% x\ntext\n{\\small\\itshape Made by Fathom.\\par}\n\\end{document}\n";
        assert!(is_earlier(latex, latex) && !is_earlier(latex, "% x\nmine\n\\end{document}\n"));
    }

    #[test]
    fn data_are_known_by_their_fields_and_the_rest_by_its_first_line() {
        assert!(is_earlier("{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":0,\"a\":{},\"b\":[]}"));
        assert!(!is_earlier("{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"b\":2,\"d\":3}"));
        // Every file of that format has these two.
        assert!(!is_earlier("{\"context\":1,\"benchmarks\":2}", "{\"context\":1,\"benchmarks\":2}"));
        let machine = |id: &str, rest: &str| format!("{{\"atlas\":1,\"id\":\"{id}\"}}\n{rest}");
        assert!(is_earlier(&machine("a", "1"), &machine("a", "2")));
        assert!(!is_earlier(&machine("a", "1"), &machine("b", "1")) && !is_earlier(&machine("a", "1"), "{}"));
        let table = "experiment,method_version,parameters\n";
        assert!(is_earlier(&format!("{table}a"), &format!("{table}b")) && !is_earlier(table, "a,b\n"));
        assert!(!is_earlier("a,b\n1", "a,b\n2"), "too short to tell");
        let metrics = "# TYPE fathom_seconds gauge\n";
        assert!(is_earlier(metrics, metrics) && !is_earlier(metrics, "# TYPE mine gauge\n"));
    }
}

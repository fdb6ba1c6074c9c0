//! The reports of a fixed run, byte for byte, and what must hold whatever they look like.
//!
//! After a change that is meant, run once with `FATHOM_WRITE_GOLDEN=1` and look at what changed.

use clap::ValueEnum;
use fathom::report::{Facts, Form, RunReport, Style, Subject, appendix, catalogue, render, screen};
use fathom::results::Results;
use std::collections::BTreeSet;
use std::path::Path;

/// Compares with the file of this name, or writes it where that is asked for.
fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("FATHOM_WRITE_GOLDEN").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    assert!(
        expected == found,
        "{name} differs (first at line {:?}): see the head of this file",
        differing.map(|line| line + 1)
    );
}

#[test]
fn the_pages_of_experiments_say_what_the_experiments_say() {
    let place = |name: &str| format!("../../docs/experiments/{name}.md");
    golden(&place("README"), &catalogue::index(fathom::experiments::all()));
    let mut expected: BTreeSet<String> = BTreeSet::from(["README".to_owned()]);
    for experiment in fathom::experiments::all() {
        let name = experiment.about().name;
        golden(&place(name), &catalogue::page(experiment));
        expected.insert(name.to_owned());
    }
    // None is left of an experiment that is gone.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/experiments");
    let families = ["", "cpu", "memory", "network", "filesystem"];
    let pages = families.iter().flat_map(|family| {
        let entries = std::fs::read_dir(folder.join(family)).unwrap().flatten();
        let stems =
            entries.filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned));
        stems
            .map(|stem| if family.is_empty() { stem } else { format!("{family}/{stem}") })
            .collect::<Vec<_>>()
    });
    assert_eq!(pages.collect::<BTreeSet<String>>(), expected);
}

fn with_results<T>(look: impl FnOnce(&Results) -> T) -> T {
    let run = crate::fixture::parse(&crate::fixture::golden());
    look(&Results::of(&run))
}

fn on_terminal(results: &Results, width: usize, colour: bool) -> String {
    let files = [("run file", Path::new("runs/example.jsonl"))];
    RunReport::of(results).written_to(&files).in_full(true).text(Style { width, colour })
}

fn on_screen(results: &Results, width: usize, colour: bool) -> String {
    let files = [("run file", Path::new("runs/example.jsonl"))];
    RunReport::of(results).written_to(&files).text(Style { width, colour })
}

fn in_form(results: &Results, form: Form) -> String {
    let files = [("run file", Path::new("runs/example.jsonl"))];
    render(&RunReport::of(results).written_to(&files), form, Style { width: 120, colour: false })
}

#[test]
fn pairs_of_cpus_are_drawn_as_a_matrix_whose_far_cells_are_darker() {
    let run = crate::fixture::parse(&crate::fixture::pairs());
    let page = in_form(&Results::of(&run), Form::Html);
    let drawing = page.split("<svg").find(|part| part.contains("by pair")).expect("a matrix");
    let groups = drawing.split("<title>").filter_map(|part| part.split_once("</g>"));
    let cells: Vec<(bool, Vec<&str>)> = groups
        .filter(|(group, _)| group.contains("class=\"cell\""))
        .map(|(group, _)| {
            let covers = group.split("fill-opacity=\"").skip(1).filter_map(|cell| cell.split('"').next());
            (group.contains("to=4") || group.contains("to 4"), covers.collect())
        })
        .collect();
    assert_eq!(cells.len(), 10, "every pair once");
    assert!(cells.iter().all(|(_, covers)| covers.len() == 2 && covers[0] == covers[1]), "in both halves");
    let of = |wanted: bool| {
        let mine = cells.iter().filter(move |(far, _)| *far == wanted);
        mine.map(|(_, covers)| covers[0].parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    let (far, near) = (of(true), of(false));
    assert_eq!(far.len(), 4);
    assert!(far.iter().all(|far| near.iter().all(|near| *far > 2.0 * near)), "{far:?} {near:?}");
    assert!(!page.contains("Time of each variant"), "no rows beside it");
}

#[test]
fn every_form_of_the_report_is_as_it_was_reviewed() {
    with_results(|results| {
        golden("screen-narrow.txt", &on_screen(results, 80, false));
        golden("screen-colour.txt", &on_screen(results, 120, true));
        golden("terminal.txt", &on_terminal(results, 120, false));
        golden("terminal-narrow.txt", &on_terminal(results, 72, false));
        golden("terminal-colour.txt", &on_terminal(results, 120, true));
        for form in Form::value_variants() {
            golden(file_of(*form), &in_form(results, *form));
        }
        for (form, name) in [(Form::Markdown, "report-appendix.md"), (Form::Latex, "report-appendix.tex")] {
            golden(name, &appendix(&RunReport::of(results), form).expect("an appendix"));
        }
    });
}

/// The file that has a form as it was reviewed.
fn file_of(form: Form) -> &'static str {
    match form {
        Form::Text => "screen.txt",
        Form::Html => "report.html",
        Form::Markdown => "report.md",
        Form::Latex => "report.tex",
        Form::Synopsis => "synopsis.md",
        Form::Json => "report.json",
        Form::Csv => "report.csv",
    }
}

/// The point with seven arguments was seen to be another operation than the one named.
#[test]
fn a_finding_does_not_rest_on_a_point_whose_evidence_does_not_hold() {
    with_results(|results| {
        let seven =
            |point: &&fathom::results::PointResult| format!("{} ", point.point).contains("arguments=7 ");
        let mut calls = results.of_experiment("cpu/procedure_call");
        assert!(calls.find(seven).is_some_and(|point| point.estimate().is_some() && !point.evidence_holds()));
        let said: Vec<String> =
            results.findings_of("cpu/procedure_call").iter().map(|said| said.statement.plain()).collect();
        assert!(said.iter().any(|text| text.contains("One more argument")), "{said:?}");
        assert!(!said.iter().any(|text| text.contains("a seventh")), "{said:?}");
    });
}

/// The page stays behind, to be looked at: `everything.html` in the target folder's `tmp`.
#[test]
fn a_page_over_every_experiment_has_a_section_for_each() {
    let run = crate::fixture::parse(&crate::fixture::everything());
    let results = Results::of(&run);
    let page = in_form(&results, Form::Html);
    for experiment in results.experiments() {
        assert!(page.contains(&format!("<code>{experiment}</code>")), "{experiment}");
    }
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/everything.html"), page).unwrap();
}

/// Every form of the report, by name.
fn forms(results: &Results) -> Vec<(String, String)> {
    let terminal = [("terminal", 120), ("narrow terminal", 60)];
    let terminal = terminal.map(|(name, width)| (name.to_owned(), on_terminal(results, width, false)));
    let others = Form::value_variants().iter().map(|form| (format!("{form:?}"), in_form(results, *form)));
    terminal.into_iter().chain(others).collect()
}

#[test]
fn the_same_run_file_gives_the_same_bytes() {
    assert_eq!(with_results(forms), with_results(forms));
}

#[test]
fn no_number_that_is_none_is_printed() {
    for (form, text) in with_results(forms) {
        for word in ["NaN", "inf ", "-inf", "undefined"] {
            assert!(!text.contains(word), "{word} in {form}");
        }
    }
}

#[test]
fn names_in_a_run_file_become_no_markup() {
    let page = with_results(|results| in_form(results, Form::Html));
    assert!(
        !page.contains(crate::fixture::HOSTILE) && !page.contains("<b>bold") && !page.contains("each </td>")
    );
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // The policy, the data and our own script: no other element of this name.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let markdown = with_results(|results| in_form(results, Form::Markdown));
    assert!(!markdown.contains("<script"));
}

#[test]
fn the_page_needs_nothing_else() {
    let page = with_results(|results| in_form(results, Form::Html));
    for reach in
        [" src=", "@import", "url(", "href=\"http", "<link", "<iframe", "fetch(", " style=", " onclick"]
    {
        assert!(!page.contains(reach), "{reach}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_link_inside_the_page_has_its_target_and_every_id_is_its_own() {
    let page = with_results(|results| in_form(results, Form::Html));
    let ids: Vec<&str> = attributes(&page, " id=\"");
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(ids.len(), distinct.len(), "an id stands twice");
    for target in attributes(&page, "href=\"#") {
        assert!(ids.contains(&target), "nothing has the id {target}");
    }
    for attribute in ["aria-labelledby=\"", "aria-describedby=\""] {
        let named = attributes(&page, attribute);
        assert!(!named.is_empty());
        assert!(named.iter().all(|id| ids.contains(id)), "{named:?}");
    }
}

/// The values of an attribute, up to the closing quote.
fn attributes<'a>(page: &'a str, opening: &str) -> Vec<&'a str> {
    page.split(opening).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_reference_leads_somewhere_and_no_key_stands_twice() {
    assert_eq!(with_results(|results| RunReport::of(results).document().dangling()), []);
    let run = crate::fixture::parse(&crate::fixture::everything());
    assert_eq!(RunReport::of(&Results::of(&run)).document().dangling(), []);
}

/// What stands between these two, wherever they do.
fn between<'a>(text: &'a str, opening: &'static str, closing: char) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).filter_map(move |rest| Some(rest.split_once(closing)?.0))
}

/// A run with everything, in a form.
fn everything_in(form: Form) -> String {
    let run = crate::fixture::parse(&crate::fixture::everything());
    in_form(&Results::of(&run), form)
}

/// The same in the files of a form: the paper and its appendix.
fn everything_in_files(form: Form) -> [String; 2] {
    let run = crate::fixture::parse(&crate::fixture::everything());
    let results = Results::of(&run);
    let report = RunReport::of(&results);
    let paper = render(&report, form, Style { width: 120, colour: false });
    [paper, appendix(&report, form).expect("an appendix")]
}

/// What is inside of the appendix's parts, which have further parts inside of them.
fn folded_for_long(page: &str) -> Vec<&str> {
    let mut parts = vec![];
    let (mut depth, mut from) = (0, None);
    for (at, _) in page.match_indices("details") {
        if page[..at].ends_with("</") {
            depth -= 1;
            if let Some((_, from)) = from.take_if(|(outer, _)| *outer == depth) {
                parts.push(&page[from..at]);
            }
        } else if page[..at].ends_with('<') {
            if page[at..].starts_with("details class=\"long\"") && from.is_none() {
                from = Some((depth, at));
            }
            depth += 1;
        }
    }
    parts
}

/// The paper without its appendix has tables and figures without a gap, and so has the appendix.
#[test]
fn what_is_in_the_appendix_is_counted_by_itself() {
    let page = everything_in(Form::Html);
    let folded = folded_for_long(&page);
    for kind in [" id=\"table-", " id=\"figure-"] {
        let inside: BTreeSet<&str> = folded.iter().flat_map(|part| between(part, kind, '"')).collect();
        assert!(!inside.is_empty() && inside.iter().all(|number| number.starts_with('A')), "{inside:?}");
        let all: Vec<&str> = between(&page, kind, '"').collect();
        let outside = all.iter().filter(|number| !inside.contains(*number));
        assert!(outside.clone().count() > 0);
        assert!(outside.clone().all(|number| !number.starts_with('A')), "{all:?}");
    }
}

/// On paper what stays folded is missing: what is cited of it is said to be of the page.
#[test]
fn on_paper_no_table_is_cited_as_there_that_stays_folded() {
    let paper = everything_in(Form::Html);
    let folded = folded_for_long(&paper);
    let folded: BTreeSet<&str> =
        folded.iter().flat_map(|inside| between(inside, " id=\"table-", '"')).collect();
    assert!(!folded.is_empty(), "the fixture has nothing that stays folded");
    let cited: BTreeSet<&str> = between(&paper, "<a href=\"#table-", '"').collect();
    assert!(!cited.is_empty() && cited.is_disjoint(&folded), "{cited:?} {folded:?}");
    assert!(paper.contains("<a class=\"kept-back\" href=\"#table-"), "none of them is cited");
}

#[test]
fn latex_refers_to_labels_that_it_has() {
    for latex in everything_in_files(Form::Latex) {
        let labels: BTreeSet<&str> = between(&latex, "\\label{", '}').collect();
        let cited: BTreeSet<&str> = between(&latex, "\\ref{", '}').collect();
        assert!(!labels.is_empty() && cited.is_subset(&labels), "{:?}", cited.difference(&labels));
    }
}

#[test]
fn markdown_cites_no_table_figure_or_section_that_it_has_not() {
    let [paper, appendix] = everything_in_files(Form::Markdown);
    ensure_cited(&paper, &appendix, " of the appendix");
    ensure_cited(&appendix, &paper, " of the paper");
}

/// What a file cites stands in it, or, where it says so, in the other.
fn ensure_cited(markdown: &str, other: &str, elsewhere: &str) {
    let sections = |text: &str| -> BTreeSet<String> {
        let headings = text.lines().filter(|line| line.starts_with('#'));
        let numbers = headings.filter_map(|line| line.trim_start_matches('#').trim_start().split(' ').next());
        numbers.map(str::to_owned).collect()
    };
    let mut found = [0, 0];
    for kind in ["Table ", "Figure ", "Section "] {
        for rest in markdown.split(kind).skip(1) {
            let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            let number = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
            let digits = number.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
            if number.is_empty() || number.len() - digits.len() > 1 || digits.contains(char::is_alphabetic) {
                continue;
            }
            let is_elsewhere = rest[number.len()..].starts_with(elsewhere);
            let there = if is_elsewhere { other } else { markdown };
            let stands = match kind {
                "Section " => sections(there).contains(number),
                kind => there.contains(&format!("**{kind}{number}.**")),
            };
            assert!(
                stands,
                "{kind}{number} is cited and not there{}",
                if is_elsewhere { elsewhere } else { "" }
            );
            found[usize::from(is_elsewhere)] += 1;
        }
    }
    assert!(found[0] > 5, "{found:?}");
}

#[test]
fn tables_and_figures_are_numbered_without_a_gap() {
    let page = with_results(|results| in_form(results, Form::Html));
    for kind in ["table", "figure"] {
        let opening = format!(" id=\"{kind}-");
        let all = attributes(&page, &opening);
        let (appendix, paper): (Vec<&str>, Vec<&str>) =
            all.iter().partition(|number| number.starts_with('A'));
        for part in [appendix, paper] {
            assert!(!part.is_empty());
            let number = |number: &&str| number.trim_start_matches('A').parse().expect("a number");
            let mut numbers: Vec<usize> = part.iter().map(number).collect();
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=part.len()).collect::<Vec<_>>(), "{kind}");
        }
    }
}

#[test]
fn every_point_stands_once_in_every_summary() {
    with_results(|results| {
        let json: serde_json::Value =
            serde_json::from_str(&in_form(results, Form::Json)).expect("valid JSON");
        let points = json["points"].as_array().expect("points");
        assert_eq!(points.len(), results.points.len());
        for (point, result) in points.iter().zip(&results.points) {
            assert_eq!(point["experiment"], result.experiment.as_str());
            assert_eq!(point["outcome"] == "value", point["median"].is_number());
            assert_eq!(point["outcome"] == "value", point["reason"].is_null());
        }
        for outcome in ["value", "below_resolution", "skipped", "failed", "timed_out", "implausible"] {
            assert!(points.iter().any(|point| point["outcome"] == outcome), "the fixture has no {outcome}");
        }
        let text = on_terminal(results, 200, false);
        let (table, rest) = text.split_once("Without a value").expect("two lists");
        let rows = table.lines().filter(|line| line.starts_with('\u{a0}')).count();
        assert_eq!(rows + without_a_value(rest), results.points.len());
    });
}

/// Points in the list behind the table: a line is one, or says how many.
fn without_a_value(list: &str) -> usize {
    let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
    lines
        .filter(|line| !line.starts_with("   ")) // the rest of a long reason
        .map(|line| match line.split_once(" points:") {
            Some((before, _)) => {
                before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(1)
            }
            None => 1,
        })
        .sum()
}

#[test]
fn no_line_of_the_table_is_longer_than_the_terminal() {
    with_results(|results| {
        for width in [60, 80, 100, 120, 200] {
            let text = on_terminal(results, width, false);
            let table = text.split("Without a value").next().unwrap_or_default();
            let longest = table.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{longest:?} at {width}");
        }
    });
}

/// Of a run of everything there is more than a screen holds, and of the small one less.
#[test]
fn a_run_is_told_on_one_screen_of_any_usual_width() {
    for text in [crate::fixture::golden(), crate::fixture::everything()] {
        let run = crate::fixture::parse(&text);
        let results = Results::of(&run);
        for width in [80, 95, 96, 100, 120] {
            let text = on_screen(&results, width, false);
            assert!(text.lines().count() <= screen::MOST_LINES, "{} at {width}", text.lines().count());
            let too_long = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(too_long, None, "at {width}");
            for part in ["How far to trust it", "Main figures", "What stands out", "fathom report --full"] {
                assert!(text.contains(part), "{part} at {width}:\n{text}");
            }
        }
        assert_eq!(without_colour(&on_screen(&results, 120, true)), on_screen(&results, 120, false));
    }
}

/// Letters and digits alone: without markup of any form.
fn bare(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '<' => drop(letters.by_ref().find(|letter| *letter == '>')),
            '&' => drop(
                letters.next_if(|next| next.is_alphabetic()).map(|_| letters.find(|letter| *letter == ';')),
            ),
            '\\' => while letters.next_if(char::is_ascii_alphabetic).is_some() {},
            letter if letter.is_ascii_alphanumeric() || letter == '.' => plain.push(letter),
            _ => {}
        }
    }
    plain
}

/// The rows of the main figures on a screen: what each is of, and its median with its interval.
fn figures_of(screen: &str) -> Vec<(String, String)> {
    let table = screen.lines().skip_while(|line| !line.starts_with("Main figures")).skip(1);
    let rows = table.take_while(|line| !line.is_empty()).filter(|line| line.contains(": "));
    rows.map(|row| {
        let (_, rest) = row.split_once(": ").unwrap();
        let cells: Vec<&str> = rest.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        (cells[0].to_owned(), cells[1..3].concat())
    })
    .collect()
}

#[test]
fn every_form_begins_with_what_the_screen_says() {
    let run = crate::fixture::parse(&crate::fixture::everything());
    let results = Results::of(&run);
    let figures = figures_of(&on_screen(&results, Style::default().width, false));
    assert!(figures.len() > 10, "{figures:?}");
    let forms = [
        (Form::Html, "<nav id=\"contents\""),
        (Form::Markdown, "## Contents"),
        (Form::Latex, "\\tableofcontents"),
        (Form::Synopsis, "## Machine and program"),
    ];
    // What a machine is told by stands in every opening, whatever the width that a screen would have.
    let all = bare(&in_form(&results, Form::Synopsis));
    let leading = fathom::experiments::all().flat_map(|experiment| experiment.about().shown.main_figures);
    let leading =
        leading.filter(|figure| figure.leads).filter_map(|figure| figure.words.split(['(', '{']).next());
    let leading: Vec<String> = leading.map(bare).filter(|words| all.contains(words)).collect();
    assert!(leading.len() > 9, "{leading:?}");
    for width in [80, Style::default().width] {
        let shown = figures_of(&on_screen(&results, width, false));
        let shown: Vec<String> = shown.iter().map(|(of, _)| bare(of.trim_end_matches('…'))).collect();
        for words in &leading {
            let stands = shown.iter().any(|of| of.starts_with(words) || words.starts_with(of));
            assert!(stands, "the screen of {width} columns has no {words}: {shown:?}");
        }
    }
    for (form, after) in forms {
        let text = in_form(&results, form);
        let (opening, _) = text.split_once(after).expect("what follows the opening");
        let opening = bare(opening);
        for (of, numbers) in &figures {
            let whole = bare(of) + &bare(numbers);
            let (of, numbers) = (bare(of.trim_end_matches('…')), bare(numbers));
            let stands = opening.contains(&whole) || opening.contains(&of) && opening.contains(&numbers);
            assert!(stands, "{form:?} has no {of} of {numbers}");
        }
        for words in &leading {
            assert!(opening.contains(words), "{form:?} has no {words}");
        }
        for title in ["How far to trust it", "What stands out", "in fresh processes"] {
            assert!(opening.contains(&bare(title)), "{form:?}: {title}");
        }
    }
}

/// The text without escape sequences, none of which takes room.
fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').map_or("", |(_, rest)| rest))
}

/// What a run says of its precision is what its points say.
#[test]
fn the_precision_that_was_reached_and_missed_is_told_as_it_is() {
    let told = |target: f64, ended: &str| {
        let text = crate::fixture::golden()
            .replace("\"precision\":0.01", &format!("\"precision\":{target}"))
            .replace("\"ended\":\"budget\"", &format!("\"ended\":\"{ended}\""));
        on_screen(&Results::of(&crate::fixture::parse(&text)), 200, false)
    };
    let missed = told(0.001, "precision");
    assert!(missed.contains("ended because no further trial was expected"), "{missed}");
    assert!(missed.contains("have an interval within ±0.10 %") && !missed.contains("20 of 20"), "{missed}");
    assert!(!missed.contains("every value had reached"), "{missed}");
    let reached = told(0.01, "precision");
    assert!(reached.contains("every value had reached the target precision"), "{reached}");
    assert!(reached.contains("29 of 29 values (100 %)"), "{reached}");
}

#[test]
fn a_machine_and_an_experiment_can_be_read_on_any_terminal() {
    let machine = crate::fixture::machine();
    for width in [40, 100] {
        let style = Style { width, colour: false };
        let text = machine.text(style);
        assert!(text.contains("Processor") && text.contains("2.5 GHz") && text.contains("[cpuid leaf 0x16]"));
        for experiment in fathom::experiments::all() {
            let about = experiment.about();
            let explained = catalogue::explain(experiment, &machine, style);
            assert!(explained.contains(about.name) && explained.contains("Method"));
        }
        let list = catalogue::list(fathom::experiments::all(), &machine, style);
        assert!(fathom::experiments::all().all(|experiment| list.contains(experiment.about().name)));
    }
}

#[test]
fn every_field_for_programs_is_described() {
    let described = std::fs::read_to_string("docs/report-json.md").unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&with_results(|results| in_form(results, Form::Json))).unwrap();
    let objects = [
        &json,
        &json["conditions"],
        &json["points"][0],
        &json["points"][0]["disturbance"],
        &json["trends"][0],
    ];
    for field in objects.iter().flat_map(|object| object.as_object().expect("an object").keys()) {
        assert!(described.contains(&format!("`{field}`")), "{field} is not in docs/report-json.md");
    }
}

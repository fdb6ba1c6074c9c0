//! What must hold of the reports of a run whatever they look like: of the fixed run, whose names are hostile, and of a run of
//! everything.

use crate::reported::{EVERYTHING, FIXED, in_form, on_screen, on_terminal};
use clap::ValueEnum;
use fathom::report::{Facts, Form, RunReport, Style, Subject, catalogue, screen};
use fathom::results::{Agreement, CrossCheck, Results};
use std::collections::BTreeSet;

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

/// The point with seven arguments was seen to be another operation than the one named.
#[test]
fn a_finding_does_not_rest_on_a_point_whose_evidence_does_not_hold() {
    let results = &FIXED.results;
    let seven = |point: &&fathom::results::PointResult| format!("{} ", point.point).contains("arguments=7 ");
    let mut calls = results.of_experiment("cpu/procedure_call");
    assert!(calls.find(seven).is_some_and(|point| point.estimate().is_some() && !point.evidence_holds()));
    let said: Vec<String> =
        results.findings_of("cpu/procedure_call").iter().map(|said| said.statement.plain()).collect();
    assert!(said.iter().any(|text| text.contains("One more argument")), "{said:?}");
    assert!(!said.iter().any(|text| text.contains("a seventh")), "{said:?}");
}

/// The pages stay behind, to be looked at and for `tests/browser/check`: `everything.html` and `fixed.html` in the target
/// folder's `tmp`.
#[test]
fn a_page_over_every_experiment_has_a_section_for_each() {
    let page = EVERYTHING.form(Form::Html);
    let experiments = EVERYTHING.results.experiments();
    assert_eq!(experiments.len(), fathom::experiments::all().count(), "an experiment has no point");
    for experiment in experiments {
        assert!(page.contains(&format!("<code>{experiment}</code>")), "{experiment}");
    }
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/everything.html"), page).unwrap();
    std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/fixed.html"), FIXED.form(Form::Html)).unwrap();
}

#[test]
fn the_same_run_file_gives_the_same_bytes() {
    let again = crate::fixture::parse(&crate::fixture::golden());
    let again = Results::of(&again);
    for form in Form::value_variants() {
        assert!(in_form(&again, *form) == FIXED.form(*form), "{form:?}");
    }
    assert_eq!(on_terminal(&again, 120, false), on_terminal(&FIXED.results, 120, false));
}

#[test]
fn no_number_that_is_none_is_printed() {
    let on_terminal = [60, 120].map(|width| on_terminal(&FIXED.results, width, false));
    let forms = Form::value_variants().iter().map(|form| FIXED.form(*form));
    for text in on_terminal.iter().map(String::as_str).chain(forms) {
        for word in ["NaN", "inf ", "-inf", "undefined"] {
            assert!(!text.contains(word), "{word} in {text:.200}");
        }
    }
}

#[test]
fn names_in_a_run_file_become_no_markup() {
    let page = FIXED.form(Form::Html);
    assert!(
        !page.contains(crate::fixture::HOSTILE) && !page.contains("<b>bold") && !page.contains("each </td>")
    );
    assert!(page.contains("&lt;script&gt;alert(1)"));
    // The policy, the data and our own script: no other element of this name.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let markdown = FIXED.form(Form::Markdown);
    assert!(!markdown.contains("<script"));
}

#[test]
fn the_page_needs_nothing_else() {
    let page = FIXED.form(Form::Html);
    for reach in
        [" src=", "@import", "url(", "href=\"http", "<link", "<iframe", "fetch(", " style=", " onclick"]
    {
        assert!(!page.contains(reach), "{reach}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_link_inside_the_page_has_its_target_and_every_id_is_its_own() {
    let page = FIXED.form(Form::Html);
    let ids: Vec<&str> = attributes(page, " id=\"");
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(ids.len(), distinct.len(), "an id stands twice");
    for target in attributes(page, "href=\"#") {
        assert!(ids.contains(&target), "nothing has the id {target}");
    }
    for attribute in ["aria-labelledby=\"", "aria-describedby=\""] {
        let named = attributes(page, attribute);
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
    for reported in [&FIXED, &EVERYTHING] {
        assert_eq!(RunReport::of(&reported.results).document().dangling(), []);
    }
}

/// What stands between these two, wherever they do.
fn between<'a>(text: &'a str, opening: &'static str, closing: char) -> impl Iterator<Item = &'a str> {
    text.split(opening).skip(1).filter_map(move |rest| Some(rest.split_once(closing)?.0))
}

/// The files of a form that has two, of a run with everything: the paper and its appendix.
fn files_of(form: Form) -> [&'static str; 2] {
    [EVERYTHING.form(form), EVERYTHING.appendix(form)]
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
    let page = EVERYTHING.form(Form::Html);
    let folded = folded_for_long(page);
    for kind in [" id=\"table-", " id=\"figure-"] {
        let inside: BTreeSet<&str> = folded.iter().flat_map(|part| between(part, kind, '"')).collect();
        assert!(!inside.is_empty() && inside.iter().all(|number| number.starts_with('A')), "{inside:?}");
        let all: Vec<&str> = between(page, kind, '"').collect();
        let outside = all.iter().filter(|number| !inside.contains(*number));
        assert!(outside.clone().count() > 0);
        assert!(outside.clone().all(|number| !number.starts_with('A')), "{all:?}");
    }
}

/// On paper what stays folded is missing: what is cited of it is said to be of the page.
#[test]
fn on_paper_no_table_is_cited_as_there_that_stays_folded() {
    let paper = EVERYTHING.form(Form::Html);
    let folded = folded_for_long(paper);
    let folded: BTreeSet<&str> =
        folded.iter().flat_map(|inside| between(inside, " id=\"table-", '"')).collect();
    assert!(!folded.is_empty(), "the fixture has nothing that stays folded");
    let cited: BTreeSet<&str> = between(paper, "<a href=\"#table-", '"').collect();
    assert!(!cited.is_empty() && cited.is_disjoint(&folded), "{cited:?} {folded:?}");
    assert!(paper.contains("<a class=\"of-appendix\" href=\"#table-"), "none of them is cited");
}

#[test]
fn latex_refers_to_labels_that_it_has() {
    for latex in files_of(Form::Latex) {
        let labels: BTreeSet<&str> = between(latex, "\\label{", '}').collect();
        let cited: BTreeSet<&str> = between(latex, "\\ref{", '}').collect();
        assert!(!labels.is_empty() && cited.is_subset(&labels), "{:?}", cited.difference(&labels));
    }
}

#[test]
fn markdown_cites_no_table_figure_or_section_that_it_has_not() {
    let [paper, appendix] = files_of(Form::Markdown);
    ensure_cited(paper, appendix, " of the appendix");
    ensure_cited(appendix, paper, " of the paper");
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
    let page = FIXED.form(Form::Html);
    for kind in ["table", "figure"] {
        let opening = format!(" id=\"{kind}-");
        let all = attributes(page, &opening);
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
fn every_point_stands_once_in_the_summary() {
    let text = on_terminal(&FIXED.results, 200, false);
    let (table, rest) = text.split_once("Without a value").expect("two lists");
    let rows = table.lines().filter(|line| line.starts_with('\u{a0}')).count();
    assert_eq!(rows + without_a_value(rest), FIXED.results.points.len());
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
    for width in [60, 80, 100, 120, 200] {
        let text = on_terminal(&FIXED.results, width, false);
        let table = text.split("Without a value").next().unwrap_or_default();
        let longest = table.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width), "{longest:?} at {width}");
    }
}

/// Of a run of everything there is more than a screen holds, and of the small one less.
#[test]
fn a_run_is_told_on_one_screen_of_any_usual_width() {
    for results in [&FIXED.results, &EVERYTHING.results] {
        for width in [80, 95, 96, 100, 120] {
            let text = on_screen(results, width, false);
            assert!(text.lines().count() <= screen::MOST_LINES, "{} at {width}", text.lines().count());
            let too_long = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(too_long, None, "at {width}");
            for part in
                ["Trust: ", "Measured: ", "Main figures", "What stands out", "Next: fathom report RUN --full"]
            {
                assert!(text.contains(part), "{part} at {width}:\n{text}");
            }
            let contradicts = |check: &&CrossCheck| check.agreement == Agreement::Contradicts;
            let said = text.lines().filter(|line| line.contains("✗ contradiction: ")).count();
            assert_eq!(said, results.cross_checks.iter().filter(contradicts).count().min(2), "{text}");
        }
        assert_eq!(without_colour(&on_screen(results, 120, true)), on_screen(results, 120, false));
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

/// The rows of the main figures on a screen: what each is of, and its median.
fn figures_of(screen: &str) -> Vec<(String, String)> {
    let table = screen.lines().skip_while(|line| !line.starts_with("Main figures")).skip(1);
    let rows = table.take_while(|line| !line.is_empty()).filter_map(|row| {
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        // The legend below has one cell.
        (cells.len() > 2).then(|| {
            (
                cells[0].trim_start_matches(['✗', '✓', '–', '?', ' ']).to_owned(),
                cells[1].trim_end_matches('*').to_owned(),
            )
        })
    });
    rows.collect()
}

#[test]
fn every_form_begins_with_what_the_screen_says() {
    let results = &EVERYTHING.results;
    let figures = figures_of(&on_screen(results, Style::default().width, false));
    assert!(figures.len() >= 10, "{figures:?}");
    let forms = [
        (Form::Html, "<nav id=\"contents\""),
        (Form::Markdown, "## Contents"),
        (Form::Latex, "\\tableofcontents"),
        (Form::Synopsis, "## Machine and program"),
    ];
    // What a machine is told by stands in every opening, whatever the width that a screen would have.
    let all = bare(EVERYTHING.form(Form::Synopsis));
    let leading = fathom::experiments::all().flat_map(|experiment| experiment.about().shown.main_figures);
    let leading =
        leading.filter(|figure| figure.leads).filter_map(|figure| figure.name.split(['(', '{']).next());
    // A figure whose method has another version now leads no more.
    let shown_wide = figures.iter().map(|(of, _)| bare(of.trim_end_matches('…'))).collect::<Vec<_>>();
    let leads = |words: &String| all.contains(words) && shown_wide.iter().any(|of| of.starts_with(words));
    let leading: Vec<String> = leading.map(bare).filter(leads).collect();
    assert!(leading.len() > 6, "{leading:?}");
    for width in [80, Style::default().width] {
        let shown = figures_of(&on_screen(results, width, false));
        let shown: Vec<String> = shown.iter().map(|(of, _)| bare(of.trim_end_matches('…'))).collect();
        for words in &leading {
            let stands = shown.iter().any(|of| of.starts_with(words) || words.starts_with(of));
            assert!(
                stands,
                "the screen of {width} columns has no {words}: {}",
                on_screen(results, width, false)
            );
        }
    }
    for (form, after) in forms {
        let text = EVERYTHING.form(form);
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
        for title in ["Can you trust this run?", "What stands out", "behind the values"] {
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

/// The stretches that are in a colour, with the codes before them.
fn coloured(text: &str) -> Vec<(String, &str)> {
    let mut stretches: Vec<(String, &str)> = vec![];
    let mut codes = String::new();
    for part in text.split("\u{1b}[").skip(1) {
        let (code, words) = part.split_once('m').expect("the end of a sequence");
        match code {
            "0" => codes.clear(),
            code => codes += &format!("{code};"),
        }
        if !words.is_empty() && !codes.is_empty() {
            stretches.push((codes.clone(), words));
        }
    }
    stretches
}

/// Good, careful, bad and faint, as a terminal is told of them; all else is a title, alone on its line.
#[test]
fn marks_have_the_colour_of_what_they_say_and_titles_are_bold() {
    const BAD: &str = "1;31;";
    let marks = [
        ("✓", "32;"),
        ("→", "32;"),
        ("✗", BAD),
        ("implausible", BAD),
        ("failed", BAD),
        ("timed out", BAD),
        ("!", "33;"),
        ("  ! counters", "33;"),
        ("skipped", "33;"),
    ];
    let screen = [on_screen(&FIXED.results, 120, true), on_terminal(&FIXED.results, 120, true)];
    let mut seen = BTreeSet::new();
    for text in &screen {
        let plain = without_colour(text);
        for (codes, words) in coloured(text) {
            if let Some((mark, expected)) = marks.iter().find(|(mark, _)| *mark == words) {
                assert_eq!(codes, *expected, "{mark}");
                seen.insert(*mark);
            } else {
                let whole = plain.lines().any(|line| words.lines().any(|part| part == line));
                assert!(whole && (codes == "1;" || codes == "2;"), "{codes} {words}");
            }
        }
        for title in
            ["Can you trust this run?", "What stands out", "Trends", "Evidence that fails", "Precision"]
        {
            let titled = plain.lines().filter(|line| line.starts_with(title));
            for line in titled {
                assert!(text.contains(&format!("\u{1b}[1m{line}\u{1b}[0m")), "{line} is not bold");
            }
        }
        assert!(text.contains("\u{1b}[2mrun file: runs/example.jsonl\u{1b}[0m"), "where it is is not faint");
    }
    assert_eq!(seen.len(), marks.len(), "{seen:?}");
}

/// Words in one row, whatever lines they are on.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A narrow terminal loses columns of tables and the ends of names, and says nothing else.
#[test]
fn a_narrow_terminal_is_told_the_same_in_other_lines() {
    let results = &FIXED.results;
    for (width, heads) in [
        (72, "operation predicted measured ± meas./pred. check"),
        (100, "operation predicted measured 95 % interval meas./pred. check"),
        (120, "operation hardware software predicted measured 95 % interval meas./pred. check"),
    ] {
        let text = on_terminal(results, width, false);
        assert!(text.lines().any(|line| in_one_line(line) == heads), "{width}: {text}");
        let (_, wide) =
            in_one_line(&on_terminal(results, 120, false)).split_once("Without a value").map(own).unwrap();
        let (_, rest) = in_one_line(&text).split_once("Without a value").map(own).unwrap();
        assert_eq!(rest, wide, "at {width}");
        assert_eq!(without_colour(&on_terminal(results, width, true)), text, "at {width}");
    }
    let [narrow, wide] = [80, 120].map(|width| on_screen(results, width, false));
    let trust = |text: &str| {
        let (_, rest) = text.split_once("Trust: ").expect("a verdict");
        in_one_line(rest.split("Measured: ").next().unwrap_or_default())
    };
    assert_eq!(trust(&narrow), trust(&wide));
    // A narrow screen has as many lines, of which the same words take more.
    assert!(!figures_of(&narrow).is_empty());
    for (of, numbers) in figures_of(&narrow) {
        let is_it = |(whole, more): &(String, String)| {
            whole.starts_with(of.trim_end_matches('…')) && numbers == *more
        };
        assert!(figures_of(&wide).iter().any(is_it), "{of} {numbers}: {wide}");
    }
}

fn own((one, other): (&str, &str)) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

/// The calls of the fixed run cost 0.9 ns and 0.15 ns more with each argument: as far apart, and on a line that rises.
#[test]
fn points_of_which_the_truth_is_a_line_are_drawn_on_a_line() {
    let page = FIXED.form(Form::Html);
    let drawing = page
        .split("<svg")
        .find(|part| part.contains("by integer arguments") && part.contains("<circle"))
        .expect("it");
    let place = |circle: &str, name: &str| -> f64 {
        let (_, rest) = circle.split_once(&format!(" {name}=\"")).expect(name);
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    let circles = drawing.split("<circle ").skip(1).filter_map(|part| part.split("/>").next());
    let marks = circles.filter(|circle| circle.starts_with("class=\"s0\""));
    let mut marks: Vec<(f64, f64)> = marks.map(|mark| (place(mark, "cx"), place(mark, "cy"))).collect();
    // The first of them explains the marks, above the axes.
    assert_eq!(marks.len(), 9, "{drawing}");
    marks.remove(0);
    let steps: Vec<(f64, f64)> =
        marks.windows(2).map(|two| (two[1].0 - two[0].0, two[1].1 - two[0].1)).collect();
    for (right, down) in &steps {
        assert!(*right > 10.0 && (right - steps[0].0).abs() < 0.25, "{marks:?}");
        assert!(*down < -5.0 && (down - steps[0].1).abs() < 0.25, "{marks:?}");
    }
}

/// What a run says of its precision is what its points say.
#[test]
fn the_precision_that_was_reached_and_missed_is_told_as_it_is() {
    let told = |target: f64, ended: &str| {
        let text = FIXED
            .text
            .replace("\"precision\":0.01", &format!("\"precision\":{target}"))
            .replace("\"ended\":\"budget\"", &format!("\"ended\":\"{ended}\""));
        on_terminal(&Results::of(&crate::fixture::parse(&text)), 200, false)
    };
    let missed = told(0.001, "precision");
    assert!(missed.contains("ended because no further trial was expected"), "{missed}");
    assert!(missed.contains("are known within ±0.1 %") && !missed.contains("20 of 20"), "{missed}");
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

/// What was predicted is the number of cycles: at another frequency than that of the results a ratio would say something of the clock.
#[test]
fn predictions_in_cycles_are_stated_at_the_frequency_of_the_results() {
    let results = &FIXED.results;
    let cycle = results.core_hz.map(|hz| fathom::quantities::number(1e9 / hz)).expect("a frequency");
    let terms =
        || results.points.iter().filter_map(|point| point.prediction.as_ref()).flat_map(|all| &all.terms);
    let words: BTreeSet<String> = terms().map(|term| format!("{:?}", term.source)).collect();
    let in_cycles: Vec<&String> = words.iter().filter(|words| words.contains(" cycles of ")).collect();
    assert!(
        !in_cycles.is_empty() && in_cycles.iter().all(|words| words.contains(&format!(" of {cycle} ns"))),
        "{cycle}: {in_cycles:?}"
    );
}

/// A caption that names a column which only a wide screen has is untrue on paper.
#[test]
fn the_first_table_has_every_column_that_its_caption_names() {
    let page = EVERYTHING.form(Form::Html);
    let table = page.split("<table").find(|table| table.contains("Main figures: medians")).expect("a table");
    let table = table.split("</table>").next().expect("its rows");
    assert!(!table.contains("optional"), "{}", &table[..2000.min(table.len())]);
}

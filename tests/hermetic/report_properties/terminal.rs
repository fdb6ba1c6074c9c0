//! The report on a terminal: one screen of any usual width, which every form begins with.

use crate::reported::{EVERYTHING, FIXED, on_screen, on_terminal};
use fathom::report::{Facts, Form, Style, catalogue, screen};
use fathom::results::{Agreement, CrossCheck};
use std::collections::BTreeSet;

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
    crate::committed::in_one_line(text)
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

fn own((one, other): (&str, &str)) -> (String, String) {
    (one.to_owned(), other.to_owned())
}

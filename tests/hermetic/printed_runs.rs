//! What is printed of runs of real machines, and each rule over it broken once.

use crate::printed::{Findings, known, look, numbers, rows};
use fathom::experiment::{Dimension, Piece};
use fathom::record::Run;
use fathom::report::paper::plain;
use fathom::report::{Form, RunReport, Style, Subject, render};
use fathom::results::Results;
use fathom::statistics::Interval;
use std::io::Read;
use std::path::Path;

pub fn read(name: &str) -> Run {
    fathom::experiments::register();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs").join(name);
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    Run::parse(&text).unwrap()
}

/// Looks at a run of a real machine: everything is looked at, and nothing is wrong.
fn is_printed_well(name: &str, least_values: usize) {
    let findings = look(&read(name));
    let broken: Vec<&String> = findings.broken.iter().collect();
    assert!(broken.is_empty(), "{} things: {broken:#?}", broken.len());
    assert!(findings.numbers > 10_000 && findings.values > least_values, "{findings:?}");
    assert!(findings.sentences > 40 && findings.pictures > 20 && findings.claims > 40, "{findings:?}");
    println!(
        "{name}: {} numbers, {} values, {} sentences, {} pictures, {} kinds of claims",
        findings.numbers, findings.values, findings.sentences, findings.pictures, findings.claims
    );
}

#[test]
fn a_run_on_a_shared_core_is_printed_as_it_was_computed() {
    is_printed_well("zen3-shared-quick-1.jsonl.gz", 400);
}

#[test]
fn a_run_without_intervals_is_printed_as_it_was_computed() {
    is_printed_well("emerald-rapids-quick.jsonl.gz", 400);
}

#[test]
fn a_section_says_which_parts_of_its_question_the_run_leaves_open() {
    let mut run = read("zen3-shared-quick-1.jsonl.gz");
    let style = Style { width: 100, colour: false };
    let paper = |run: &Run| render(&RunReport::of(&Results::of(run)), Form::Markdown, style);
    let open = "Not answered in this run: what it costs to have a block on the device.";
    assert!(!paper(&run).contains(open), "a finding has it");
    let is_on_device = |point: &fathom::experiment::Point| {
        point.name_of("durability").is_some_and(|durability| durability.starts_with("on the device"))
    };
    run.trials.retain(|trial| trial.experiment != "filesystem/write" || !is_on_device(&trial.point));
    let paper = paper(&run);
    assert!(paper.contains(open), "none of its points has a value");
    assert!(paper.contains("What a block in the page cache costs: "), "no finding is left that has it");
}

/// Characters in a line of A4 in 8.5 points, and its lines.
const SHEET: (usize, usize) = (124, 76);

#[test]
fn the_synopsis_of_a_run_of_everything_fits_on_a_page() {
    for name in ["zen3-shared-quick-1.jsonl.gz", "emerald-rapids-quick.jsonl.gz"] {
        let run = read(name);
        let page = plain::render(&RunReport::of(&Results::of(&run)).synopsis(), SHEET.0);
        let lines = page.lines().filter(|line| !line.trim().is_empty()).count();
        assert!(lines <= SHEET.1, "{name}: {lines} lines\n{page}");
        for part in ["Summary", "system call", "Method", "Machine and program", "The whole report"] {
            assert!(page.contains(part), "{name}: {part}\n{page}");
        }
    }
}

/// The variable that names further run files, separated by colons, of whatever machine: `FATHOM_PRINTED_RUNS=run.jsonl cargo test
/// --test hermetic printed_well -- --nocapture`.
const RUNS: &str = "FATHOM_PRINTED_RUNS";

#[test]
fn runs_that_are_named_are_printed_well() {
    let named = std::env::var(RUNS).unwrap_or_default();
    let mut broken = vec![];
    for path in named.split(':').filter(|path| !path.is_empty()) {
        let findings = look(&Run::read(Path::new(path)).unwrap());
        println!(
            "{path}: {} numbers, {} values, {} sentences, {} pictures, {} kinds of claims, {} violations",
            findings.numbers,
            findings.values,
            findings.sentences,
            findings.pictures,
            findings.claims,
            findings.broken.len()
        );
        broken.extend(findings.broken.into_iter().map(|what| format!("{path}: {what}")));
    }
    assert!(broken.is_empty(), "{} things: {broken:#?}", broken.len());
}

/// What the rules over texts find in one.
fn found(text: &str) -> String {
    let mut findings = Findings::default();
    numbers::look("text", text, &mut findings);
    rows::look("Markdown", text, &mut findings);
    findings.broken.into_iter().collect::<Vec<_>>().join("; ")
}

#[test]
fn each_rule_over_texts_is_broken_by_what_was_once_printed() {
    let broken = [
        ("0.31733333333333336 cycles", "more than six digits"),
        ("between 4096 and 134217728", "more than six digits"),
        ("minimum −0.409 ns", "a time below zero"),
        ("minimum\n−0.409 ns, of\n", "a time below zero"),
        ("lost 226000 ppm of its time", "a share in ppm"),
        ("share of steps that stay on a page: 1 (between 0 and 1)", "a share between 0 and 1 is no claim"),
        ("1.11 µs   0.000318 µs     1.12 µs", "a number that its unit is too large for"),
        ("11.6 GB/s    −7.91 GB/s   3.73 GB/s", "a rate below zero"),
        ("cold · random  50.1 µs     −7.9 to 72.2 µs", "an interval of a time that reaches below zero"),
        ("10 values with zero, or nearly, in its interval.", "is said to hold zero"),
        ("until the thread has run, it takes 18.8 µs pass.", "a time that takes a time to pass"),
        ("Another hardware thread used the core in 61.9 % of the time", "used in a share of the time"),
        ("Trust: fair. Stop other work and repeat it.", "a remedy that does not say whose work"),
        ("the core's frequency (it varied by 1.82 %)", "a variation without the trials"),
        ("✓ operation checked for 961 of 965 points: it was", "a sign that holds beside points that fail"),
        ("All of 1 point have a value.", "a plural of one"),
        ("All 1 check passed.", "a plural of one"),
        ("it was preempted 1 times during it", "a plural of one"),
        ("1 of 16 points have a value.", "a plural of one"),
        ("while dependent ones did not.…", "after the end of a sentence"),
        ("2.600 GHz (±0.00000440 % against the kernel's clock)", "only zeros are read"),
        ("One core reads 17.6 GB/s of memory because it keeps 50.9 lines", "an identity as a cause"),
        ("Trust: high. 82 % of 426 values: the machine was not idle.", "a cause without its remedy"),
        (
            "with 16 chases at once a load takes 8 ns (7–9): 16.7 loads are in flight at once",
            "than there are chases",
        ),
        ("16.9 ns  17.2–52.2", "a median outside of its interval"),
        ("L3 (480 MiB declared) reaches beyond the sweep", "an end of a level that another sentence finds"),
        ("other work on the CPU (0 % of the time).", "a share that was not seen"),
        (
            "Another hardware thread used the core 0 % of the time: independent ones took 2.64 times as long",
            "a share that was not seen",
        ),
        (
            "waking an idle CPU: 20.9 µs in this run, 5.11 µs in the prediction, too far apart (over a factor of 4) to be one \
             input's error",
            "excluded by its distance",
        ),
        ("waiting (the process and its children ran for 81.9 % of the time)", "processor time of several"),
        (
            "storing a page at the bandwidth of L3: 136 ns in this run, 31.3 ns in the prediction, too far",
            "by the name of what was",
        ),
        ("TCP moves 2.94 GB/s (2.92–2.96); a pipe 887 MB/s (283–943).", "rates in two units"),
        ("at most 71 s left, round 1, 435 points, 0 of them at target precision", "reads as a failure"),
        ("One fault on a cached file that is read in order maps 30.1 pages", "a mean over faults"),
        ("disturbed   steal in 2 of 3 247 trials.", "a counter's name"),
        ("predicted 0.0625 MiB, measured 2.00 MiB", "a number that its unit is too large for"),
        ("ramp · start 0 ns  0 ns  0–5 320 000 ns", "an interval of zero in a unit that is too small"),
        ("20 ns, 20–50", "a median at an end of its interval"),
        (
            "| operation | time (ns) |\n|---|---|\n| getppid | 80 µs |",
            "another unit than the head of its column",
        ),
    ];
    for (text, rule) in broken {
        assert!(found(text).contains(rule), "{text}: {}", found(text));
    }
    let sound = [
        "1 of 16 points has a value. 21 of 30 points have a value; with 16 chases at once: 15.1 loads are in flight",
        "187 ns (177–267), Linux 6.18.44-fc-v595 at 2026-11-23T18:10:40Z, seed 2973248611442414",
        "0.00142 ns; 0.212 µs; 123 456 interrupts and 1.23 million switches",
        "segments sent again per MiB: 0.133 (between 0 and 1)",
        "| operation | time (ns) |\n|---|---|\n| getppid | 80.0 |",
    ];
    for text in sound {
        assert_eq!(found(text), "", "{text}");
    }
}

#[test]
fn each_rule_over_known_values_is_broken_by_a_row() {
    let judged = |line: &str, value: f64, ends: (f64, f64)| {
        let printed = rows::values(line).remove(0);
        known::wrong(&printed, value, Some(ends)).unwrap_or("right")
    };
    assert_eq!(judged("16.9 ns  15.2–52.2 ns", 16.93, (15.27, 52.14)), "right");
    assert_eq!(
        judged("20 ns  15.2–52.2 ns", 16.9, (15.27, 52.14)),
        "a value more than half a digit from the computed one"
    );
    assert_eq!(judged("16.9 ns  15.3–52.2 ns", 16.9, (15.27, 52.14)), "an end moved inwards");
    assert_eq!(judged("16.9 ns  14.9–52.2 ns", 16.9, (15.27, 52.14)), "an end moved by more than a digit");
    assert_eq!(judged("0.05 ns  0.00–52.20 ns", 0.05, (0.003, 52.2)), "a positive end printed as zero");
    assert_eq!(judged("16.9 ns", 16.9, (15.27, 52.14)), "no interval");
}

#[test]
fn a_figure_that_its_sentence_does_not_print_is_seen() {
    let said = |text: &str| {
        let figure = serde_json::json!({ "name": "it", "value": 187.2, "unit": "nanoseconds" });
        let json = serde_json::json!({ "overall": [{ "text": text, "figures": [figure] }] });
        let mut findings = Findings::default();
        known::sentences(&json, &mut findings);
        findings.broken.len()
    };
    assert_eq!((said("It takes 187 ns (180–190)."), said("It takes 0.187 µs.")), (0, 0));
    assert_eq!((said("It takes 190 ns."), said("It takes 187 µs.")), (1, 1));
}

#[test]
fn a_name_with_two_values_is_seen() {
    let said = |second: f64, question: &str| {
        let figure =
            |value: f64| serde_json::json!({ "name": "a switch", "value": value, "unit": "nanoseconds" });
        let statements = [figure(1920.0), figure(second)]
            .map(|figure| serde_json::json!({ "question": question, "text": "", "figures": [figure] }));
        let mut findings = Findings::default();
        known::one_name_one_value(
            &serde_json::json!({ "findings": [{ "statements": statements }] }),
            &mut findings,
        );
        findings.broken.len()
    };
    assert_eq!([said(2530.0, "thread"), said(1920.0, "thread"), said(2530.0, "miss")], [1, 0, 0]);
}

#[test]
fn a_ratio_whose_values_are_not_shown_is_seen() {
    let figure = |name: &str, value: f64, dimension| {
        Piece::Figure(fathom::experiment::Found::bare(value, dimension).named(name))
    };
    let time = Dimension::Of(fathom::quantity::Unit::Nanoseconds);
    let ratio = || figure("one over other", 2.0, Dimension::Ratio);
    let broken = |pieces: Vec<Piece>| {
        let mut findings = Findings::default();
        known::operands(&fathom::experiment::Statement(pieces), &mut findings);
        findings.broken.len()
    };
    assert_eq!(broken(vec![ratio(), figure("one", 6.0, time), figure("other", 3.0, time)]), 0);
    assert_eq!(broken(vec![ratio(), figure("one", 6.0, time)]), 1);
}

#[test]
fn a_share_above_its_whole_is_seen() {
    let said = |high: f64| {
        let figure = serde_json::json!({ "name": "its share of a process", "value": 0.8, "high": high, "unit": "share" });
        let json = serde_json::json!({ "mechanisms": [{ "figures": [figure] }] });
        let mut findings = Findings::default();
        known::shares(&json, &mut findings);
        findings.broken.len()
    };
    assert_eq!([said(1.219), said(0.87)], [1, 0]);
}

#[test]
fn cycles_that_are_known_better_than_the_frequency_are_seen() {
    let run = read("zen3-shared-quick-1.jsonl.gz");
    fathom::experiments::register();
    let broken = |by: f64| {
        let mut results = Results::of(&run);
        for piece in results.findings.iter_mut().flat_map(|(_, of)| of).flat_map(|of| &mut of.statement.0) {
            let Piece::Figure(figure) = piece else { continue };
            if let (Dimension::Cycles, Some(ends)) =
                (figure.found.dimension, &mut figure.found.measured.interval)
            {
                let value = figure.found.measured.value;
                *ends =
                    Interval { low: value - by * (value - ends.low), high: value + by * (ends.high - value) };
            }
        }
        let mut findings = Findings::default();
        known::cycles(&results, &mut findings);
        findings.broken.len()
    };
    assert!(broken(0.01) > 0 && broken(1.0) == 0);
}

#[test]
fn markup_that_marks_nothing_and_works_without_a_reference_are_seen() {
    let seen = |text: &str| {
        let mut findings = Findings::default();
        numbers::look_at_markup("Markdown", text, &mut findings);
        findings.broken.len()
    };
    let broken =
        ["**Contradiction. **A", "its 95 % interval (Wilson 1927), the median", "A mixture is of both."];
    assert_eq!(broken.map(seen), [1, 1, 1]);
    let sound = [
        "**Contradiction:** A",
        "(Wilson 1927 \\[5\\])",
        "fork (mixture)\nA mixture is of both.",
        "(Table 19)",
    ];
    assert_eq!(sound.map(seen), [0, 0, 0, 0]);
}

#[test]
fn a_value_that_the_screen_prints_otherwise_is_seen() {
    let full = "getppid  187 ns  177–267 ns";
    let seen = |line: &str| {
        let mut findings = Findings::default();
        known::rows_of_the_screen(&format!("Main figures\n  {line}\n"), full, &mut findings);
        findings.broken.len()
    };
    assert_eq!((seen("getppid  187 ns  177–267"), seen("getppid  190 ns  177–267")), (0, 1));
}

#[test]
fn a_minimum_below_zero_is_seen() {
    let point = serde_json::json!({ "unit": "nanoseconds", "published_statistics": { "minimum": -0.409 } });
    let mut findings = Findings::default();
    known::nothing_negative(&serde_json::json!({ "points": [point] }), "median,minimum\n", &mut findings);
    assert_eq!(findings.broken.len(), 1);
}

#[test]
fn conclusions_that_their_figures_do_not_support_are_seen() {
    let count = |look: &dyn Fn(&mut Findings)| {
        let mut findings = Findings::default();
        look(&mut findings);
        findings.broken.len()
    };
    let order = |ends: [(f64, f64); 2]| count(&|found| known::order("…: the order holds.", &ends, found));
    assert_eq!([order([(2.56, 2.63), (2.54, 2.70)]), order([(2.5, 2.6), (2.7, 2.8)])], [1, 0]);
    let because =
        "Not explained. Excluded: it: {554} in this run, which would make the prediction {535}; other work.";
    let excluded = |measured, ends| count(&|found| known::excluded(because, measured, ends, found));
    assert_eq!([excluded(530.0, (524.0, 538.0)), excluded(195.0, (190.0, 200.0))], [1, 0]);
    assert_eq!(excluded(450.0, (440.0, 460.0)), 1, "within a factor of 1.25 of it");
    let contradiction = |text: &str| count(&|found| known::contradiction(text, found));
    assert_eq!(
        [
            contradiction(
                "Threads (2.60 µs (2.58–2.63)) cannot cost more than processes (2.53 µs (2.49–2.58))"
            ),
            contradiction(
                "Threads (2.90 µs (2.88–2.93)) cannot cost more than processes (2.53 µs (2.49–2.58))"
            ),
        ],
        [1, 0]
    );
    let ratio = |text: &str| count(&|found| known::undecided_ratio(text, found));
    assert_eq!(
        [
            ratio("One. A block at random takes 0.733 (0.381–2.41) times as long as a sequential one."),
            ratio("A block at random takes 2.33 (1.38–3.41) times as long as a sequential one."),
            ratio(
                "It does not get significantly slower: the last third costs 0.988 (0.936–1.09) times the first."
            ),
        ],
        [1, 0, 0]
    );
    let verdict = |picture: &str| {
        count(&|found| known::same_verdict(picture, "Trust: fair. 73.2 % of 426 values are", found))
    };
    assert_eq!(
        [verdict("312 of 426 values (73.2 %)"), verdict("<text>Trust: fair. 73.2 % of 426</text>")],
        [1, 0]
    );
}

/// The files in which numbers become text, or coordinates of drawings and sizes of paper, which nobody reads.
const FORMATTING: &[&str] = &[
    "quantities/mod.rs",
    "quantities/digits.rs",
    "quantity/declared.rs",
    "figure/svg.rs",
    "paper/html/contrast.rs",
    "paper/html/writer.rs",
    "paper/latex/mod.rs",
    "paper/latex/picture.rs",
    "paper/latex/table.rs",
    "paper/picture.rs",
];

/// The digits that a line of source code asks of a number, as in `{:.2}`.
fn precision(line: &str) -> Option<&str> {
    line.split('{').skip(1).find_map(|part| {
        let (spec, _) = part.split_once('}')?;
        let (_, format) = spec.split_once(':').filter(|(name, _)| !name.contains([' ', '"', '(']))?;
        let (_, digits) = format.split_once('.')?;
        let is_one = digits.chars().all(|letter| letter.is_alphanumeric() || "_$*".contains(letter));
        let is_length = |letter: char| letter.is_ascii_digit() || letter == '*';
        (is_one && (digits.starts_with(is_length) || digits.ends_with('$'))).then_some(format)
    })
}

#[test]
fn digits_asked_of_a_number_are_found() {
    assert_eq!(precision(r#"format!("{:.2} of {name}", share)"#), Some(".2"));
    assert_eq!(precision(r#"format!("{share:+.places$}")"#), Some("+.places$"));
    assert_eq!(precision(r#"format!("{name:room$} {}", places { at: 1.0 })"#), None);
}

#[test]
fn one_place_decides_how_many_digits_a_number_has() {
    let files = crate::sources::roots().into_iter().flat_map(|root| crate::sources::texts(&root));
    for (path, text) in files.filter(|(path, _)| !FORMATTING.iter().any(|place| path.ends_with(place))) {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            assert_eq!(precision(line), None, "{}: {line}: `quantities` writes numbers", path.display());
        }
    }
}

//! The figures of the published reports: each is drawn again from what its method has found, with its numbers, or has the
//! reason why it is not.

use fathom::record::{Run, TrialOutcome};
use fathom::replicate::ReplicationReport;
use fathom::replicate::record::{Header, MethodLine, Replication, SCHEMA_VERSION};
use fathom::replicate::{Drawn, Report, Series, reports};
use fathom::report::{self, Form, Style};
use fathom::results::Results;

fn report(id: &str) -> &'static Report {
    fathom::replicate::find(id).expect("a report")
}

/// What a report becomes in a form, when its methods have found this.
fn rendered(id: &str, methods: Vec<(&str, Series)>, form: Form) -> String {
    rendered_only(id, &[], methods, form)
}

/// The same of a replication for which these methods alone were asked.
fn rendered_only(id: &str, only: &[&str], methods: Vec<(&str, Series)>, form: Form) -> String {
    let header = Header {
        schema: SCHEMA_VERSION,
        tool: crate::described::header(vec![]).tool,
        report: id.to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        quick: false,
        thorough: false,
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        run: "run.jsonl".to_owned(),
    };
    let measured = |(method, sample): (&str, Series)| MethodLine {
        method: method.to_owned(),
        took_s: 1.0,
        outcome: TrialOutcome::Measured { sample },
    };
    let replication = Replication { header, methods: methods.into_iter().map(measured).collect() };
    let run = Run::begun(crate::described::header(vec![]));
    let results = Results::of(&run);
    let subject = ReplicationReport::of(report(id), &replication, &results, &[]);
    report::render(&subject, form, Style { colour: false, width: 100 })
}

/// Two orders over four sizes.
fn swept() -> Series {
    let sizes = [1.0, 2.0, 4.0, 8.0].map(|mebibytes| mebibytes * 1024.0 * 1024.0);
    let add = |series: Series, size: f64| {
        let ns = size / 1000.0;
        series.and("sequential", size, vec![ns, ns + 2.0]).and("random", size, vec![8.0 * ns, 8.0 * ns + 2.0])
    };
    sizes.into_iter().fold(Series::default(), add)
}

#[test]
fn every_figure_of_measurements_has_a_method_of_its_report_or_a_reason() {
    let numbered = |id| report(id).figures.iter().map(|picture| picture.number).collect::<Vec<u8>>();
    assert_eq!(numbered("000"), [1, 2, 3, 4, 5]);
    assert_eq!(numbered("001"), [1, 2, 3, 4, 5, 6]);
    assert_eq!((numbered("002").len(), numbered("003").len()), (5, 17));
    for report in reports() {
        for picture in report.figures {
            match picture.drawn {
                Drawn::By { method, .. } => {
                    let known = report.methods().iter().any(|known| known.name == method);
                    assert!(known, "report {} has no method `{method}`", report.id);
                }
                Drawn::Not(reason) => assert!(reason.len() > 20, "{}: {reason}", picture.shows),
            }
        }
    }
}

#[test]
fn of_methods_that_were_asked_for_nothing_else_is_shown_or_measured() {
    fathom::experiments::register();
    let contention = report("000").methods_with(&["Contention".to_owned()]).unwrap();
    assert_eq!(contention, ["contention"]);
    assert!(report("000").methods_with(&["TCP".to_owned()]).unwrap().len() > 2, "a word may name several");
    assert_eq!(report("000").methods_with(&["no such".to_owned()]), Err("no such"));
    assert_eq!(report("000").methods_with(&[]).unwrap(), [""; 0]);
    let machine = crate::described::machine();
    let (all, of_it) = (report("000").points(&machine, &[]), report("000").points(&machine, &contention));
    assert!(!of_it.is_empty() && of_it.len() < all.len(), "{of_it:?} of {}", all.len());
    assert!(of_it.iter().all(|(name, _)| *name == "filesystem/contention"), "{of_it:?}");
    let alone = rendered_only("000", &["contention"], vec![("contention", swept())], Form::Text);
    assert!(alone.contains("of the methods that were asked for (contention)"), "{alone}");
    for other in ["procedure call", "not reached", "Not drawn here", "ICMP"] {
        assert!(!alone.contains(other), "{other}: {alone}");
    }
    let all = rendered("000", vec![("contention", swept())], Form::Text);
    assert!(all.contains("procedure call") && !all.contains("asked for"), "{all}");
}

#[test]
fn a_report_of_a_page_is_replicated_on_a_page() {
    let whole = rendered("000", vec![], Form::Markdown);
    let page = rendered("004", vec![], Form::Markdown);
    let headings = |text: &str| text.lines().filter(|line| line.starts_with("## ")).count();
    // With that of the contents.
    assert!(headings(&page) == 3 && headings(&whole) > 4, "{page}");
    assert!(page.contains("`fathom replicate 000`"), "{page}");
    // Rows, notes and references beside the few lines of the summary.
    assert!(page.lines().filter(|line| !line.trim().is_empty()).count() < 110, "{}", page.lines().count());
}

#[test]
fn a_sweep_is_drawn_with_its_number_its_intervals_and_its_table() {
    let html = rendered("001", vec![("file read", swept())], Form::Html);
    let of_it = "Figure 4 (time of a block, sequential and random, against file size, local) of the report. Mean time by size of \
                 the file. The largest factor, not significantly larger than that of one other, is that of random: from ";
    assert!(html.contains(of_it) && html.contains(" Bars are 95 % intervals"), "{html}");
    assert!(html.contains("file read: time by size of the file"));
    assert!(html.contains("sequential size of the file 1 MiB: 1"), "marks are told in words");
    assert!(html.contains("The numbers: 8 settings"));
    let text = rendered("001", vec![("file read", swept())], Form::Markdown);
    assert!(text.contains("the method was not reached"), "{text}");
    let remote = rendered("001", vec![("remote file read", swept())], Form::Markdown);
    assert!(remote.contains("Figure 5 (time of a block, sequential and random, against file size, remote)"));
}

#[test]
fn single_runs_are_told_and_which_of_them_was_left_out() {
    let runs = |values: Vec<f64>| {
        rendered("003", vec![("process creation", Series::of(values))], Form::Html).replace('\u{a0}', " ")
    };
    let ten = runs(vec![301e3, 302e3, 303e3, 304e3, 305e3, 306e3, 990e3, 307e3, 308e3, 309e3]);
    let each = "301, 302, 303, 304, 305, 306, 990, 307, 308, 309 µs; trial 7 was left out of the mean";
    assert!(ten.contains(each), "{ten}");
    assert!(!runs(vec![1e5; 30]).contains("Trials in order of time"), "thirty are no table");
}

#[test]
fn the_distribution_of_trials_is_drawn_where_they_are_enough() {
    let trials = |number: u32| (0..number).map(|trial| 100.0 + f64::from(trial)).collect::<Vec<f64>>();
    let drawn = |number: u32| {
        let series = Series::default().and("sequential", 1.0, trials(number / 2)).and(
            "sequential",
            2.0,
            trials(number / 2),
        );
        rendered("003", vec![("remote file read", series)], Form::Html)
    };
    let share = "the share of all of them at or below a value";
    assert!(drawn(100).contains(share) && !drawn(10).contains(share));
    assert!(drawn(10).contains("too few settings or trials were measured"));
}

#[test]
fn single_settings_are_no_sweep() {
    let single = Series::default().and("sequential", 4096.0, vec![1.0, 2.0]);
    assert!(!rendered("001", vec![("file read", single)], Form::Html).contains(
        "Figure 4 (time of a block, sequential and random, against file size, local) of the report"
    ));
}

#[test]
fn json_has_every_setting_of_every_sweep() {
    let json = rendered("001", vec![("file read", swept())], Form::Json);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let sweeps = document["sweeps"].as_array().unwrap();
    assert_eq!(sweeps.len(), 8);
    let first = &sweeps[0];
    assert_eq!(
        (first["method"].as_str(), first["variant"].as_str()),
        (Some("file read"), Some("sequential"))
    );
    let number = |name: &str| first[name].as_f64().unwrap();
    assert!((number("mean") - 1049.576).abs() < 1e-9 && (number("maximum") - 1050.576).abs() < 1e-9);
    assert!(number("low") < number("minimum") && number("high") > number("maximum"));
}

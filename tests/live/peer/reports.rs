//! What reports say of a peer: a virtual one is called so wherever a point or a sentence names it.

use crate::tier::{Outcome, Test, beside};
use clap::ValueEnum;
use fathom::experiment::{PEER, Parameter, Point};
use fathom::record::{Peer, PeerKind, PlannedPoint, Run, Trial, TrialOutcome};
use fathom::report::{Facts, Form, RunReport, Style, render};
use fathom::results::Results;
use fathom::sampling::{Observations, Sample};

pub const TESTS: &[Test] = &beside![
    a_virtual_peer_is_called_so_in_every_form_and_at_every_point,
    a_real_peer_is_shown_with_its_machine_and_never_called_virtual,
];

const PATH: Parameter = Parameter::named("path", "");

/// A run of one point with a peer.
fn run(kind: PeerKind) -> Run {
    let planned = PlannedPoint { point: Point::new().named(&PATH, PEER), ..crate::described::planned() };
    let mut run = Run::begun(crate::described::header(vec![planned.clone()]));
    let machine = (kind != PeerKind::Virtual).then(crate::described::machine);
    let (wanted, address) = ("lab7".to_owned(), "192.0.2.7".to_owned());
    run.header.peer = Some(Box::new(Peer { wanted, kind, asked_address: None, address, machine }));
    let observations = Observations::Ticks {
        operations: 1,
        each: false,
        overhead_ticks: 0.0,
        beyond_ns: 0.0,
        baseline: vec![],
        operation: vec![100, 101, 102],
    };
    let sample = Sample { observations, ..Sample::default() };
    let trial = |round| Trial {
        outcome: TrialOutcome::Measured { sample: sample.clone() },
        ..crate::described::trial(planned.clone(), round)
    };
    run.trials = (1..=6).map(trial).collect();
    run
}

fn in_form(run: &Run, form: Form) -> String {
    render(&RunReport::of(&Results::of(run)), form, Style { width: 120, colour: false })
}

fn forms(run: &Run) -> Vec<(Form, String)> {
    let full = RunReport::of(&Results::of(run)).in_full(true).text(Style { width: 120, colour: false });
    let forms = Form::value_variants().iter().map(|form| (*form, in_form(run, *form)));
    forms.chain([(Form::Text, full)]).collect()
}

fn a_virtual_peer_is_called_so_in_every_form_and_at_every_point() -> Outcome {
    let run = run(PeerKind::Virtual);
    let points: Vec<String> = Results::of(&run).points.iter().map(|point| point.point.to_string()).collect();
    assert!(points.iter().all(|point| point.contains("virtual peer")), "{points:?}");
    for (form, text) in forms(&run) {
        // The picture has operations of this machine alone.
        let is_absent = form == Form::Picture && !text.contains("peer");
        assert!(is_absent || text.contains("virtual peer"), "{form:?}: {text}");
    }
    let page = in_form(&run, Form::Html);
    assert!(page.contains("a virtual peer: a network namespace of the measured machine"));
    Ok(())
}

fn a_real_peer_is_shown_with_its_machine_and_never_called_virtual() -> Outcome {
    let run = run(PeerKind::Ssh);
    for (form, text) in forms(&run) {
        // Rows of figures alone have no place for a machine.
        let is_told = text.contains("lab7") && text.contains("192.0.2.7");
        assert!(is_told || matches!(form, Form::Csv | Form::Picture), "{form:?}: {text}");
        assert!(!text.contains("virtual peer"), "{form:?}: {text}");
    }
    assert!(in_form(&run, Form::Html).contains("Peer: Processor"));
    Ok(())
}

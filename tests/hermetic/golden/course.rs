//! The sample solution of the course: what this program writes of a committed run.

use super::compared;
use fathom::report::{Form, RunReport, Style, render};
use fathom::results::Results;

/// The experiments of the sample, as in `docs/course.md`.
const EXPERIMENTS: [&str; 4] =
    ["cpu/system_call", "cpu/process_creation", "memory/load_latency", "filesystem/read"];

#[test]
fn the_sample_solution_of_the_course_is_what_is_written_today() {
    fathom::experiments::register();
    let run = crate::printed_runs::read("zen3-shared-quick-1.jsonl.gz");
    let results = Results::of(&run).only(|name| EXPERIMENTS.contains(&name));
    let sample = render(&RunReport::of(&results), Form::Markdown, Style { width: 120, colour: false });
    for part in ["Method.", "Prediction.", "Analysis.", "Every operation on a page", "Conclusion"] {
        assert!(sample.contains(part), "{part}");
    }
    compared("docs/course-sample.md", &sample);
}

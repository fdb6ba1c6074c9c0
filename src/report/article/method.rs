//! How it was measured, in short.

use super::works::cited;
use crate::quantity::Unit;
use crate::report::paper::{Key, Section, Text};
use crate::report::{figure, quantities, run};
use crate::results::Results;

/// The second section.
pub(super) fn of(found: &Results) -> Section {
    let settings = &found.run.header.settings;
    let trial = quantities::value(Unit::Nanoseconds, settings.trial_ns as f64);
    Section::new(Key::of("method"), "Method")
        .say(run::clock(&found.run.header.clock))
        .say(format!(
            "Every trial is a fresh process that observes for {trial} (in the first round; later ones by what is left of \
             the time), with random environment, stack and buffer offsets. Points are visited in rounds: the first in the \
             order of this report, because predictions stand on what was found before, the others in an order shuffled \
             anew each time. Small operations are timed in batches, large ones one by one; where an operation has a \
             baseline, the same work without it runs interleaved in the same trial and is subtracted."
        ))
        .say(estimate())
        .say(figure::KEY)
        .say(
            Text::plain(
                "What each operation should cost was written to the run file before it was measured: base hardware plus \
                 software overhead, term by term. How near that came is in ",
            )
            .and(Text::to(&Key::of(if found.accuracy.total.is_some() { "accuracy" } else { "summary" })))
            .and(format!(
                ". All randomness comes from the seed {}; the same run file gives this report byte for byte.",
                settings.seed
            )),
        )
}

fn estimate() -> Text {
    cited(
        "The figure of a point is the median over its trials, of which there must be six for a 95 % interval: it holds every \
         value for which Student's test over trials does not reject that half of a trial lies below it (after Woodruff \
         1952), and is never narrower than the clock allows. Of a difference the intervals of both medians enter (Zou 2007). \
         “Best observed” is the smallest observation and never that of a difference. No observation is removed: outliers \
         (beyond the fences of Tukey 1977) and more than one mode are noted. Percentiles appear where the sample is large \
         enough for them. A difference that its interval does not tell from zero is “below resolution”, with its upper \
         limit. In figures, lines join points only where what lies between them exists (Hoefler and Belli 2015).",
    )
}

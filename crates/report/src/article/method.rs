//! The method of the measurements, in short.

use super::works::cited;
use crate::paper::{Key, Section, Text};
use crate::{figure, run};
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::Results;

/// The second section.
pub(super) fn of(found: &Results) -> Section {
    let settings = &found.run.header.settings;
    let trial = quantities::value(Unit::Nanoseconds, settings.trial_ns as f64);
    Section::new(Key::of("method"), "Method")
        .say(run::clock(&found.run.header.clock))
        .say(format!(
            "Every trial is a fresh process that observes for {trial} in the first round (in later rounds, for as \
             long as the remaining time allows), with random environment size, stack offset and buffer offset. Points \
             are visited in rounds: the first in the order of this report, because predictions use earlier results, \
             the others in a newly shuffled order. Small operations are timed in batches, large ones one by one; \
             where an operation has a baseline, the same work without the operation runs interleaved in the same \
             trial and is subtracted."
        ))
        .say(estimate())
        .say(figure::KEY)
        .say(
            Text::plain(
                "Each operation's predicted cost was written to the run file before it was measured: base hardware \
                 plus software overhead, term by term. The accuracy of the predictions is in ",
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
        "The figure of a point is the median over its trials, of which there must be six for a 95 % interval: it \
         holds every value for which Student's test over trials does not reject that half of a trial lies below it \
         (after Woodruff 1952), and is never narrower than the clock allows. The interval of a difference combines \
         the intervals of both medians (Zou 2007). “Best observed” is the smallest observation and never that of a \
         difference. No observation is removed: outliers (beyond the fences of Tukey 1977) and more than one mode are \
         noted. Percentiles appear where the sample is large enough for them. A difference whose interval includes \
         zero is “below resolution”, and its upper limit is given. In figures, lines join points only where what lies \
         between them exists (Hoefler and Belli 2015).",
    )
}

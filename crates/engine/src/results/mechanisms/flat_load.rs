//! Loaded latency that rises at once and then stays level, which is not queueing: the mean wait of a queue is a convex
//! function of its load that begins at zero (Pollaczek and Khinchine: proportional to ρ ÷ (1 − ρ)), so a fraction of the
//! traffic causes at most that fraction of the wait.

use super::{Conclusion, Premises, Rule};
use fathom_core::experiment::At::{self, Any, Name};
use fathom_core::experiment::{Dimension, Found, Placement, Selector, statement};
use fathom_core::sorting;
use fathom_core::statistics::Measured;

pub(super) const RULE: Rule = Rule {
    name: "flat_load",
    condition: "the lightest background traffic already adds more latency than a queue with that share of the load \
                would",
    judge,
    points: &[IDLE, LOADED, DRAWN],
};

const IDLE: Selector = loaded(&setting("latency", "nothing"));
const LOADED: Selector = loaded(&setting("latency", "read"));
const DRAWN: Selector = loaded(&setting("drawn", "read"));

const fn loaded(settings: &'static [(&'static str, At)]) -> Selector {
    Selector::only("memory/loaded_latency", settings).at(Placement::Spread)
}

const fn setting(figure: &'static str, load: &'static str) -> [(&'static str, At); 6] {
    [
        ("figure", Name(figure)),
        ("level", Name("memory")),
        ("load", Name(load)),
        ("delay", Any),
        ("load_threads", Any),
        ("size", Any),
    ]
}

fn judge(premises: &Premises) -> Option<Conclusion> {
    let idle = IDLE.found(premises.known)?;
    let drawn = DRAWN.along("delay", premises.known);
    let loaded = LOADED.along("delay", premises.known);
    let settings = loaded.iter().filter_map(|(delay, load)| {
        let (_, drawn) = drawn.iter().find(|(other, _)| other == delay)?;
        Some((*drawn, load.beyond(idle)?))
    });
    let mut settings: Vec<(Found, Found)> = settings.collect();
    sorting::by_number(&mut settings, |(drawn, _)| drawn.value);
    let [(least, at_once), _, .., (most, in_all)] = &settings[..] else { return None };
    let of_traffic = least.share_of(*most);
    let by_queue = in_all.scaled(of_traffic.value.min(1.0));
    let beyond = at_once.minus(Found::measured(
        Measured { value: by_queue.value.max(0.0), ..by_queue.measured },
        by_queue.dimension,
    ));
    if !beyond.is_resolved() {
        return None;
    }
    let headline = statement!(
        "The added latency of a load beside background readers is not all queueing: beside {least} it takes \
         {at_once} longer than alone, and beside {most} {in_all}.",
        least = least.named("lightest traffic"),
        at_once = at_once.named("longer beside the lightest traffic"),
        most = most.named("most traffic"),
        in_all = in_all.named("longer beside the most traffic")
    );
    let because = statement!(
        "Queueing delay grows at least in proportion to the load: {of_traffic} of the traffic would add at \
         most {queue} of it. The other {beyond} appears as soon as another CPU reads and does not grow with \
         its traffic. Possible causes are a frequency that all cores share, coherence checks in the \
         last-level cache, or DRAM row conflicts; these figures do not distinguish them.",
        of_traffic = of_traffic.named("lightest over most traffic"),
        queue = Found { dimension: Dimension::Of(fathom_core::quantity::Unit::Nanoseconds), ..by_queue }
            .named("a queue's part"),
        beyond = beyond.named("beyond a queue")
    );
    Some(Conclusion::of(headline, because))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::planted::{self, Plant as _};
    use fathom_core::experiment::Known;
    use serde_json::json;

    /// A load of 100 ns alone, and these latencies next to traffic of one, two, four and eight gigabytes per second.
    fn conclusion(loaded: &[f64]) -> Option<Conclusion> {
        let machine = planted::machine();
        let mut known = Known::new(&machine, None);
        let free = |delay: u64, threads: u64| {
            [("delay", json!(delay)), ("load_threads", json!(threads)), ("size", json!(1 << 30))]
        };
        IDLE.plant_at(&mut known, &free(0, 0), 100.0);
        for (step, ns) in loaded.iter().enumerate() {
            let delay = [4096, 1024, 256, 0][step];
            LOADED.plant_at(&mut known, &free(delay, 1), *ns);
            DRAWN.plant_at(&mut known, &free(delay, 1), 1e9 * f64::from(1 << step));
        }
        judge(&Premises { known: &known, points: &[] })
    }

    #[test]
    fn a_rise_at_once_that_stays_is_no_queue() {
        let conclusion = conclusion(&[140.0, 140.0, 140.0, 140.0]).expect("a mechanism");
        assert!(conclusion.headline.plain().contains("beside {1000000000} it takes {40} longer than alone"));
        let because = conclusion.because.plain();
        assert!(
            because.contains("{0.125} of the traffic would add at most {5} of it. The other {35}"),
            "{because}"
        );
    }

    #[test]
    fn a_rise_with_the_traffic_may_be_one() {
        assert_eq!(
            conclusion(&[105.0, 110.0, 120.0, 140.0]).map(|conclusion| conclusion.headline.plain()),
            None
        );
        assert_eq!(
            conclusion(&[100.5, 101.0, 110.0, 400.0]).map(|conclusion| conclusion.headline.plain()),
            None
        );
    }

    #[test]
    fn no_rise_and_two_settings_say_nothing() {
        assert!(conclusion(&[100.0, 100.0, 100.0, 100.0]).is_none());
        assert!(conclusion(&[140.0, 140.0]).is_none());
    }
}

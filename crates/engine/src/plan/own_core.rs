//! Short work waits for the run's own core while that is alone for most of the time, and only else runs on whichever core of the kind is
//! alone: CPUs of one kind need not cost the same. On a guest whose additions took 1.000 times as long on one of its two CPUs as on the
//! other, its calls of the kernel took 1.022 times as long, run after run, and a figure of trials on both was neither.

/// The longest time between two looks that counts as the state of the first, seconds: a long trial hides changes.
const LONGEST_STATE_S: f64 = 1.0;

/// The time in which the run's own core was alone and shared so far.
#[derive(Debug, Clone, Default)]
pub struct OwnCore {
    /// The last look: seconds from the start, and whether the core was alone.
    last: Option<(f64, bool)>,
    alone_s: f64,
    shared_s: f64,
}

impl OwnCore {
    /// Takes in a look.
    pub fn saw(&mut self, at_s: f64, is_alone: bool) {
        if let Some((before_s, was_alone)) = self.last.replace((at_s, is_alone)) {
            let passed = (at_s - before_s).clamp(0.0, LONGEST_STATE_S);
            *(if was_alone { &mut self.alone_s } else { &mut self.shared_s }) += passed;
        }
    }

    /// Whether it was alone for at least half of the time.
    pub fn suffices(&self) -> bool {
        self.alone_s >= self.shared_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The core after looks every 10 ms, alone in so many of ten.
    fn alone_in(tenths: usize) -> OwnCore {
        let mut own = OwnCore::default();
        (0..1000).for_each(|look| own.saw(0.01 * look as f64, look % 10 < tenths));
        own
    }

    #[test]
    fn a_core_suffices_while_it_is_alone_for_half_of_the_time() {
        assert!(OwnCore::default().suffices(), "until it was looked at");
        assert!(alone_in(10).suffices() && alone_in(6).suffices());
        assert!(!alone_in(4).suffices() && !alone_in(0).suffices());
    }

    #[test]
    fn a_state_counts_for_as_long_as_it_lasts_and_not_by_the_looks_at_it() {
        let mut own = OwnCore::default();
        for second in 0..10 {
            let at_s = f64::from(second);
            own.saw(at_s, true);
            // Looks come one after the other while the run waits for the core.
            (0..100).for_each(|look| own.saw(at_s + 0.8 + f64::from(look) / 1000.0, false));
        }
        assert!(own.suffices(), "{own:?}");
        own.saw(500.0, true);
        assert!(
            own.suffices(),
            "one look that is followed by none for minutes is no state of minutes: {own:?}"
        );
    }
}

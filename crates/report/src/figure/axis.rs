//! From values to positions on the page, and the ticks of an axis.

use fathom_core::experiment::Scale;
use fathom_core::quantities::Measure;
use fathom_core::quantity::Unit;

/// Values further apart than this factor have a logarithmic axis.
const WIDE: f64 = 20.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Spacing {
    Linear,
    Decades,
    /// Powers of two; zero is placed one step below this smallest value.
    Doublings(f64),
}

/// An axis of values on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    spread: Spacing,
    /// The ends on the scale (exponents if it is logarithmic).
    low: f64,
    high: f64,
    /// Their positions in pixels.
    from: f64,
    to: f64,
    /// Ticks of a linear axis are decimal multiples of this: 1, or the binary prefix of sizes.
    grain: f64,
}

/// Distributions with a greater ratio between their ends have a logarithmic axis.
const LONG_TAIL: f64 = 5.0;

impl Axis {
    /// For measured values: logarithmic if they are all positive and far apart, otherwise linear from zero.
    pub(super) fn of_values(values: &[f64], unit: Unit, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        if low > 0.0 && high > low * WIDE {
            return Axis::logarithmic((low, high), unit, from, to);
        }
        Axis::from_zero((low, high), unit, from, to)
    }

    /// For the same values with the other scale, if that is useful.
    pub(super) fn of_values_otherwise(values: &[f64], unit: Unit, from: f64, to: f64) -> Option<Self> {
        let (low, high) = ends(values);
        if low <= 0.0 || high < low * 2.0 {
            return None;
        }
        Some(if high > low * WIDE {
            Axis::from_zero((low, high), unit, from, to)
        } else {
            Axis::logarithmic((low, high), unit, from, to)
        })
    }

    fn from_zero((low, high): (f64, f64), unit: Unit, from: f64, to: f64) -> Self {
        let grain = grain(unit, high);
        let room = room(high - low.min(0.0), grain) * 0.06;
        Axis { spread: Spacing::Linear, low: low.min(0.0), high: high + room, from, to, grain }
    }

    /// `linear` or `logarithmic`.
    pub(super) fn spread(&self) -> &'static str {
        if self.spread == Spacing::Linear { "linear" } else { "logarithmic" }
    }

    /// For the shape of a distribution: from the least to the greatest value, without zero, which would compress it.
    pub(super) fn tight(values: &[f64], unit: Unit, from: f64, to: f64) -> Self {
        let (low, high) = ends(values);
        if low > 0.0 && high > low * LONG_TAIL {
            return Axis::logarithmic((low, high), unit, from, to);
        }
        let room = room(high - low, high.abs() * 0.1) * 0.03;
        Axis {
            spread: Spacing::Linear,
            low: low - room,
            high: high + room,
            from,
            to,
            grain: grain(unit, high),
        }
    }

    /// Decades; for sizes in bytes powers of two.
    fn logarithmic((low, high): (f64, f64), unit: Unit, from: f64, to: f64) -> Self {
        let binary = unit == Unit::Bytes;
        let exponent = |value: f64| if binary { value.log2() } else { value.log10() };
        let spread = if binary { Spacing::Doublings(low) } else { Spacing::Decades };
        let room = (exponent(high) - exponent(low)) * 0.04;
        Axis { spread, low: exponent(low) - room, high: exponent(high) + room, from, to, grain: 1.0 }
    }

    /// A linear axis from one number to another.
    pub(super) fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        Axis { spread: Spacing::Linear, low, high: high.max(low + 1.0), from, to, grain: 1.0 }
    }

    /// For settings of a parameter: logarithmic if they are far apart, to base ten if they are powers of ten, else to base two; and to
    /// base two if they are powers of two. Otherwise linear, with ticks at whole multiples of the binary prefix where they are sizes.
    pub(super) fn of_settings(values: &[f64], scale: Scale, from: f64, to: f64) -> Self {
        let positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
        let (low, high) = ends(&positive);
        let doublings = positive.len() > 3 && positive.iter().all(|value| value.log2().fract() == 0.0);
        if positive.is_empty() || (!doublings && high <= low * WIDE) {
            let (low, high) = ends(values);
            let room = (high - low).max(1.0) * 0.04;
            return Axis {
                spread: Spacing::Linear,
                low: low - room,
                high: high + room,
                from,
                to,
                grain: if scale == Scale::Bytes { grain(Unit::Bytes, high) } else { 1.0 },
            };
        }
        let zero = values.contains(&0.0);
        if !zero && positive.iter().all(|value| value.log10().fract().abs() < 1e-9) {
            let room = (high.log10() - low.log10()) * 0.04;
            let (low, high) = (low.log10() - room, high.log10() + room);
            return Axis { spread: Spacing::Decades, low, high, from, to, grain: 1.0 };
        }
        let first = low.log2() - if zero { 1.0 } else { 0.0 };
        let room = (high.log2() - first).max(1.0) * 0.03;
        Axis {
            spread: Spacing::Doublings(low),
            low: first - room,
            high: high.log2() + room,
            from,
            to,
            grain: 1.0,
        }
    }

    /// The pixel of a value; values beyond the ends are placed at the ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let exact = match self.spread {
            Spacing::Linear => value,
            Spacing::Decades if value > 0.0 => value.log10(),
            Spacing::Doublings(_) if value > 0.0 => value.log2(),
            Spacing::Decades => self.low,
            Spacing::Doublings(smallest) => smallest.log2() - 1.0,
        };
        let share = ((exact - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.from + share * (self.to - self.from)
    }

    /// Values for drawing a line, evenly spaced on the axis between two settings.
    pub(super) fn steps(&self, low: f64, high: f64) -> Vec<f64> {
        const STEPS: usize = 40;
        let logarithmic = self.spread != Spacing::Linear && low > 0.0;
        let at = |share: f64| {
            if logarithmic { low * (high / low).powf(share) } else { low + (high - low) * share }
        };
        (0..=STEPS).map(|step| at(step as f64 / STEPS as f64)).collect()
    }

    /// Whether the axis can show a value: a logarithmic one cannot show zero and below.
    pub(super) fn shows(&self, value: f64) -> bool {
        let exact = match self.spread {
            Spacing::Linear => value,
            _ if value <= 0.0 => return false,
            Spacing::Decades => value.log10(),
            Spacing::Doublings(_) => value.log2(),
        };
        (self.low..=self.high).contains(&exact)
    }

    /// The tick values, about `most` at the most.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        match self.spread {
            Spacing::Linear => self.even(most),
            Spacing::Decades => self.decades(most),
            Spacing::Doublings(smallest) => self.doublings(smallest, most),
        }
    }

    fn even(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most as f64;
        let power = 10_f64.powf((rough / self.grain).log10().floor()) * self.grain;
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|first| first * power).find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|index| index as f64 * step).collect()
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        let every = ((self.high - self.low) / most as f64).ceil().max(1.0) as i32;
        let within: &[f64] = match self.high - self.low {
            span if span < 1.0 && most > 6 => &[1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0],
            span if span * 3.0 <= most as f64 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let powers = (self.low.floor() as i32..=self.high.ceil() as i32).filter(|power| power % every == 0);
        let values = powers.flat_map(|power| within.iter().map(move |first| first * 10_f64.powi(power)));
        values.filter(|value| (self.low..=self.high).contains(&value.log10())).collect()
    }

    fn doublings(&self, smallest: f64, most: usize) -> Vec<f64> {
        let (first, last) = (smallest.log2().ceil() as i32, self.high.floor() as i32);
        let every = (usize::try_from(last - first).unwrap_or(0) / most + 1).max(1);
        let zero = (self.low < smallest.log2() - 0.9).then_some(0.0);
        zero.into_iter().chain((first..=last).step_by(every).map(|power| 2_f64.powi(power))).collect()
    }
}

/// The span of values; if they are all equal, the alternative that makes an axis possible.
fn room(span: f64, otherwise: f64) -> f64 {
    match (span > 0.0, otherwise > 0.0) {
        (true, _) => span,
        (false, true) => otherwise,
        (false, false) => 1.0,
    }
}

/// The binary prefix for sizes of this order; 1 for everything else.
fn grain(unit: Unit, value: f64) -> f64 {
    if unit == Unit::Bytes { Measure::of(unit, value).size } else { 1.0 }
}

/// The least and the greatest finite value.
fn ends(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: Unit = Unit::Nanoseconds;

    #[test]
    fn powers_of_ten_stand_evenly_with_ticks_of_their_own() {
        let axis = Axis::of_settings(&[1e4, 1e5, 1e6], Scale::Nanoseconds, 0.0, 100.0);
        let middle = axis.place(1e5);
        assert!(
            (middle - 50.0).abs() < 1e-9 && axis.ticks(10).contains(&1e6),
            "{middle} {:?}",
            axis.ticks(10)
        );
    }

    #[test]
    fn powers_of_two_stand_evenly_and_zero_one_step_before_them() {
        let axis = Axis::of_settings(&[0.0, 1.0, 2.0, 4.0, 8.0], Scale::Count, 0.0, 100.0);
        let places: Vec<f64> = axis.ticks(9).into_iter().map(|tick| axis.place(tick)).collect();
        assert_eq!(axis.ticks(9), [0.0, 1.0, 2.0, 4.0, 8.0]);
        let steps: Vec<f64> = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-9), "{steps:?}");
    }

    #[test]
    fn values_far_apart_stand_on_decades_and_others_begin_at_zero() {
        assert_eq!(Axis::of_values(&[2.0, 3000.0], NS, 0.0, 1.0).ticks(6), [10.0, 100.0, 1000.0]);
        assert_eq!(Axis::of_values(&[2.0, 9.0], NS, 0.0, 1.0).ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert!(Axis::of_values(&[-1.0, 9.0], NS, 0.0, 1.0).place(-1.0) < 1e-9);
    }

    #[test]
    fn the_other_way_is_offered_where_it_shows_something() {
        let other =
            |values: &[f64]| Axis::of_values_otherwise(values, NS, 0.0, 1.0).map(|axis| axis.spread());
        assert_eq!(other(&[2.0, 9.0]), Some("logarithmic"));
        assert_eq!(other(&[2.0, 9000.0]), Some("linear"));
        assert_eq!(other(&[2.0, 3.0]), None);
        assert_eq!(other(&[0.0, 9.0]), None);
    }

    #[test]
    fn sizes_have_binary_steps() {
        let mib = 1_048_576.0;
        let axis = Axis::of_values(&[10.0 * mib, 48.0 * mib], Unit::Bytes, 0.0, 1.0);
        assert_eq!(axis.ticks(6), [0.0, 10.0 * mib, 20.0 * mib, 30.0 * mib, 40.0 * mib, 50.0 * mib]);
        let far = Axis::of_values(&[mib, 1024.0 * mib], Unit::Bytes, 0.0, 1.0);
        assert!(far.ticks(6).iter().all(|tick| tick.log2().fract() == 0.0));
    }

    #[test]
    fn settings_that_are_sizes_have_binary_steps() {
        let sizes = [256.0, 480.0, 768.0].map(|mib| mib * 1_048_576.0);
        let ticks = Axis::of_settings(&sizes, Scale::Bytes, 0.0, 1.0).ticks(8);
        assert!(ticks.len() > 3 && ticks.iter().all(|tick| tick % 1_048_576.0 == 0.0), "{ticks:?}");
    }

    #[test]
    fn nothing_at_all_does_not_break_an_axis() {
        for values in [&[] as &[f64], &[0.0], &[5.0, 5.0]] {
            let axis = Axis::of_values(values, NS, 10.0, 20.0);
            assert!((10.0..=20.0).contains(&axis.place(5.0)));
            assert!(axis.ticks(5).len() < 30);
            assert!(Axis::of_settings(values, Scale::Count, 10.0, 20.0).ticks(5).len() < 30);
        }
    }
}

//! Rounding and units: the only place where a number becomes text (R-FIX-06, R-FIX-45, R-FIX-68).
//!
//! A value is printed to the first digit that its interval affects and no further; without an interval to three digits.
//! Costs are in ns, µs, ms or s, rates in decimal multiples of bytes per second, sizes in binary multiples of a byte. Every
//! number is printed with its unit, except in a column whose head contains the [`Measure`]'s symbol.

use crate::quantity::Unit;
use crate::statistics::Estimate;

/// Digits of a number without an interval.
const DIGITS: i32 = 3;

/// The most digits printed, however narrow the interval.
const MOST_DIGITS: i32 = 6;

/// Values of a column share a unit unless they are further apart than this factor.
const WIDEST_COLUMN: f64 = 1e4;

/// A unit with its prefix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// Its size in the plain unit.
    pub size: f64,
    /// Its symbol.
    pub symbol: &'static str,
}

const TIMES: [Measure; 4] = [measure(1.0, "ns"), measure(1e3, "µs"), measure(1e6, "ms"), measure(1e9, "s")];
const RATES: [Measure; 5] = [
    measure(1.0, "B/s"),
    measure(1e3, "kB/s"),
    measure(1e6, "MB/s"),
    measure(1e9, "GB/s"),
    measure(1e12, "TB/s"),
];
const SIZES: [Measure; 6] = [
    measure(1.0, "B"),
    measure(1024.0, "KiB"),
    measure(1_048_576.0, "MiB"),
    measure(1_073_741_824.0, "GiB"),
    measure(1_099_511_627_776.0, "TiB"),
    measure(1_125_899_906_842_624.0, "PiB"),
];
const SHARES: [Measure; 2] = [measure(1.0, "ppm"), measure(1e4, "%")];

const fn measure(size: f64, symbol: &'static str) -> Measure {
    Measure { size, symbol }
}

impl Measure {
    /// The measure in which this value is at least 1 and below the next prefix.
    pub fn of(unit: Unit, value: f64) -> Self {
        let ladder = ladder(unit);
        // A value that rounds up to the next prefix is written with that: 1 µs, not 1000 ns.
        let reaches = |step: &&Measure| value.abs() >= step.size * 0.9995;
        ladder.iter().rev().find(reaches).copied().unwrap_or(ladder[0])
    }

    /// One measure for all values of a column; `None` if they are too far apart to be read in one, or there are none.
    pub fn shared(unit: Unit, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sizes = values.into_iter().map(f64::abs).filter(|size| size.is_finite() && *size > 0.0);
        let (low, high) =
            sizes.fold((f64::INFINITY, 0.0_f64), |(low, high), size| (low.min(size), high.max(size)));
        if high == 0.0 || high > low * WIDEST_COLUMN {
            return None;
        }
        // The geometric mean, so that neither end has many zeroes.
        Some(Measure::of(unit, (low * high).sqrt()))
    }

    /// The number alone, for a column whose head contains the symbol, to the digit of `interval`.
    pub fn number(self, value: f64, interval: Option<(f64, f64)>) -> String {
        self.rounded(value, place(value / self.size, interval.map(|(low, high)| (high - low) / self.size)))
    }

    /// A deviation next to its mean: to the same digit, or to one of its own if it would otherwise round to zero.
    pub fn beside(self, deviation: f64, mean: f64, interval: Option<(f64, f64)>) -> String {
        let width = interval.map(|(low, high)| (high - low) / self.size);
        let text = self.rounded(deviation, place(mean / self.size, width));
        let is_nothing = !text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
        if is_nothing { self.number(deviation, None) } else { text }
    }

    /// Both ends of an interval to the same digit: `186.9–187.6`; with a sign in it `−12 to 16`.
    pub fn range(self, value: f64, low: f64, high: f64) -> String {
        let place = place(value / self.size, Some((high - low) / self.size));
        let between = if low < 0.0 { " to " } else { "–" };
        format!("{}{between}{}", self.rounded(low, place), self.rounded(high, place))
    }

    fn rounded(self, value: f64, place: i32) -> String {
        let value = value / self.size;
        if !value.is_finite() {
            return "–".to_owned();
        }
        if value == 0.0 {
            return "0".to_owned();
        }
        let text = if place > 0 {
            let step = 10_f64.powi(place);
            format!("{:.0}", (value / step).round() * step)
        } else {
            format!("{value:.*}", usize::try_from(-place).unwrap_or(0))
        };
        let zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
        if zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "−") }
    }
}

fn ladder(unit: Unit) -> &'static [Measure] {
    match unit {
        Unit::Nanoseconds => &TIMES,
        Unit::BytesPerSecond => &RATES,
        Unit::Bytes => &SIZES,
        Unit::PartsPerMillion => &SHARES,
    }
}

/// The power of ten of the last digit to print: that of the first digit of half the interval.
fn place(value: f64, width: Option<f64>) -> i32 {
    let first = power(value.abs() * 1.0005); // 0.9999 will be written 1.00
    match width {
        // A value that is small against its interval is still distinguished from zero and from the interval's ends.
        Some(width) if width > 0.0 => {
            power(width / 2.0).clamp(first - MOST_DIGITS + 1, first.max(power(width) - 2))
        }
        _ => first - DIGITS + 1,
    }
}

/// The power of ten of the first digit that is not zero.
fn power(size: f64) -> i32 {
    if size > 0.0 && size.is_finite() { size.log10().floor() as i32 } else { 0 }
}

/// A value without an interval: `187 ns`.
pub fn value(unit: Unit, value: f64) -> String {
    let measure = Measure::of(unit, value);
    format!("{} {}", measure.number(value, None), measure.symbol)
}

/// The median to the digit that its interval allows: `187.2 ns`.
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    let measure = Measure::of(unit, estimate.value);
    format!("{} {}", measure.number(estimate.value, ends(estimate)), measure.symbol)
}

/// A value for a page with little room: no more digits than the interval allows, and no more than three.
pub fn rounded(unit: Unit, value: f64, ends: Option<(f64, f64)>) -> String {
    let measure = Measure::of(unit, value);
    let least = place(value / measure.size, None);
    let width = ends.map_or(0.0, |(low, high)| (high - low) / measure.size);
    let place = place(value / measure.size, Some(width)).max(least);
    format!("{} {}", measure.rounded(value, place), measure.symbol)
}

/// The interval alone: `186.9–187.6 ns`; `None` without an interval.
pub fn interval(unit: Unit, estimate: &Estimate) -> Option<String> {
    let (low, high) = ends(estimate)?;
    let measure = Measure::of(unit, estimate.value);
    Some(format!("{} {}", measure.range(estimate.value, low, high), measure.symbol))
}

/// The median with its interval: `187.2 ns, 186.9–187.6`.
pub fn with_interval(unit: Unit, figure: &Estimate) -> String {
    let measure = Measure::of(unit, figure.value);
    match ends(figure) {
        Some((low, high)) => {
            format!("{}, {}", estimate(unit, figure), measure.range(figure.value, low, high))
        }
        None => format!("{} (no interval: fewer than four trials)", estimate(unit, figure)),
    }
}

/// A value chosen for an axis: `0.2 ns`, `50 µs`, without trailing zeroes.
pub fn tick(unit: Unit, value: f64) -> String {
    let measure = Measure::of(unit, value);
    // Twelve digits hide the rounding errors of summed steps.
    let number = format!("{:.*}", 12, value / measure.size);
    let number = number.trim_end_matches('0').trim_end_matches('.').replace('-', "−");
    if value == 0.0 { "0".to_owned() } else { format!("{number} {}", measure.symbol) }
}

/// The ends of an estimate's interval.
pub fn ends(estimate: &Estimate) -> Option<(f64, f64)> {
    estimate.interval.map(|interval| (interval.low, interval.high))
}

/// Half an interval as a share of its value: `±0.2 %`.
pub fn plus_minus(share: f64) -> String {
    format!("±{}", percent(share))
}

/// A share of one: `12 %`, `0.2 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 2))
}

/// A share of one, small or large: `120 ppm`, `1.2 %`.
pub fn share(share: f64) -> String {
    value(Unit::PartsPerMillion, share * 1e6)
}

/// One value over another: `1.3×`, `0.87×`, `210×`.
pub fn factor(factor: f64) -> String {
    if factor == 0.0 {
        return "none".to_owned();
    }
    format!("{}×", significant(factor, 2))
}

/// A count of bytes, exact where binary prefixes make it so (R-FIX-68): `32 KiB`, `1.5 MiB`, `1000 B`.
pub fn size(bytes: u64) -> String {
    let quarter = |step: &Measure| (step.size as u64 / 4).max(1);
    let fits = |step: &&Measure| bytes >= step.size as u64 && bytes.is_multiple_of(quarter(step));
    match SIZES.iter().rev().find(fits) {
        Some(step) if step.size > 1.0 => format!("{} {}", bytes as f64 / step.size, step.symbol),
        _ => format!("{bytes} B"),
    }
}

/// A frequency: `2.596 GHz`.
pub fn frequency(hertz: f64) -> String {
    let (size, symbol) = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")]
        .into_iter()
        .find(|(size, _)| hertz >= *size)
        .unwrap_or((1.0, "Hz"));
    format!("{} {symbol}", significant(hertz / size, 4))
}

/// A duration in minutes and seconds: `42 s`, `5 min 50 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return value(Unit::Nanoseconds, seconds * 1e9);
    }
    let whole = seconds.round() as u64;
    if whole < 120 { format!("{whole} s") } else { format!("{} min {} s", whole / 60, whole % 60) }
}

/// A number without a unit (a count per operation, an exponent), to this number of digits.
pub fn significant(value: f64, digits: i32) -> String {
    const PLAIN: Measure = measure(1.0, "");
    // 9.96 has the first digit of 10 once it is rounded.
    let first = power(value.abs() * (1.0 + 0.5 * 10_f64.powi(-digits)));
    PLAIN.rounded(value, (first - digits + 1).min(0))
}

/// An integer unchanged: `4096`; other numbers to three digits.
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        significant(value, DIGITS)
    }
}

/// A multiplicity in a sum: `2`, `0.5`.
pub fn times(times: f64) -> String {
    ((times * 1000.0).round() / 1000.0).to_string()
}

/// A whole number in groups of three: `12 345` (with a no-break space).
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use proptest::prelude::*;

    fn estimate_of(value: f64, low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high });
        Estimate { value, interval, level: 0.95, min: None, max: None, trials: 9, observations: 900 }
    }

    #[test]
    fn a_deviation_has_the_digits_of_its_mean_and_never_none() {
        let nanoseconds = Measure::of(Unit::Nanoseconds, 12.8);
        assert_eq!(nanoseconds.beside(0.193, 12.8, Some((12.7, 12.9))), "0.2");
        assert_eq!(nanoseconds.beside(3.27, 12.8, Some((8.0, 18.0))), "3");
        assert_eq!(nanoseconds.beside(4.6, 207.0, None), "5");
        assert_eq!(nanoseconds.beside(0.04, 12.8, None), "0.0400");
    }

    #[test]
    fn a_value_stops_at_the_digit_where_its_interval_begins_to_matter() {
        let unit = Unit::Nanoseconds;
        assert_eq!(with_interval(unit, &estimate_of(187.234, 186.91, 187.63)), "187.2 ns, 186.9–187.6");
        assert_eq!(with_interval(unit, &estimate_of(187.234, 180.0, 190.0)), "187 ns, 180–190");
        assert_eq!(with_interval(unit, &estimate_of(187_234.0, 186_000.0, 189_000.0)), "187 µs, 186–189");
        assert_eq!(estimate(unit, &estimate_of(0.258_51, 0.258_50, 0.258_52)), "0.25851 ns");
        assert_eq!(with_interval(unit, &estimate_of(5.0, -40.0, 60.0)), "5 ns, −40 to 60");
        assert_eq!(estimate(Unit::BytesPerSecond, &estimate_of(9.4123e9, 9.39e9, 9.43e9)), "9.41 GB/s");
    }

    #[test]
    fn without_an_interval_three_digits_are_printed() {
        assert_eq!(value(Unit::Nanoseconds, 0.258_51), "0.259 ns");
        assert_eq!(value(Unit::Nanoseconds, 999.9), "1.00 µs");
        assert_eq!(value(Unit::Nanoseconds, 2.345e9), "2.35 s");
        assert_eq!(value(Unit::Nanoseconds, 0.0), "0 ns");
        assert_eq!(value(Unit::PartsPerMillion, 12_345.0), "1.23 %");
    }

    #[test]
    fn sizes_are_binary_and_exact() {
        assert_eq!(size(1 << 8), "256 B");
        assert_eq!(size(1 << 18), "256 KiB");
        assert_eq!(size(3 << 19), "1.5 MiB");
        assert_eq!(size(1000), "1000 B");
        assert_eq!(size(u64::MAX), "18446744073709551615 B");
    }

    #[test]
    fn factors_shares_and_counts_are_short() {
        assert_eq!(factor(1.28), "1.3×");
        assert_eq!(factor(0.0872), "0.087×");
        assert_eq!(factor(0.0), "none");
        assert_eq!(factor(9.96), "10×");
        assert_eq!(factor(1234.0), "1234×");
        assert_eq!(plus_minus(0.0021), "±0.21 %");
        assert_eq!(share(0.000_12), "120 ppm");
        assert_eq!(frequency(2.596_134e9), "2.596 GHz");
        assert_eq!(duration(350.2), "5 min 50 s");
        assert_eq!(count(1_234_567), "1\u{a0}234\u{a0}567");
    }

    #[test]
    fn a_column_shares_its_unit_unless_it_spans_too_much() {
        let shared = |values: &[f64]| {
            Measure::shared(Unit::Nanoseconds, values.iter().copied()).map(|measure| measure.symbol)
        };
        assert_eq!(shared(&[0.3, 200.0]), Some("ns"));
        assert_eq!(shared(&[900.0, 90_000.0]), Some("µs"));
        assert_eq!(shared(&[1.0, 1e6]), None);
        assert_eq!(shared(&[]), None);
        assert_eq!(shared(&[0.0, f64::NAN]), None);
    }

    /// Reads a printed number back, in the plain unit.
    fn read(text: &str, unit: Unit) -> f64 {
        let (number, symbol) = text.split_once(' ').expect("a number and a unit");
        let step = ladder(unit).iter().find(|step| step.symbol == symbol).expect("a known unit");
        number.replace('−', "-").parse::<f64>().expect("a number") * step.size
    }

    proptest! {
        #[test]
        fn what_is_printed_lies_within_the_interval(
            size in -3.0..12.0_f64, width in -4.9..0.3_f64, shift in -0.4..0.4_f64,
        ) {
            let value = 10_f64.powf(size);
            let half = value * 10_f64.powf(width);
            let estimated = estimate_of(value, value - half * (1.0 + shift), value + half * (1.0 - shift));
            for unit in [Unit::Nanoseconds, Unit::BytesPerSecond, Unit::Bytes, Unit::PartsPerMillion] {
                let printed = estimate(unit, &estimated);
                prop_assert!((read(&printed, unit) - value).abs() <= half, "{printed} for {value} ± {half}");
                prop_assert!(printed.len() < 20, "{printed}");
            }
        }

        #[test]
        fn every_number_has_its_unit_and_no_more_than_three_digits_without_an_interval(size in -3.0..17.0_f64) {
            let number = 10_f64.powf(size);
            for unit in [Unit::Nanoseconds, Unit::BytesPerSecond, Unit::Bytes] {
                let printed = value(unit, number);
                prop_assert!((read(&printed, unit) / number - 1.0).abs() < 0.0051, "{printed} for {number}");
            }
        }

        #[test]
        fn no_number_makes_it_panic(value in proptest::num::f64::ANY, low in proptest::num::f64::ANY, bytes: u64) {
            let estimated = estimate_of(value, low, value);
            for unit in [Unit::Nanoseconds, Unit::BytesPerSecond, Unit::Bytes, Unit::PartsPerMillion] {
                let printed = with_interval(unit, &estimated);
                prop_assert!(!printed.contains("NaN") && !printed.contains("inf"), "{printed}");
            }
            let _ = (factor(value), percent(value), significant(low, 3), size(bytes), duration(value));
        }
    }
}

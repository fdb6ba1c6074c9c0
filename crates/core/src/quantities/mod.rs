//! Rounding and units: the only place where a number becomes text (R-FIX-06, R-FIX-45, R-FIX-68).
//!
//! How many digits a number has is the rule of `digits.rs`. Costs are in ns, µs, ms or s, rates in decimal multiples of bytes per
//! second, sizes in binary multiples of a byte, shares in per cent; the unit of a row is that of its median. Every number is
//! printed with its unit, except in a column whose head contains the [`Measure`]'s symbol.

mod digits;

use crate::quantity::Unit;
use crate::statistics::Estimate;

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
const SHARES: [Measure; 1] = [measure(1e4, "%")];

/// Half-widths below this share are not distinguished.
const NARROW: f64 = 0.001;

const NARROWER: &str = "< 0.1 %";

/// A number without a unit.
const PLAIN: Measure = measure(1.0, "");

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

    /// One measure for all values of a column, in which each has one to three digits before its point or begins right after it;
    /// `None` if there is none such, or there are no values.
    pub fn shared(unit: Unit, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sizes = values.into_iter().map(f64::abs).filter(|size| size.is_finite() && *size > 0.0);
        let (low, high) =
            sizes.fold((f64::INFINITY, 0.0_f64), |(low, high), size| (low.min(size), high.max(size)));
        let most = Measure::of(unit, high);
        (high > 0.0 && (low >= 0.1 * most.size || most == ladder(unit)[0])).then_some(most)
    }

    /// The number alone, for a column whose head contains the symbol; `interval` are the ends of its interval.
    pub fn number(self, value: f64, interval: Option<(f64, f64)>) -> String {
        digits::value(value / self.size, self.place(value, interval))
    }

    /// A part of a whole in the same measure: as an upper limit where it is below the last digit of the whole, or below a tenth of it
    /// where there is no smaller unit that would show it better.
    pub fn part(self, value: f64, whole: f64) -> String {
        let last = 10_f64.powi(self.place(whole, None));
        let least = if self.size > 1.0 { last } else { 0.1 * last };
        if value > 0.0 && value < least * self.size {
            return format!("< {last}");
        }
        self.number(value, None)
    }

    /// A deviation next to its mean, to the same digit.
    pub fn beside(self, deviation: f64, mean: f64, interval: Option<(f64, f64)>) -> String {
        digits::value(deviation / self.size, self.place(mean, interval))
    }

    /// Both ends of an interval, to the digit of its value and outwards: `186.9–187.6`; with a sign in it `−12 to 16`.
    pub fn range(self, value: f64, low: f64, high: f64) -> String {
        let place = self.place(value, Some((low, high)));
        let [value, lowest, highest] = [value, low, high].map(|number| number / self.size);
        let between = if low < 0.0 { " to " } else { "–" };
        format!("{}{between}{}", digits::low(lowest, value, place), digits::high(highest, value, place))
    }

    /// Half an interval: as a share of its value, or in its unit where it is larger than the value, which then is near zero.
    pub fn half_width(self, value: f64, (low, high): (f64, f64)) -> String {
        let half = (high - low) / 2.0;
        match half / value.abs() {
            share if share < NARROW => NARROWER.to_owned(),
            share if share <= 1.0 => plus_minus(share),
            _ => format!("±{} {}", self.number(half, None), self.symbol),
        }
    }

    fn place(self, value: f64, interval: Option<(f64, f64)>) -> i32 {
        digits::place(value / self.size, interval.map(|(low, high)| (low / self.size, high / self.size)))
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

/// A value without an interval: `187 ns`.
pub fn value(unit: Unit, value: f64) -> String {
    let measure = Measure::of(unit, value);
    format!("{} {}", measure.number(value, None), measure.symbol)
}

/// The median: `187.2 ns`.
pub fn estimate(unit: Unit, estimate: &Estimate) -> String {
    rounded(unit, estimate.value, ends(estimate))
}

/// A value whose interval has these ends.
pub fn rounded(unit: Unit, value: f64, ends: Option<(f64, f64)>) -> String {
    let measure = Measure::of(unit, value);
    format!("{} {}", measure.number(value, ends), measure.symbol)
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

/// Half an interval as a share of its value, which has two digits as an uncertainty does: `±0.21 %`.
pub fn plus_minus(share: f64) -> String {
    let percent = share * 100.0;
    format!("±{} %", digits::value(percent, digits::power(percent.abs()) - 1))
}

/// A precision as it was asked for: `±5 %`.
pub fn target(share: f64) -> String {
    format!("±{}", tick(Unit::PartsPerMillion, (share * 1e6).round()))
}

/// A share of one: `12.3 %`, `0.0120 %`.
pub fn percent(share: f64) -> String {
    value(Unit::PartsPerMillion, share * 1e6)
}

/// The interval of a share of one: `33.1 to 37.5 %`.
pub fn percent_range(share: f64, low: f64, high: f64) -> String {
    let measure = SHARES[0];
    let range = measure.range(share * 1e6, low * 1e6, high * 1e6);
    format!("{} {}", range.replace('–', " to "), measure.symbol)
}

/// One value over another: `1.30×`, `0.872×`, `210×`.
pub fn factor(factor: f64) -> String {
    if factor == 0.0 {
        return "none".to_owned();
    }
    format!("{}×", number(factor))
}

/// A count of bytes, exact where binary prefixes make it so in at most six digits (R-FIX-68): `32 KiB`, `1.5 MiB`, `1 000 B`.
pub fn size(bytes: u64) -> String {
    let quarter = |step: &Measure| (step.size as u64 / 4).max(1);
    let fits = |step: &&Measure| bytes >= step.size as u64 && bytes.is_multiple_of(quarter(step));
    let step = SIZES.iter().rev().find(fits).copied().unwrap_or(SIZES[0]);
    let number = bytes as f64 / step.size;
    let digits = |number: f64| number.to_string().bytes().filter(u8::is_ascii_digit).count();
    match number {
        long if digits(long) > digits::MOST_DIGITS as usize => value(Unit::Bytes, bytes as f64),
        whole if whole.fract() == 0.0 => format!("{} {}", plain(whole), step.symbol),
        part => format!("{part} {}", step.symbol),
    }
}

/// A frequency, which is known to four digits at least: `2.596 GHz`.
pub fn frequency(hertz: f64) -> String {
    let (size, symbol) = [(1e9, "GHz"), (1e6, "MHz"), (1e3, "kHz")]
        .into_iter()
        .find(|(size, _)| hertz >= *size)
        .unwrap_or((1.0, "Hz"));
    let number = hertz / size;
    format!("{} {symbol}", digits::value(number, digits::power(number.abs()) - 3))
}

/// A duration in minutes and seconds: `42 s`, `5 min 50 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return value(Unit::Nanoseconds, seconds * 1e9);
    }
    let whole = seconds.round() as u64;
    if whole < 120 { format!("{whole} s") } else { format!("{} min {} s", whole / 60, whole % 60) }
}

/// A time in words, to one decimal below a second and in whole seconds above.
pub fn roughly(seconds: f64) -> String {
    match seconds {
        short if short < 0.95 => format!("{:.1} s", short.max(0.1)),
        middle if middle < 9.5 => format!("{middle:.0} s"),
        long if long < 100.0 => format!("{:.0} s", (long / 10.0).round() * 10.0),
        longer => format!("{} min", plain((longer / 60.0).max(2.0).round())),
    }
}

/// A deviation from what was set, a share of one, in per cent with its sign: `+1.20`.
pub fn deviation(share: f64) -> String {
    let text = number(share * 100.0);
    if share > 0.0 { format!("+{text}") } else { text }
}

/// A change by a share of one, to a tenth of a per cent below ten: `+5.2 %`, `−12 %`.
pub fn change(share: f64) -> String {
    let percent = share * 100.0;
    let places = usize::from(percent.abs() < 9.95);
    let text = format!("{percent:+.places$} %").replace('-', "−");
    // A change that rounds to zero has no sign.
    if text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) { text } else { "0.0 %".to_owned() }
}

/// A number without a unit (a ratio, an exponent), to three digits.
pub fn number(value: f64) -> String {
    PLAIN.number(value, None)
}

/// The same for a number whose interval has these ends.
pub fn number_within(value: f64, ends: Option<(f64, f64)>) -> String {
    PLAIN.number(value, ends)
}

/// The interval of such a number.
pub fn number_range(value: f64, low: f64, high: f64) -> String {
    PLAIN.range(value, low, high)
}

/// A whole number in groups of three: `4 096`; other numbers to three digits, and more than six digits in words.
pub fn plain(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..1e15).contains(&value) { count(value as usize) } else { number(value) }
}

/// A number of things, whole and in groups of three: `12 345`; from a million on `1.23 million`.
pub fn count(things: usize) -> String {
    match things as f64 {
        few if few < 999_999.5 => digits::grouped(&things.to_string()),
        many if many < 999.5e6 => format!("{}{}million", number(many / 1e6), digits::THIN),
        many => format!("{}{}billion", number(many / 1e9), digits::THIN),
    }
}

/// A text from a run file, whose longer numbers are rounded like all others: earlier programs recorded all their digits.
pub fn reworded(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let digits = &rest[start..];
        let end =
            digits.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(digits.len());
        let token = digits[..end].trim_end_matches('.');
        let joined = rest[..start].ends_with(|letter: char| letter.is_alphanumeric() || letter == '-');
        let long = token.contains('.') && token.len() > digits::MOST_DIGITS as usize;
        let rounded = token.parse().ok().filter(|_| long && !joined).map(number);
        shown += &rest[..start];
        shown += rounded.as_deref().unwrap_or(token);
        rest = &digits[token.len()..];
    }
    shown + rest
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
        assert_eq!(nanoseconds.beside(3.27, 12.8, Some((8.0, 18.0))), "3.3");
        assert_eq!(nanoseconds.beside(4.6, 207.0, None), "5");
        assert_eq!(nanoseconds.beside(0.042, 12.8, None), "0.04");
    }

    #[test]
    fn a_part_below_the_last_digit_of_its_whole_is_a_limit() {
        let part = |value, whole| Measure::of(Unit::Nanoseconds, whole).part(value, whole);
        assert_eq!([part(0.317, 1_120.0), part(34.6, 6_930.0)], ["< 0.01", "0.0346"]);
        assert_eq!([part(4.0, 318_000.0), part(0.4, 318.0)], ["< 1", "0.400"]);
        assert_eq!(part(0.191, 834.0 * 1.3), "< 0.01");
        assert_eq!([part(0.0, 318.0), part(-2.0, 3.0)], ["0", "−2.00"]);
    }

    #[test]
    fn a_row_has_the_unit_of_its_median() {
        let unit = Unit::Nanoseconds;
        assert_eq!(with_interval(unit, &estimate_of(187.234, 187.11, 187.33)), "187.2 ns, 187.1–187.4");
        assert_eq!(with_interval(unit, &estimate_of(187.234, 180.0, 1901.0)), "187 ns, 180–1\u{202f}901");
        assert_eq!(with_interval(unit, &estimate_of(187_234.0, 900.0, 189_000.0)), "187 µs, 0.9–189");
        assert_eq!(estimate(unit, &estimate_of(0.258_51, 0.258_50, 0.258_52)), "0.2585 ns");
        assert_eq!(with_interval(unit, &estimate_of(5.0, -40.0, 60.0)), "5.00 ns, −40.00 to 60.00");
        assert_eq!(estimate(Unit::BytesPerSecond, &estimate_of(9.4123e9, 9.39e9, 9.43e9)), "9.41 GB/s");
    }

    #[test]
    fn without_an_interval_three_digits_are_printed() {
        assert_eq!(value(Unit::Nanoseconds, 0.258_51), "0.259 ns");
        assert_eq!(value(Unit::Nanoseconds, 999.9), "1.00 µs");
        assert_eq!(value(Unit::Nanoseconds, 2.345e9), "2.35 s");
        assert_eq!(value(Unit::Nanoseconds, 0.0), "0 ns");
        assert_eq!(value(Unit::PartsPerMillion, 12_345.0), "1.23 %");
        assert_eq!(value(Unit::PartsPerMillion, 12.3), "0.00123 %");
    }

    #[test]
    fn sizes_are_binary_and_exact() {
        assert_eq!(size(1 << 8), "256 B");
        assert_eq!(size(1 << 18), "256 KiB");
        assert_eq!(size(3 << 19), "1.5 MiB");
        assert_eq!(size(1000), "1\u{202f}000 B");
        assert_eq!(size(u64::MAX), "16\u{202f}400 PiB");
    }

    #[test]
    fn factors_shares_and_counts_are_short() {
        assert_eq!(factor(1.28), "1.28×");
        assert_eq!(factor(0.0872), "0.0872×");
        assert_eq!(factor(0.0), "none");
        assert_eq!(factor(9.996), "10.0×");
        assert_eq!(plus_minus(0.0021), "±0.21 %");
        assert_eq!(target(0.05), "±5 %");
        assert_eq!(percent(0.000_12), "0.0120 %");
        assert_eq!(percent_range(0.352, 0.331_9, 0.374_1), "33.1 to 37.5 %");
        assert_eq!(frequency(2.596_134e9), "2.596 GHz");
        assert_eq!(duration(350.2), "5 min 50 s");
        assert_eq!(count(234_567), "234\u{202f}567");
        assert_eq!(count(134_217_728), "134\u{202f}million");
        assert_eq!(plain(0.317_333_333_333_333), "0.317");
    }

    #[test]
    fn long_numbers_of_recorded_texts_are_rounded_and_names_are_not() {
        let text = "0.31733333333333336 cycles of 0.3090 ns on Linux 6.18.44-1.2345678, in 2022.";
        assert_eq!(reworded(text), "0.317 cycles of 0.3090 ns on Linux 6.18.44-1.2345678, in 2022.");
    }

    #[test]
    fn a_column_shares_its_unit_unless_it_spans_too_much() {
        let shared = |values: &[f64]| {
            Measure::shared(Unit::Nanoseconds, values.iter().copied()).map(|measure| measure.symbol)
        };
        assert_eq!(shared(&[0.3, 200.0]), Some("ns"));
        assert_eq!(shared(&[900.0, 90_000.0]), Some("µs"));
        assert_eq!(shared(&[90.0, 90_000.0]), None);
        assert_eq!(shared(&[1.0, 1e6]), None);
        assert_eq!(shared(&[]), None);
        assert_eq!(shared(&[0.0, f64::NAN]), None);
    }

    /// Reads a printed number back, in the plain unit.
    fn read(text: &str, unit: Unit) -> f64 {
        let (number, symbol) = text.split_once(' ').expect("a number and a unit");
        let step = ladder(unit).iter().find(|step| step.symbol == symbol).expect("a known unit");
        number.replace('−', "-").replace(digits::THIN, "").parse::<f64>().expect("a number") * step.size
    }

    proptest! {
        #[test]
        fn what_is_printed_contains_what_was_computed(
            size in -3.0..12.0_f64, width in -4.9..0.3_f64, shift in -0.4..0.4_f64,
        ) {
            let value = 10_f64.powf(size);
            let half = value * 10_f64.powf(width);
            let (low, high) = (value - half * (1.0 + shift), value + half * (1.0 - shift));
            for unit in [Unit::Nanoseconds, Unit::BytesPerSecond, Unit::Bytes, Unit::PartsPerMillion] {
                let measure = Measure::of(unit, value);
                let printed = |text: &str| read(&format!("{text} {}", measure.symbol), unit);
                let middle = printed(&measure.number(value, Some((low, high))));
                let range = measure.range(value, low, high).replace(" to ", "–");
                let (lowest, highest) = range.split_once('–').map(|(low, high)| (printed(low), printed(high))).unwrap();
                let error = 1e-6 * value;
                prop_assert!(lowest <= low + error && high <= highest + error, "{range} for {low} to {high}");
                prop_assert!(lowest < middle && middle < highest, "{range} for {value}");
                prop_assert!((middle / value - 1.0).abs() < 0.0051, "{middle} for {value}");
                prop_assert!(range.chars().count() < 30, "{range}");
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
            let _ = (factor(value), percent(value), plus_minus(low), plain(value), size(bytes), duration(value));
        }
    }
}

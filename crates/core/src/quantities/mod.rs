//! Rounding and units: the only place where a number becomes text (R-FIX-06, R-FIX-45, R-FIX-68).
//!
//! How many digits a number has is the rule of `digits.rs`. Costs are in ns, µs, ms or s, rates in decimal multiples of bytes per
//! second, sizes in binary multiples of a byte, shares in per cent; the unit of a row is that of its median. Every number is
//! printed with its unit, except in a column whose head contains the [`Measure`]'s symbol.

mod digits;

pub use digits::BoundSide;

use crate::quantity::Unit;
use crate::statistics::{Estimate, Measured};

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

/// The least number that is printed with its digits, in the smallest unit.
const LEAST: f64 = 1e-4;

/// The least part of a whole that is printed with its digits, where a smaller unit would show it better.
const LEAST_PART: f64 = 1e-3;

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

    /// The measure of a row: that of its value or, where this is zero, that of the wider end of its interval.
    pub fn of_row(unit: Unit, value: f64, ends: Option<(f64, f64)>) -> Self {
        let widest = |(low, high): (f64, f64)| low.abs().max(high.abs());
        Measure::of(unit, if value == 0.0 { ends.map_or(0.0, widest) } else { value })
    }

    /// One measure for those of some values that are rates, as [`Measure::shared`] finds it.
    pub fn of_rates(values: impl IntoIterator<Item = (Unit, f64)>) -> Option<Self> {
        let rates = values.into_iter().filter(|(unit, _)| *unit == Unit::BytesPerSecond);
        Measure::shared(Unit::BytesPerSecond, rates.map(|(_, rate)| rate))
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

    /// The number alone, for a column whose head contains the symbol; `interval` are the ends of its interval. Where there is no smaller
    /// unit, a number without an interval that would begin with more zeros than are read is an upper limit.
    pub fn number(self, value: f64, interval: Option<(f64, f64)>) -> String {
        let is_smallest = self.size <= 1.0 || self == SHARES[0];
        if is_smallest && interval.is_none() && value > 0.0 && value < LEAST * self.size {
            return format!("< {LEAST}");
        }
        let (number, place) = (value / self.size, self.place(value, interval));
        let is_about_zero = interval.is_some_and(|(low, high)| low < 0.0 && high > 0.0);
        if is_about_zero && digits::is_zero(number, place) {
            return "0".to_owned();
        }
        digits::value(number, place)
    }

    /// The number alone of what is at least or at most so much, rounded to that side.
    pub fn bound(self, value: f64, side: BoundSide) -> String {
        digits::bound(value / self.size, side)
    }

    /// A part of a whole in the same measure: as an upper limit where it is below the last digit of the whole, or below a tenth of it
    /// where there is no smaller unit that would show it better.
    pub fn part(self, value: f64, whole: f64) -> String {
        let last = 10_f64.powi(self.place(whole, None));
        let last = if self.size > 1.0 { last.max(LEAST_PART) } else { last };
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

/// Whether the printed intervals of two values do not overlap; true without an interval, which shows nothing. Their ends are rounded outwards.
pub fn are_apart_as_printed(one: Measured, other: Measured) -> bool {
    let printed = |of: Measured| of.ends().map(|(low, high)| digits::printed_ends(of.value, low, high));
    printed(one).zip(printed(other)).is_none_or(|(one, other)| one.1 < other.0 || other.1 < one.0)
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
    let measure = Measure::of_row(unit, value, ends);
    format!("{} {}", measure.number(value, ends), measure.symbol)
}

/// The interval alone: `186.9–187.6 ns`; `None` without an interval.
pub fn interval(unit: Unit, estimate: &Estimate) -> Option<String> {
    let (low, high) = ends(estimate)?;
    let measure = Measure::of_row(unit, estimate.value, Some((low, high)));
    Some(format!("{} {}", measure.range(estimate.value, low, high), measure.symbol))
}

/// The median with its interval: `187.2 ns, 186.9–187.6`.
pub fn with_interval(unit: Unit, figure: &Estimate) -> String {
    let measure = Measure::of_row(unit, figure.value, ends(figure));
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

/// A share of one that rests on few events, in two digits: `86 %`, `0.55 %`.
pub fn percent_of_few(share: f64) -> String {
    let percent = share * 100.0;
    format!("{} %", digits::value(percent, digits::power(percent.abs()) - 1))
}

/// A precision as it was asked for: `±5 %`.
pub fn target(share: f64) -> String {
    format!("±{}", tick(Unit::PartsPerMillion, (share * 1e6).round()))
}

/// A share of one: `12.3 %`, `0.0120 %`.
pub fn percent(share: f64) -> String {
    if (ROUNDS_TO_ALL..ALL).contains(&share) {
        return ALMOST_ALL.to_owned();
    }
    value(Unit::PartsPerMillion, share * 1e6)
}

/// From this share on the three digits of a share would say that it is all.
const ROUNDS_TO_ALL: f64 = 0.9995;

/// What is nearer to all than this is all, but for the error of a division.
const ALL: f64 = 1.0 - 1e-9;

const ALMOST_ALL: &str = "more than 99.9 %";

/// The interval of a share of one: `33.1 to 37.5 %`.
pub fn percent_range(share: f64, low: f64, high: f64) -> String {
    let measure = SHARES[0];
    let range = measure.range(share * 1e6, low * 1e6, high * 1e6);
    format!("{} {}", range.replace('–', " to "), measure.symbol)
}

/// One value over another with the ends of its interval: `1.30× (1.21–1.42)`.
pub fn factor_within(factor: f64, ends: Option<(f64, f64)>) -> String {
    let range = ends.map(|(low, high)| format!(" ({})", number_range(factor, low, high)));
    format!("{}×{}", number_within(factor, ends), range.unwrap_or_default())
}

/// One value over another: `1.30×`, `0.872×`, `210×`.
pub fn factor(factor: f64) -> String {
    if factor == 0.0 {
        return "none".to_owned();
    }
    format!("{}×", number(factor))
}

/// One value over another at least: `1.32×` of 1.329.
pub fn factor_at_least(factor: f64) -> String {
    format!("{}×", PLAIN.bound(factor, BoundSide::Lower))
}

/// A count of bytes, exact where binary prefixes make it so in at most six digits (R-FIX-68): `32 KiB`, `1.5 MiB`, `1 000 B`.
pub fn size(bytes: u64) -> String {
    let quarter = |step: &Measure| (step.size as u64 / 4).max(1);
    let fits = |step: &&Measure| bytes >= step.size as u64 && bytes % quarter(step) == 0;
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

/// A change by a share of one, to a tenth of a per cent below ten: `+5.2 %`, `−12 %`, `+1 230 %`. Of what is nearly gone the rest has two
/// digits: `−96.6 %`.
pub fn change(share: f64) -> String {
    let percent = share * 100.0;
    let places = match percent {
        near if near <= -99.0 => 2,
        near if near <= -90.0 || near.abs() < 9.95 => 1,
        large if large >= 999.5 => return format!("+{} %", number(large)),
        _ => 0,
    };
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

/// A setting, whole and never rounded, in groups of three: `16 384`.
pub fn whole(number: u64) -> String {
    digits::grouped(&number.to_string())
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
mod tests;

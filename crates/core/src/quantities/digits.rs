//! How many digits a number has: the one rule for all of them (`docs/method.md`).
//!
//! A value has three significant digits, and four if its interval is narrower than 0.2 % of it. The ends of the interval have the
//! decimals of the value and are rounded outwards, so that what is printed always contains what was computed, and the printed
//! value lies inside. An end that differs from zero is never printed as zero; a value that is far nearer to zero than the ends on both
//! sides of it is.

const DIGITS: i32 = 3;

/// Those of a value whose interval is narrower than [`NARROW`].
const NARROW_DIGITS: i32 = 4;

/// The width of an interval, as a share of its value, below which the value has a further digit.
const NARROW: f64 = 0.002;

pub(super) const MOST_DIGITS: i32 = 6;

/// Numbers that differ by less than this share differ by the error of their arithmetic.
const ROUNDING: f64 = 1e-9;

/// Smaller numbers are zero: their powers of ten have no reciprocal.
const TINY: f64 = 1e-290;

/// Larger numbers are not printed: rounded outwards, one may be infinite.
const HUGE: f64 = 1e290;

/// Separates groups of three digits: a thin space at which no line is broken.
pub(super) const THIN: char = '\u{202f}';

/// The power of ten of the last digit of a value with this interval.
pub(super) fn place(value: f64, ends: Option<(f64, f64)>) -> i32 {
    let (low, high) = ends.unwrap_or((value, value));
    let narrow = ends.is_some() && (high - low).abs() < NARROW * value.abs();
    let digits = if narrow { NARROW_DIGITS } else { DIGITS };
    let widest = value.abs().max(low.abs()).max(high.abs());
    let is_about_zero = low < 0.0 && high > 0.0 && is_zero(value, power(widest) - DIGITS + 1);
    let first = if value == 0.0 || is_about_zero { power(widest) } else { leading(value, digits) };
    (first - digits + 1).max(power(widest) - MOST_DIGITS + 1)
}

/// The power of ten of the first digit once the value is rounded: 9.996 has that of 10.
fn leading(value: f64, digits: i32) -> i32 {
    power(value.abs() * (1.0 + 0.5 * 10_f64.powi(-digits)))
}

/// The power of ten of the first digit that is not zero.
pub(super) fn power(size: f64) -> i32 {
    if size > TINY && size.is_finite() { size.log10().floor() as i32 } else { 0 }
}

/// Whether a number rounds to zero at this place.
pub(super) fn is_zero(number: f64, place: i32) -> bool {
    (number / step(place)).round() == 0.0
}

/// A value to this place; to one digit if it would be zero there.
pub(super) fn value(value: f64, place: i32) -> String {
    written(value, place, f64::round)
}

/// The lower end of the interval of a value, rounded downwards to this place. It is below the printed value unless both are
/// exactly that number.
pub(super) fn low(low: f64, value: f64, place: i32) -> String {
    if low.abs() <= ROUNDING * value.abs() || !value.is_finite() {
        return "0".to_owned();
    }
    let steps = |number: f64| number / step(place);
    let (whole, middle) = (downwards(steps(low)), steps(value).round());
    let is_middle = |number: f64| (steps(number) - middle).abs() < TOLERANCE;
    let meets = whole >= middle && !(is_middle(low) && is_middle(value));
    if meets && middle != 0.0 {
        return written((middle - 1.0) * step(place), place, f64::round);
    }
    written(low, place, downwards)
}

/// The upper end, rounded upwards.
pub(super) fn high(high: f64, value: f64, place: i32) -> String {
    match low(-high, -value, place) {
        zero if zero == "0" => zero,
        text => match text.strip_prefix(MINUS) {
            Some(positive) => positive.to_owned(),
            None => format!("{MINUS}{text}"),
        },
    }
}

/// The ends of an interval as they are printed, as numbers.
pub(super) fn printed_ends(value: f64, low_end: f64, high_end: f64) -> (f64, f64) {
    let place = place(value, Some((low_end, high_end)));
    let outward = |end: f64, value: f64| {
        let (steps, middle) = (downwards(end / step(place)), (value / step(place)).round());
        let is_exact = end.total_cmp(&value).is_eq();
        if is_exact { end } else { steps.min(middle - 1.0) * step(place) }
    };
    (outward(low_end, value), -outward(-high_end, -value))
}

/// Which end of an interval a number is, that stands by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundSide {
    /// What something is at least.
    Lower,
    /// What something is at most.
    Upper,
}

/// A bound, rounded to its own side.
pub(super) fn bound(number: f64, side: BoundSide) -> String {
    let place = place(number, None);
    match side {
        BoundSide::Lower => written(number, place, downwards),
        BoundSide::Upper => written(number, place, |steps| -downwards(-steps)),
    }
}

const MINUS: char = '−';

/// A quotient closer to a whole number than this is that number: a decimal fraction is rarely a binary one.
const TOLERANCE: f64 = 1e-6;

fn downwards(steps: f64) -> f64 {
    if (steps - steps.round()).abs() < TOLERANCE { steps.round() } else { steps.floor() }
}

fn step(place: i32) -> f64 {
    10_f64.powi(place)
}

/// A number rounded to a place; if it would be zero there, to its own first digit.
fn written(number: f64, place: i32, round: fn(f64) -> f64) -> String {
    if !number.is_finite() || number.abs() > HUGE {
        return "–".to_owned();
    }
    if number.abs() <= TINY {
        return "0".to_owned();
    }
    let steps = round(number / step(place));
    if steps == 0.0 {
        let own = power(number.abs());
        return fixed(round(number / step(own)) * step(own), own);
    }
    fixed(steps * step(place), place)
}

/// A number that is a multiple of a place, in groups of three digits before the point.
fn fixed(number: f64, place: i32) -> String {
    let text = format!("{:.*}", usize::try_from(-place).unwrap_or(0), number.abs());
    let (whole, fraction) = text.split_once('.').map_or((&*text, ""), |(whole, fraction)| (whole, fraction));
    let sign = if number < 0.0 { MINUS.to_string() } else { String::new() };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// Digits in groups of three.
pub(super) fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(THIN);
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::are_apart_as_printed;
    use crate::statistics::{Interval, Measured};

    fn printed(number: f64, low_end: f64, high_end: f64) -> [String; 3] {
        let place = place(number, Some((low_end, high_end)));
        [low(low_end, number, place), value(number, place), high(high_end, number, place)]
    }

    #[test]
    fn a_value_has_three_digits_and_four_if_its_interval_is_narrow() {
        assert_eq!(printed(16.9, 15.23, 52.17), ["15.2", "16.9", "52.2"]);
        assert_eq!(printed(187.234, 187.11, 187.36), ["187.1", "187.2", "187.4"]);
        assert_eq!(printed(187.234, 186.1, 187.9), ["186", "187", "188"]);
        assert_eq!(printed(1.58, 0.212, 4.98), ["0.21", "1.58", "4.98"]);
    }

    #[test]
    fn an_end_is_outward_and_meets_the_value_only_if_they_are_one_number() {
        assert_eq!(printed(26.53, 26.53, 27.7), ["26.4", "26.5", "27.7"]);
        assert_eq!(printed(20.0374, 20.0374, 20.0374), ["20.03", "20.04", "20.05"]);
        assert_eq!(
            printed(248.895, 248.89, 248.9),
            ["248.8", "248.9", "249.0"],
            "the end alone is that number"
        );
        assert_eq!(printed(4.0, 4.0, 4.0), ["4.000", "4.000", "4.000"]);
        assert_eq!(printed(0.3, 0.2, 0.4), ["0.200", "0.300", "0.400"]);
    }

    #[test]
    fn intervals_that_touch_as_they_are_printed_are_not_apart() {
        let within = |value, low, high| Measured { value, interval: Some(Interval { low, high }) };
        // 123 (121-126) and 130 (125-159), of which the unrounded ends are 0.06 apart.
        let (quick, slow) = (within(123.2, 121.7, 125.163), within(130.0, 125.221, 158.4));
        assert!(quick.differs_from(slow) == Some(true) && !are_apart_as_printed(quick, slow));
        assert!(are_apart_as_printed(within(100.0, 99.0, 101.2), within(110.0, 105.0, 112.0)));
        assert!(!are_apart_as_printed(within(4.0, 4.0, 4.0), within(4.0, 4.0, 4.0)));
        assert!(are_apart_as_printed(within(4e6, 4e6, 4e6), within(2e6, 2e6, 2e6)));
        let bare = Measured { value: 4.0, interval: None };
        assert!(are_apart_as_printed(bare, bare), "what has no interval shows nothing here");
    }

    #[test]
    fn no_end_becomes_zero_unless_it_is() {
        assert_eq!(printed(3.21, 0.001_27, 38.0), ["0.001", "3.21", "38.00"]);
        assert_eq!(printed(3.21, 3.4e-17, 38.0), ["0", "3.21", "38.00"]);
        assert_eq!(printed(0.0, 0.0, 0.226), ["0", "0", "0.226"]);
        assert_eq!(printed(0.0, -1.79e308, 0.0)[0], "–");
    }

    /// A slope of a millionth beside ends of a thousandth: its own digits say nothing.
    #[test]
    fn a_value_far_nearer_to_zero_than_both_of_its_ends_has_their_decimals() {
        assert_eq!(place(1e-6, Some((-9.18e-4, 1.638e-3))), -5);
        assert_eq!(place(1e-4, Some((-9.18e-4, 1.638e-3))), -6);
        assert_eq!(place(1e-6, Some((1e-7, 1.638e-3))), -8, "it is above zero");
    }

    #[test]
    fn signs_and_groups() {
        assert_eq!(printed(5.0, -40.0, 60.0), ["−40.00", "5.00", "60.00"]);
        assert_eq!(printed(-5.0, -5.31, 0.004), ["−5.31", "−5.00", "0.01"]);
        assert_eq!(printed(700.0, 650.2, 1_234_567.0), ["650", "700", "1\u{202f}234\u{202f}570"]);
        assert_eq!(grouped("1234567"), "1\u{202f}234\u{202f}567");
    }
}

//! One rule for the digits of numbers, seen from outside.

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
    let milliseconds = Measure::of(Unit::Nanoseconds, 31e6);
    assert_eq!(
        [milliseconds.part(704.0, 2_760.0), milliseconds.part(2_060.0, 2_760.0)],
        ["< 0.001", "0.00206"]
    );
    let beside_zero = Measure::of(Unit::Nanoseconds, 1.0);
    let ends = (-9.18e-4, 1.638e-3);
    assert_eq!(beside_zero.number(1e-6, Some(ends)), "0");
    assert_eq!(beside_zero.range(1e-6, ends.0, ends.1), "−0.00092 to 0.00164");
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
fn a_row_of_zero_has_the_unit_of_its_interval() {
    let zero = estimate_of(0.0, 0.0, 5_320_000.0);
    assert_eq!(with_interval(Unit::Nanoseconds, &zero), "0 ms, 0–5.32");
    assert_eq!(interval(Unit::Nanoseconds, &zero).as_deref(), Some("0–5.32 ms"));
    assert_eq!(with_interval(Unit::Nanoseconds, &estimate_of(0.0, 0.0, 0.0)), "0 ns, 0–0");
}

#[test]
fn without_an_interval_three_digits_are_printed() {
    assert_eq!(value(Unit::Nanoseconds, 0.258_51), "0.259 ns");
    assert_eq!(value(Unit::Nanoseconds, 999.9), "1.00 µs");
    assert_eq!(value(Unit::Nanoseconds, 2.345e9), "2.35 s");
    assert_eq!(value(Unit::Nanoseconds, 0.0), "0 ns");
    assert_eq!(value(Unit::PartsPerMillion, 12_345.0), "1.23 %");
    assert_eq!(value(Unit::PartsPerMillion, 12.3), "0.00123 %");
    assert_eq!([value(Unit::Nanoseconds, 1.4e-9), number(1.27e-14)], ["< 0.0001 ns", "< 0.0001"]);
    assert_eq!([value(Unit::PartsPerMillion, 0.044), number(0.000_318)], ["< 0.0001 %", "0.000318"]);
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
    assert_eq!([0.9994, 0.9996, 1.0 - 1e-12].map(percent), ["99.9 %", "more than 99.9 %", "100 %"]);
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

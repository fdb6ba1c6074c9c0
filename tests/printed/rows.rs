//! Rules over values with their intervals, and over columns.

use super::Findings;
use super::numbers::{self, Number};

const UNITS: &[&str] =
    &["ns", "µs", "ms", "s", "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "B", "KiB", "MiB", "GiB", "%"];

/// A value with its interval, as printed.
pub struct Value {
    pub number: f64,
    pub half_a_digit: f64,
    pub ends: Option<(f64, f64)>,
    pub unit: String,
    pub line: String,
}

/// The first two numbers after a value, if they are the ends of its interval.
fn ends(value: &Number, next: &[Number]) -> Option<(f64, f64)> {
    let [low, high] = next.get(..2)? else { return None };
    let gap = |from: &str, to: &str| from[..from.len() - to.len()].to_owned();
    let before = gap(value.after, &format!("{}{}", low.text, low.after));
    let between = gap(low.after, &format!("{}{}", high.text, high.after));
    let lead = before.trim_start().strip_prefix(value.unit()).unwrap_or(before.trim_start());
    let lead_in = lead.chars().all(|letter| letter.is_whitespace() || "(,·[|*−".contains(letter));
    let sign = |text: &str| if text.ends_with('−') { -1.0 } else { 1.0 };
    let is_range = ["–", " to ", " to −"].contains(&between.as_str());
    (lead_in && is_range && !before.contains('\n'))
        .then_some((low.value * sign(&before), high.value * sign(&between)))
}

/// Whether the number is the last of those of a machine in several states: the range that follows is that of the first.
fn is_of_last_state(value: &Number) -> bool {
    value.follows(" or ")
}

/// A text with one kind of space.
pub fn plain(text: &str) -> String {
    text.chars().map(|letter| if numbers::is_space(letter) { ' ' } else { letter }).collect()
}

/// The values with a unit of a line.
pub fn values(line: &str) -> Vec<Value> {
    let numbers = numbers::all(line);
    let of = |(place, number): (usize, &Number)| {
        let unit = number.unit();
        UNITS.contains(&unit).then(|| Value {
            number: if number.is_negative() { -number.value } else { number.value },
            half_a_digit: number.half_a_digit(),
            ends: ends(number, &numbers[place + 1..]).filter(|_| !is_of_last_state(number)),
            unit: unit.to_owned(),
            line: line.trim().to_owned(),
        })
    };
    numbers.iter().enumerate().filter_map(of).collect()
}

/// The rules over values with intervals, and over the columns of tables.
pub fn look(form: &str, text: &str, findings: &mut Findings) {
    for line in text.lines() {
        for value in values(line) {
            if let Some((low, high)) = value.ends {
                inside(form, &value, low, high, findings);
                if is_in_the_unit_of_zero(&value, high) {
                    findings.add(form, "an interval of zero in a unit that is too small", &value.line);
                }
                if low < 0.0
                    && ["ns", "µs", "ms", "s"].contains(&&*value.unit)
                    && !line.contains(" per ")
                    && !line.trim_end().ends_with('.')
                {
                    findings.add(form, "an interval of a time that reaches below zero", &value.line);
                }
            }
        }
    }
    if form == "Markdown" || form == "appendix" {
        columns(form, text, findings);
    }
}

/// A zero has the unit of its interval: `0–5.32 ms`, not `0–5 320 000 ns`.
fn is_in_the_unit_of_zero(value: &Value, high: f64) -> bool {
    value.number == 0.0 && high >= 1000.0 && ["ns", "µs", "ms", "B/s", "kB/s", "MB/s"].contains(&&*value.unit)
}

/// A median is inside, and meets an end only if they are one number.
fn inside(form: &str, value: &Value, low: f64, high: f64, findings: &mut Findings) {
    if value.number < low || value.number > high {
        findings.add(form, "a median outside of its interval", &value.line);
    }
    // Sizes are whole numbers of pages, so that an end may be the very number of the median.
    let is_size = value.unit.ends_with('B');
    let meets = |end: f64| (value.number - end).abs() < 1e-9 * value.number.abs();
    if !is_size && low < high && (meets(low) || meets(high)) {
        findings.add(form, "a median at an end of its interval", &value.line);
    }
}

/// A column whose head has a unit has no other in its cells; one without has a unit in every cell with a number, or in none.
fn columns(form: &str, text: &str, findings: &mut Findings) {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let head = |line: &&&str| line.starts_with('|') && line.contains("--");
    for (place, _) in lines.iter().enumerate().filter(|(_, line)| head(line)) {
        let heads = cells(lines[place.saturating_sub(1)]);
        let rows = lines[place + 1..].iter().take_while(|line| line.starts_with('|'));
        for row in rows {
            for (head, cell) in heads.iter().zip(cells(row)).skip(1) {
                let unit = head.rsplit_once(" (").map(|(_, unit)| unit.trim_end_matches(')'));
                let measured = unit.is_some_and(|unit| UNITS.contains(&unit));
                if measured && !values(&cell).is_empty() {
                    findings.add(
                        form,
                        "another unit than the head of its column",
                        &format!("{head}: {cell}"),
                    );
                }
            }
        }
    }
}

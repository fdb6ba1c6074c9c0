//! A run file with some of its points, for tests that read it many times.

use serde_json::Value;

/// The lines of a run file that are of no point, or of one of those that are kept by their place in the plan.
pub fn with_points(text: &str, is_kept: impl Fn(usize, &Value) -> bool) -> Vec<Value> {
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let plan = lines[0]["plan"].as_array().expect("a plan").clone();
    let kept = plan.into_iter().enumerate().filter(|(place, point)| is_kept(*place, point));
    let kept: Vec<Value> = kept.map(|(_, point)| point).collect();
    lines.retain(|line| {
        let same =
            |point: &Value| point["experiment"] == line["experiment"] && point["point"] == line["point"];
        line["experiment"].is_null() || kept.iter().any(same)
    });
    lines[0]["plan"] = Value::from(kept);
    lines
}

/// A run file with every line changed.
pub fn edited(text: &str, change: impl Fn(&mut Value)) -> String {
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.iter_mut().for_each(change);
    self::text(&lines)
}

/// The text of these lines.
pub fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

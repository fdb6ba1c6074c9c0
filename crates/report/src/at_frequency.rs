//! The sign of figures that are stated at the run's usual frequency of the core, and not as they were observed.

use fathom_core::quantities;
use fathom_engine::results::PointResult;

/// The sign behind the name of such a figure.
pub(super) const MARK: &str = "†";

/// The sign with its space, if the point's figure is at the usual frequency; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    if point.at_frequency.is_some() { format!(" {MARK}") } else { String::new() }
}

/// The meaning of the sign below a table; empty if no point has it.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let hz = points.into_iter().find_map(|point| Some(point.at_frequency.as_ref()?.hz));
    let hz = hz.map(quantities::frequency);
    hz.map(|hz| format!(" {MARK}: at {hz}, the core's usual frequency; others as observed."))
        .unwrap_or_default()
}

/// What a caption says of a picture of which some marks are at the usual frequency and others as observed; empty if all are alike.
pub(super) fn of_picture(points: &[&PointResult]) -> String {
    let hz = points.iter().find_map(|point| Some(point.at_frequency.as_ref()?.hz));
    let moved = points.iter().filter(|point| point.at_frequency.is_some()).count();
    hz.map_or_else(String::new, |hz| of_marks(moved, points.len(), &quantities::frequency(hz)))
}

fn of_marks(moved: usize, all: usize, frequency: &str) -> String {
    if moved == 0 || moved == all {
        return String::new();
    }
    let verb = if moved == 1 { "is" } else { "are" };
    format!(
        " Of its {all} marks {moved} {verb} at {frequency}, the core's usual frequency; the others as observed."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_how_many_marks_are_at_the_usual_frequency_only_if_some_are_not() {
        assert_eq!([of_marks(0, 7, "3 GHz"), of_marks(7, 7, "3 GHz")], ["", ""]);
        assert!(of_marks(1, 7, "3 GHz").starts_with(" Of its 7 marks 1 is at 3 GHz"));
        let text = of_marks(3, 7, "3 GHz");
        assert_eq!(
            text,
            " Of its 7 marks 3 are at 3 GHz, the core's usual frequency; the others as observed."
        );
    }
}

//! The signs of figures that are stated at the run's usual frequency of the core, or at the usual time of its device, and not as they were
//! observed.

use super::words;
use fathom_core::quantities::{self, Measure};
use fathom_core::quantity::Unit;
use fathom_engine::results::{AtUsual, Covariate, PointResult};

/// The sign behind the name of a figure at the usual frequency.
pub(super) const MARK: &str = "†";

/// The sign behind the name of a figure at the usual time of the device.
pub(super) const DEVICE_MARK: &str = "#";

/// The sign with its space, if the point's figure is at what is usual; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    let Some(moved) = &point.at_usual else { return String::new() };
    let mark = match moved.covariate {
        Covariate::CoreFrequency => MARK,
        Covariate::DeviceTime => DEVICE_MARK,
    };
    format!(" {mark}")
}

/// The meaning of the signs below a table; empty if no point has one.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let all: Vec<&AtUsual> = points.into_iter().filter_map(|point| point.at_usual.as_ref()).collect();
    let first = |covariate| all.iter().find(|moved| moved.covariate == covariate);
    let frequency = first(Covariate::CoreFrequency).map(|moved| {
        format!("{MARK}: at {}, the core's usual frequency", quantities::frequency(moved.usual))
    });
    let device = first(Covariate::DeviceTime).map(|moved| {
        format!("{DEVICE_MARK}: while a direct read takes {}, the device's usual time", time(moved.usual))
    });
    let signs: Vec<String> = frequency.into_iter().chain(device).collect();
    if signs.is_empty() { String::new() } else { format!(" {}; others as observed.", signs.join("; ")) }
}

/// The time of a direct read.
pub(super) fn time(ns: f64) -> String {
    quantities::value(Unit::Nanoseconds, ns)
}

/// What a caption says of a picture of which some marks are at the usual frequency and others as observed; empty if all are alike. The same
/// of the usual time of the device.
pub(super) fn of_picture(points: &[&PointResult]) -> String {
    let usual =
        |of: fn(&PointResult) -> Option<&AtUsual>| points.iter().find_map(|point| Some(of(point)?.usual));
    let moved =
        |of: fn(&PointResult) -> Option<&AtUsual>| points.iter().filter(|point| of(point).is_some()).count();
    let of_frequency = usual(PointResult::at_frequency).map_or_else(String::new, |hz| {
        let at = format!("at {}, the core's usual frequency", quantities::frequency(hz));
        of_marks(moved(PointResult::at_frequency), points.len(), &at)
    });
    let of_device = usual(PointResult::at_device).map_or_else(String::new, |ns| {
        let at = format!("at the device's usual time, {} for a direct read", time(ns));
        of_marks(moved(PointResult::at_device), points.len(), &at)
    });
    of_frequency + &of_device
}

fn of_marks(moved: usize, all: usize, at: &str) -> String {
    if moved == 0 || moved == all {
        return String::new();
    }
    let verb = if moved == 1 { "is" } else { "are" };
    format!(" Of its {all} marks {moved} {verb} {at}; the others as observed.")
}

/// The note beside a figure at the usual time of the device: the figure as it was observed, whatever the device did.
pub(super) fn note(point: &PointResult) -> Option<String> {
    let moved = point.at_device()?;
    let observed = moved.as_observed.as_ref()?;
    let measure = Measure::of(point.unit, observed.value);
    let [least, most] = moved.trials.map(time);
    Some(format!(
        "While a direct read of the device takes {}, its usual time. As observed, while it took {least} to {most}: {}.",
        time(moved.usual),
        words::with_interval(measure, observed)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sign_means_two_things() {
        let sources = [
            include_str!("at_usual.rs"),
            include_str!("occupancy.rs"),
            include_str!("denied.rs"),
            include_str!("article/quotation.rs"),
        ];
        let lines = sources.iter().flat_map(|source| source.lines());
        let signs = lines.filter_map(|line| {
            let (name, sign) = line.split_once(": &str = \"")?;
            let is_sign = name.ends_with("MARK") || name.ends_with("CAVEAT");
            is_sign.then(|| sign.trim_end_matches("\";"))
        });
        let mut signs: Vec<&str> = signs.filter(|sign| sign.chars().count() == 1).collect();
        signs.sort_unstable();
        assert!(signs.len() > 5 && signs.windows(2).all(|pair| pair[0] != pair[1]), "{signs:?}");
    }

    #[test]
    fn a_picture_says_how_many_marks_are_at_the_usual_frequency_only_if_some_are_not() {
        assert_eq!([of_marks(0, 7, "at 3 GHz"), of_marks(7, 7, "at 3 GHz")], ["", ""]);
        assert!(of_marks(1, 7, "at 3 GHz").starts_with(" Of its 7 marks 1 is at 3 GHz"));
        assert_eq!(of_marks(3, 7, "at 3 GHz"), " Of its 7 marks 3 are at 3 GHz; the others as observed.");
    }
}

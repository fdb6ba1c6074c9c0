//! The sign of figures that are stated at the run's usual frequency of the core, and not as they were observed; and the name of values at the
//! commonest time of the device.

use super::words;
use fathom_core::quantities;
use fathom_core::quantity::Unit;
use fathom_engine::results::{AtUsual, DeviceTime, PointAtDevice, PointResult, Results};

/// The sign behind the name of such a figure.
pub(super) const MARK: &str = "†";

/// The sign with its space, if the point's figure is at the usual frequency; else nothing.
pub(super) fn mark(point: &PointResult) -> String {
    if point.at_frequency.is_some() { format!(" {MARK}") } else { String::new() }
}

/// The meaning of the sign below a table; empty if no point has it.
pub(super) fn legend<'run>(points: impl IntoIterator<Item = &'run PointResult>) -> String {
    let moved = points.into_iter().find_map(|point| point.at_frequency.as_ref());
    moved.map_or_else(String::new, |moved| {
        let hz = quantities::frequency(moved.usual);
        format!(" {MARK}: at {hz}, the core's usual frequency; others as observed.")
    })
}

/// What a caption says of a picture of which some marks are at the usual frequency and others as observed; empty if all are alike.
pub(super) fn of_picture(points: &[&PointResult]) -> String {
    let all = || points.iter().filter_map(|point| point.at_frequency.as_ref());
    let moved = all().next();
    moved.map_or_else(String::new, |moved| {
        of_marks(all().count(), points.len(), &quantities::frequency(moved.usual))
    })
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

/// The name of a value at the commonest time of the device: `while a direct read takes 39.0 µs`.
pub(super) fn while_the_device(at: &PointAtDevice) -> String {
    format!("while a direct read takes {}", time(at.moved.usual))
}

/// The time of a direct read.
fn time(ns: f64) -> String {
    quantities::value(Unit::Nanoseconds, ns)
}

/// How many values there are at the commonest time of the device, and how it varied; `None` where there is none.
pub(super) fn of_device(results: &Results) -> Option<String> {
    let device = results.device_time?;
    let moved: Vec<&AtUsual> =
        results.points.iter().filter_map(|point| Some(&point.at_device.as_ref()?.moved)).collect();
    let read = |point: &&PointResult| point.waited_for_the_device;
    let waiting = results.points.iter().filter(read).count();
    let [usual, low, high] = [device.usual_ns, device.most_ns.low, device.most_ns.high].map(time);
    let modes = clusters(&device);
    (!moved.is_empty()).then(|| {
        format!(
            "Work that waits for the device reads 4 KiB of a small file directly just before and just after its observations: seven times each, \
             of which the medians count, and of these the geometric mean. Of both readings of {} trials eight in ten took {low} to {high}{modes}; what delayed them was not measured. \
             A quarter of them lie closest around {usual}, their commonest time; {} of all were slower than that by \
             more than 5 %. Of {} of such work {} the reads \
             visibly: the trials show what share of the cost does (analysis of covariance, Cochran 1957). Each has a second row with the value \
             that the line through its trials has at the commonest time, with what the share leaves open in its interval. The first row is of \
             all trials as they were observed, and everything that is said or computed rests on that. Reads like those readings follow them \
             nearly wholly, so their second rows agree with each other for that reason.",
            device.trials,
            quantities::percent(device.slower_share),
            words::plural(waiting, "value"),
            if moved.len() == 1 { "one follows".to_owned() } else { format!("{} follow", moved.len()) }
        )
    })
}

/// Around what several times readings cluster, with the share of each; empty of one.
fn clusters(device: &DeviceTime) -> String {
    let modes = device.modes.modes();
    if modes.len() < 2 {
        return String::new();
    }
    let each =
        modes.iter().map(|mode| format!("{} ({})", time(mode.centre), quantities::percent(mode.share)));
    format!(", clustered around {}", each.collect::<Vec<_>>().join(", "))
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
        assert!(signs.len() >= 5 && signs.windows(2).all(|pair| pair[0] != pair[1]), "{signs:?}");
    }

    #[test]
    fn a_picture_says_how_many_marks_are_at_the_usual_frequency_only_if_some_are_not() {
        assert_eq!([of_marks(0, 7, "3 GHz"), of_marks(7, 7, "3 GHz")], ["", ""]);
        assert!(of_marks(1, 7, "3 GHz").starts_with(" Of its 7 marks 1 is at 3 GHz"));
        assert_eq!(
            of_marks(3, 7, "3 GHz"),
            " Of its 7 marks 3 are at 3 GHz, the core's usual frequency; the others as observed."
        );
    }
}

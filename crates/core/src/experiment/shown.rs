//! Display of an experiment's results, and the levels of a hierarchy that a sweep shows.

use super::found::Found;
use super::known::Known;
use super::main_figure::MainFigure;
use super::point::{Parameter, Point};
use super::selector::{Landmark, octaves};
use crate::machine::Machine;
use crate::statistics::{Measured, OF_LEVEL};

/// A part of an experiment's question, and the points that answer it.
#[derive(Debug, Clone, Copy)]
pub struct Clause {
    /// What is asked, as a sentence that names it: `how much processor time a MiB takes`.
    pub question: &'static str,
    /// Whether a point answers it, on this machine.
    pub points: fn(&Point, &Machine) -> bool,
    /// Whether the answer has to be known at each distance of the run's two CPUs.
    pub is_of_each_distance: bool,
}

impl Clause {
    /// What these points answer.
    pub const fn of(question: &'static str, points: fn(&Point, &Machine) -> bool) -> Self {
        Clause { question, points, is_of_each_distance: false }
    }

    /// The answer at each distance of the two CPUs is told.
    #[must_use]
    pub const fn at_each_distance(self) -> Self {
        Clause { is_of_each_distance: true, ..self }
    }
}

/// Information for pages and charts about an experiment besides its points.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The figures that represent it on one page; if none is named, the first that was measured.
    pub main_figures: &'static [MainFigure],
    /// The parts of its question that a run may answer one without the other; none where it asks one thing.
    pub clauses: &'static [Clause],
    /// The limits that the machine declares along the parameters of the sweep.
    pub landmarks: fn(&Machine) -> Vec<Landmark>,
    /// The levels of a hierarchy found in the results; `None` if there are none.
    pub levels: fn(&Known) -> Option<Levels>,
    /// Whether the order of a point's observations is meaningful, so that they are plotted in order.
    pub in_order: fn(&Point) -> bool,
    /// The point of the same setting against which a point's result is plotted: the latency of a load against the bandwidth that
    /// other threads drew meanwhile.
    pub against: fn(&Point) -> Option<Point>,
    /// Two numbers of every point that are the row and the column of a matrix, such as two CPUs.
    pub matrix: Option<(&'static Parameter, &'static Parameter)>,
    /// The parameter by which tables also divide a result: the iterations of a loop.
    pub divided_by: Option<&'static str>,
}

impl Shown {
    /// Represented by these figures; no clauses, landmarks, levels, order or second axis.
    pub const fn by(main_figures: &'static [MainFigure]) -> Self {
        Shown {
            main_figures,
            clauses: &[],
            landmarks: |_| vec![],
            levels: |_| None,
            in_order: |_| false,
            against: |_| None,
            matrix: None,
            divided_by: None,
        }
    }

    /// Names the parts of the question.
    #[must_use]
    pub const fn clauses(self, clauses: &'static [Clause]) -> Self {
        Shown { clauses, ..self }
    }

    /// Adds the machine's declared limits.
    #[must_use]
    pub const fn landmarks(self, landmarks: fn(&Machine) -> Vec<Landmark>) -> Self {
        Shown { landmarks, ..self }
    }

    /// Adds the levels found in the results.
    #[must_use]
    pub const fn levels(self, levels: fn(&Known) -> Option<Levels>) -> Self {
        Shown { levels, ..self }
    }

    /// Plots observations in order.
    #[must_use]
    pub const fn in_order(self, in_order: fn(&Point) -> bool) -> Self {
        Shown { in_order, ..self }
    }

    /// Shows the results as a matrix of two numbers.
    #[must_use]
    pub const fn matrix(self, sides: (&'static Parameter, &'static Parameter)) -> Self {
        Shown { matrix: Some(sides), ..self }
    }

    /// Shows the results divided by a parameter as well.
    #[must_use]
    pub const fn divided_by(self, parameter: &'static str) -> Self {
        Shown { divided_by: Some(parameter), ..self }
    }

    /// Plots results against those of other points.
    #[must_use]
    pub const fn against(self, against: fn(&Point) -> Option<Point>) -> Self {
        Shown { against, ..self }
    }
}

/// The level that serves a range of settings in a sweep: a cache, or memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Its name: `L1`, `memory`.
    pub name: String,
    /// The setting from which it serves; `None` for the first.
    pub from: Option<f64>,
    /// The setting up to which it serves; `None` for the last.
    pub to: Option<f64>,
    /// That end as it was found, with its interval and the state of the core of the curve; `None` where it is too uncertain to be told.
    pub end: Option<Found>,
    /// The result that its flattest part has, in the unit of the curve.
    pub value: f64,
}

impl Level {
    /// Whether a result is one of this level: no further from what is typical of it than the end of a level may be.
    pub fn has(&self, value: f64) -> bool {
        let ratio = value / self.value;
        (1.0 / OF_LEVEL..=OF_LEVEL).contains(&ratio)
    }

    /// The setting that represents the level, of those of a curve with their results: of the level's own the one nearest, as a ratio, to
    /// that which limits declare to be within it; of two the smaller. `None` if none has a result that is of the level with its whole interval.
    pub fn representative(&self, declared: u64, curve: impl Iterator<Item = (u64, Measured)>) -> Option<u64> {
        let is_own = |result: &Measured| {
            self.has(result.value) && result.interval.is_none_or(|of| self.has(of.low) && self.has(of.high))
        };
        let own = curve.filter(|(_, result)| is_own(result)).map(|(setting, _)| setting);
        own.min_by(|one, other| {
            octaves(*one, declared).total_cmp(&octaves(*other, declared)).then(one.cmp(other))
        })
    }
}

/// The levels found in one curve of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// The points of the curve, without the parameter along it.
    pub of: Point,
    /// The parameter along the curve.
    pub along: &'static str,
    /// The levels found, in the order of the settings.
    pub levels: Vec<Level>,
    /// Levels that only another curve shows, as one on pages of another size.
    pub elsewhere: Vec<Level>,
}

impl Levels {
    /// The same, with those of another curve that this one does not show.
    #[must_use]
    pub fn beside(mut self, other: Levels) -> Self {
        for level in other.levels.into_iter().chain(other.elsewhere) {
            if self.named(&level.name).is_none() {
                self.elsewhere.push(level);
            }
        }
        self
    }

    /// The level of this name on whatever curve shows it.
    pub fn named(&self, name: &str) -> Option<&Level> {
        self.levels.iter().chain(&self.elsewhere).find(|level| level.name == name)
    }

    /// The level before this one, where a result of this one is in part of that: it certainly rises within the next doubling of its setting, and
    /// most of that is what the level before has less of, which holds a share of each setting. `None` where it is flat, or
    /// rises for another reason, as towards the next level.
    pub fn in_part_from(
        &self,
        level: &Level,
        at: u64,
        curve: impl Iterator<Item = (u64, Measured)>,
    ) -> Option<&Level> {
        let place = self.levels.iter().position(|own| own == level)?;
        let before = self.levels.get(place.checked_sub(1)?)?;
        let end = before.to.filter(|end| *end < at as f64)?;
        let mut doubling: Vec<(u64, Measured)> =
            curve.filter(|(setting, _)| (at..=at.saturating_mul(2)).contains(setting)).collect();
        doubling.sort_by_key(|(setting, _)| *setting);
        let ((first, own), (last, far)) = (*doubling.first()?, *doubling.last()?);
        let is_above = |one: &Measured, other: &Measured| {
            one.interval.zip(other.interval).is_some_and(|(one, other)| one.high < other.low)
        };
        let rises = doubling
            .iter()
            .enumerate()
            .any(|(place, (_, one))| doubling[place + 1..].iter().any(|(_, other)| is_above(one, other)));
        let alone = |setting: u64, result: f64| {
            let share = end / setting as f64;
            (result - share * before.value) / (1.0 - share)
        };
        let apart = |near: f64, far: f64| (far / near).ln().abs();
        let nearer = apart(alone(first, own.value), alone(last, far.value));
        let is_of_both = nearer < apart(own.value, far.value) / 2.0;
        (first == at && rises && is_of_both).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;

    #[test]
    fn a_level_is_represented_by_the_nearest_size_that_takes_its_time() {
        let level = Level { name: "L3".to_owned(), from: None, to: None, end: None, value: 17.0 };
        let exact = |(size, value): (u64, f64)| (size, Measured { value, interval: None });
        let chosen = |of_declared: f64| {
            let curve =
                [(256, 9.4), (768, 17.7), (896, 21.6), (1024, of_declared), (1280, 20.6), (4096, 140.0)];
            level.representative(1024, curve.into_iter().map(exact))
        };
        assert_eq!(chosen(18.0), Some(1024), "the size within the declared limits, where it shows the level");
        assert_eq!(chosen(59.4), Some(896), "no figure is three times what the sizes on both sides take");
        assert_eq!(level.representative(1024, [(1024, 59.4)].into_iter().map(exact)), None);
        let within =
            |high: f64| (1024, Measured { value: 18.0, interval: Some(Interval { low: 15.0, high }) });
        assert_eq!(level.representative(1024, [within(20.0)].into_iter()), Some(1024));
        assert_eq!(level.representative(1024, [within(150.0)].into_iter()), None, "it may be of memory");
    }

    /// Loads of a guest with 1 MiB of L2, of which 685 KiB are found, and no flat part behind it: 13.8 ns from 2 MiB are a third from L2.
    #[test]
    fn a_level_without_a_flat_part_is_in_part_the_level_before() {
        const KIB: u64 = 1 << 10;
        let level = |name: &str, from: Option<u64>, to: u64, value: f64| Level {
            name: name.to_owned(),
            from: from.map(|from| from as f64),
            to: Some(to as f64),
            end: None,
            value,
        };
        let [l1, l2, l3] = [
            level("L1", None, 34 * KIB, 1.08),
            level("L2", Some(34 * KIB), 685 * KIB, 3.8),
            level("L3", Some(685 * KIB), 8490 * KIB, 16.5),
        ];
        let levels = Levels {
            of: Point::new(),
            along: "size",
            levels: vec![l1, l2.clone(), l3.clone()],
            elsewhere: vec![],
        };
        let from = |level: &Level, at: u64, curve: &[(u64, f64)]| {
            let measured = curve.iter().map(|(size, value)| {
                let interval = Some(Interval { low: 0.97 * value, high: 1.03 * value });
                (size * KIB, Measured { value: *value, interval })
            });
            levels.in_part_from(level, at * KIB, measured).map(|before| before.name.clone())
        };
        let slope = [(2048, 13.8), (2560, 14.3), (3072, 15.0), (4096, 15.9), (8192, 23.0)];
        assert_eq!(from(&l3, 2048, &slope).as_deref(), Some("L2"));
        assert_eq!(from(&l3, 2048, &[(2048, 13.8), (3072, 13.9), (4096, 13.8)]), None, "flat");
        assert_eq!(from(&l3, 2048, &[(2048, 13.8), (4096, 40.0)]), None, "towards the next level");
        assert_eq!(from(&l2, 64, &[(64, 3.8), (96, 3.81), (128, 3.8)]), None, "flat");
    }
}

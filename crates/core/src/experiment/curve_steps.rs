//! The steps of a curve that intervals show.

use super::Found;

/// Where a curve rises and where it falls from one number to the next, as far as intervals show it, by the number that the step leads to.
pub struct CurveSteps {
    /// The numbers at which it rises.
    pub rises: Vec<u64>,
    /// The numbers at which it falls.
    pub falls: Vec<u64>,
    /// The number at which it rises most, and by how much; `None` unless that rise is one of those that show.
    pub steepest: Option<(u64, Found)>,
    /// Whether intervals show that it is larger than every other rise that shows.
    is_outstanding: bool,
}

impl CurveSteps {
    /// The steps of a curve; `None` if one is not judged, as one between unlike states of the core.
    pub fn of(curve: &[(u64, Found)]) -> Option<Self> {
        let (mut risen, mut falls) = (vec![], vec![]);
        let mut steepest: Option<(u64, Found)> = None;
        for (before, (number, after)) in curve.iter().map(|(_, before)| before).zip(curve.iter().skip(1)) {
            let step = after.minus(*before);
            if steepest.is_none_or(|(_, most)| step.value > most.value) {
                steepest = Some((*number, step));
            }
            if after.differs_in_one_core_state(before)? {
                if step.value > 0.0 {
                    risen.push((*number, step));
                } else {
                    falls.push(*number);
                }
            }
        }
        let rises: Vec<u64> = risen.iter().map(|(number, _)| *number).collect();
        let steepest = steepest.filter(|(number, _)| rises.contains(number));
        let is_outstanding = steepest.is_some_and(|(at, most)| {
            risen.iter().all(|(number, step)| *number == at || most.differs_from(step) == Some(true))
        });
        Some(CurveSteps { rises, falls, steepest, is_outstanding })
    }

    /// The largest rise, if no other that shows may be as large.
    pub fn outstanding(&self) -> Option<(u64, Found)> {
        self.steepest.filter(|_| self.is_outstanding)
    }

    /// Arguments by their numbers, in a sentence: `argument 3`, `arguments 1, 2 and 7`; nothing of none.
    pub fn arguments(numbers: &[u64]) -> String {
        let listed = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        match numbers {
            [] => String::new(),
            [one] => format!("argument {one}"),
            [others @ .., last] => format!("arguments {} and {last}", listed(others)),
        }
    }
}

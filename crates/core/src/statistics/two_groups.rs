//! Trials that fall into two groups far apart: the machine was in two states, and the median over all trials may be of neither.

/// The least factor between the nearest trials of the two groups.
const APART: f64 = 1.25;

/// The trials of the smaller group: one trial is an outlier, two are a state.
const LEAST: usize = 2;

/// The fewest trials that are divided: of five trials of one state, one in twenty-five is divided as below.
const FEWEST: usize = 6;

/// The trials from which a gap of twice the width of the wider group shows two states; below it has to be three times as wide.
/// Of ten thousand sets of trials of one state (normal, lognormal, exponential and uniform, six to fifteen trials), 0.1 to 4 in a
/// hundred were divided, most of them uniform ones.
const MANY: usize = 8;

/// The number of values in the lower of two groups, the values in ascending order; `None` if they form one group. Groups are judged by
/// ratios, so values that are not all above zero form one.
#[must_use]
pub fn two_groups(ascending: &[f64]) -> Option<usize> {
    let count = ascending.len();
    if count < FEWEST || ascending.first().is_none_or(|least| *least <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = ascending.iter().map(|value| value.ln()).collect();
    let gap = |place: usize| logs[place] - logs[place - 1];
    let place = (LEAST..=count - LEAST).max_by(|one, other| gap(*one).total_cmp(&gap(*other)))?;
    let wider = (logs[place - 1] - logs[0]).max(logs[count - 1] - logs[place]);
    let needed = if count < MANY { 3.0 } else { 2.0 };
    (gap(place) >= APART.ln() && gap(place) >= needed * wider).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_two_states_are_divided_and_those_of_one_are_not() {
        assert_eq!(two_groups(&[4.0, 4.1, 4.2, 34.0, 35.0, 36.0]), Some(3));
        assert_eq!(two_groups(&[7.3, 7.3, 7.4, 7.6, 55.0, 57.0]), Some(4));
        assert_eq!(two_groups(&[4.0, 4.1, 4.2, 4.3, 4.4, 35.0]), None, "one outlier");
        assert_eq!(two_groups(&[4.0, 4.0, 4.0, 4.8, 4.8, 4.8]), None, "a fifth apart");
        assert_eq!(two_groups(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]), None, "evenly scattered");
        assert_eq!(two_groups(&[4.0, 4.0, 35.0, 35.0]), None, "too few");
        assert_eq!(two_groups(&[0.0, 0.0, 0.0, 5.0, 5.0, 5.0]), None, "no ratio to zero");
    }
}

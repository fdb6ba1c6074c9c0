//! The modes of a figure's observations beside those of another: whether two medians differ in more than how often each mode was seen.

use super::modes::Mode;

/// The modes of one figure, of several the first three; the others are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModeList([Option<Mode>; 3]);

/// Two modes are of one level within this factor: modes of one figure are at least a factor of 1.25 apart, and what is nearer to one of them than
/// the middle between two is of that one.
const ONE_LEVEL: f64 = 1.118;

impl ModeList {
    /// The list of these modes, in their order.
    pub fn of(modes: &[Mode]) -> Self {
        let mut list = ModeList::default();
        for (place, mode) in list.0.iter_mut().zip(modes) {
            *place = Some(*mode);
        }
        list
    }

    /// Its modes, in their order.
    pub fn modes(&self) -> Vec<Mode> {
        self.0.iter().flatten().copied().collect()
    }

    /// Whether there are several.
    pub fn is_of_several(&self) -> bool {
        self.modes().len() > 1
    }

    /// Whether every level of the one is a level of the other as well, and one of them has several: then the medians differ at most because of how
    /// much of either was at each level, which a further run may show otherwise.
    pub fn has_the_levels_of(&self, other: &ModeList) -> bool {
        (self.is_of_several() || other.is_of_several()) && (self.is_within(other) || other.is_within(self))
    }

    /// Whether both have several levels, and the same.
    pub fn has_exactly_the_levels_of(&self, other: &ModeList) -> bool {
        self.is_of_several() && other.is_of_several() && self.is_within(other) && other.is_within(self)
    }

    fn is_within(&self, other: &ModeList) -> bool {
        let is_of = |one: &Mode, other: &Mode| are_of_one_level(one.centre, other.centre);
        !self.modes().is_empty()
            && self.modes().iter().all(|one| other.modes().iter().any(|other| is_of(one, other)))
    }
}

/// Whether two values are of one level.
pub fn are_of_one_level(one: f64, other: f64) -> bool {
    one > 0.0 && (other / ONE_LEVEL..=other * ONE_LEVEL).contains(&one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(modes: &[(f64, f64)]) -> ModeList {
        let modes: Vec<Mode> =
            modes.iter().map(|(centre, share)| Mode { centre: *centre, share: *share }).collect();
        ModeList::of(&modes)
    }

    #[test]
    fn figures_of_the_same_levels_differ_in_the_shares_alone() {
        // Appends to a device that takes 124 or 160 us: the slower was not met by one way.
        let (both, quick) = (list(&[(124.9, 0.68), (161.0, 0.32)]), list(&[(123.2, 1.0)]));
        assert!(both.has_the_levels_of(&quick) && quick.has_the_levels_of(&both));
        let socket = [list(&[(21.9, 0.25), (37.8, 0.67)]), list(&[(17.5, 0.36), (23.5, 0.42), (37.3, 0.23)])];
        assert!(socket[0].has_the_levels_of(&socket[1]));
    }

    #[test]
    fn figures_of_one_level_each_and_of_other_levels_differ_in_more() {
        let one = |centre| list(&[(centre, 1.0)]);
        assert!(!one(100.0).has_the_levels_of(&one(101.0)), "nothing but their intervals tells");
        assert!(!list(&[(100.0, 0.5), (130.0, 0.5)]).has_the_levels_of(&one(200.0)));
        assert!(!list(&[(100.0, 0.5), (130.0, 0.5)]).has_the_levels_of(&list(&[(200.0, 0.5), (260.0, 0.5)])));
        assert!(!ModeList::default().has_the_levels_of(&list(&[(100.0, 0.5), (130.0, 0.5)])), "unknown");
    }
}

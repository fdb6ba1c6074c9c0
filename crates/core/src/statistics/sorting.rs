//! Sorting by numbers. The standard sort is compiled anew for each type and each comparison, some seven kilobytes a time; these
//! sort positions, once.

/// Sorts numbers; those that are not numbers to the ends.
pub fn sort(numbers: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
}

/// Sorts items by a number of each. Items of equal numbers keep their order.
pub fn sort_by_number<T>(items: &mut [T], number: impl FnMut(&T) -> f64) {
    let numbers: Vec<f64> = items.iter().map(number).collect();
    let mut order = order(&numbers);
    for first in 0..items.len() {
        let mut place = first;
        loop {
            let from = std::mem::replace(&mut order[place], place);
            if from == first {
                break;
            }
            items.swap(place, from);
            place = from;
        }
    }
}

/// The positions of numbers in ascending order.
fn order(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted_as_the_standard_library_does(numbers in prop::collection::vec(-4..4_i8, 0..40)) {
            let mut items: Vec<(usize, i8)> = numbers.into_iter().enumerate().collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(_, number)| *number);
            sort_by_number(&mut items, |(_, number)| f64::from(*number));
            prop_assert_eq!(items, expected);
        }
    }
}

//! Sorting a few things for people. The standard sort is compiled anew for each type and each comparison, some nine kilobytes a
//! time; these sort positions, by code that is compiled once. Only numbers are many, and have the standard one.

use std::cmp::Ordering;

/// Sorts numbers; those that are not numbers to the ends.
pub fn numbers(numbers: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
}

/// Sorts items by a number of each. Equal ones keep their order, here and below.
pub fn by_number<T>(items: &mut [T], number: impl Fn(&T) -> f64) {
    by(items, |one, other| number(one).total_cmp(&number(other)));
}

/// Sorts items by a key of each.
pub fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |one, other| key(one).cmp(&key(other)));
}

/// Sorts items by comparing two of them.
pub fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = order(items.len(), &|one, other| compare(&items[one], &items[other]));
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

/// The positions below `count` in ascending order.
fn order(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_sorted_as_the_standard_library_does(numbers in prop::collection::vec(-4..4_i8, 0..40)) {
            let items: Vec<(usize, i8)> = numbers.into_iter().enumerate().collect();
            let (mut by_its_key, mut by_its_number, mut expected) = (items.clone(), items.clone(), items);
            expected.sort_by_key(|(_, number)| *number);
            by_key(&mut by_its_key, |(_, number)| *number);
            by_number(&mut by_its_number, |(_, number)| f64::from(*number));
            prop_assert_eq!(&by_its_key, &expected);
            prop_assert_eq!(by_its_number, expected);
        }
    }
}

//! Work on all CPUs side by side: lines of a run file, results of its points, files. Only where nothing is measured.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The threads that help now, of all calls: one call within another starts no more than CPUs are free.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// The CPUs on which this process may run.
pub fn width() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The result for each item, in their order.
pub fn map<'items, T: Sync, R: Send>(
    items: &'items [T],
    result: impl Fn(usize, &'items T) -> R + Sync,
) -> Vec<R> {
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    for_each(items.len(), &|index| {
        let made = result(index, &items[index]);
        *results[index].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(made);
    });
    results.into_iter().filter_map(|result| result.into_inner().ok().flatten()).collect()
}

/// Calls a function with each number below `count`. Where no thread can be started, this one does all.
fn for_each(count: usize, call: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            call(index);
        }
    };
    let helpers = Helpers::at_most(count.saturating_sub(1));
    thread::scope(|scope| {
        for _ in 0..helpers.0 {
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// Threads counted in [`HELPERS`] until they have ended.
struct Helpers(usize);

impl Helpers {
    fn at_most(count: usize) -> Self {
        let mut more = 0;
        let _ = HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |busy| {
            more = count.min((width() - 1).saturating_sub(busy));
            Some(busy + more)
        });
        Helpers(more)
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        HELPERS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_also_of_calls_within_calls() {
        let items: Vec<usize> = (0..50).collect();
        let sums =
            map(&items, |index, item| index + map(&items, |_, other| item * other).iter().sum::<usize>());
        assert_eq!(sums, items.iter().map(|item| item + item * 1225).collect::<Vec<_>>());
        assert!(map(&[(); 0], |index, ()| index).is_empty());
    }

    #[test]
    fn a_panic_reaches_the_caller_and_frees_the_helpers() {
        let one_fails = || map(&[(); 64], |index, ()| assert!(index != 63, "the last one fails"));
        assert!(std::panic::catch_unwind(one_fails).is_err());
        assert_eq!(map(&[1, 2], |_, number| number + 1), [2, 3]);
    }
}

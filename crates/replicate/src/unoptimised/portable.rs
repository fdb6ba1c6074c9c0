//! The same for other architectures: variables that the compiler must load and store each time.

use super::{Links, ROUNDS, STEP, UNROLLED};
use std::hint::black_box;

struct Variable<T>(T);

impl<T: Copy> Variable<T> {
    fn get(&self) -> T {
        // SAFETY: a reference is valid to be read.
        unsafe { (&raw const self.0).read_volatile() }
    }

    fn set(&mut self, value: T) {
        // SAFETY: an exclusive reference is valid to be written.
        unsafe { (&raw mut self.0).write_volatile(value) }
    }
}

/// `for (i = 0; i < 1000; i++);`
pub fn empty_loop() {
    rounds(|| ());
}

/// The same loop with one call of a procedure of so many arguments, at most seven.
pub fn call(arguments: usize) {
    rounds(|| call_once(arguments));
}

fn rounds(body: impl Fn()) {
    let mut counter = Variable(0_u64);
    while counter.get() < ROUNDS {
        body();
        counter.set(counter.get() + 1);
    }
}

/// One call with so many arguments, at most seven.
pub fn call_once(arguments: usize) {
    match arguments {
        0 => black_box(procedure::<0>)([]),
        1 => black_box(procedure::<1>)([1]),
        2 => black_box(procedure::<2>)([1, 2]),
        3 => black_box(procedure::<3>)([1, 2, 3]),
        4 => black_box(procedure::<4>)([1, 2, 3, 4]),
        5 => black_box(procedure::<5>)([1, 2, 3, 4, 5]),
        6 => black_box(procedure::<6>)([1, 2, 3, 4, 5, 6]),
        _ => black_box(procedure::<7>)([1, 2, 3, 4, 5, 6, 7]),
    }
}

#[inline(never)]
fn procedure<const K: usize>(arguments: [i32; K]) {
    black_box(&arguments);
}

/// `for (i = 0; i < loads; i++) index = links[index];` and the index at which it ends.
pub fn follow(links: &Links, loads: u32) -> i32 {
    let links = links.array();
    let (mut index, mut counter) = (Variable(0_i32), Variable(0_u32));
    while counter.get() < loads {
        index.set(links[index.get() as usize]);
        counter.set(counter.get() + 1);
    }
    index.get()
}

/// `for (i = 0; i < n; i += 16) sum += array[i];` and the sum.
pub fn read_lines(array: &[i32]) -> i32 {
    let (mut index, mut sum) = (Variable(0_usize), Variable(0_i32));
    while index.get() < array.len() {
        sum.set(sum.get() + array[index.get()]);
        index.set(index.get() + STEP);
    }
    sum.get()
}

/// The same for whole steps of 256 lines.
pub fn read_lines_unrolled(array: &[i32]) -> i32 {
    read_lines(&array[..array.len() - array.len() % (STEP * UNROLLED)])
}

/// `for (i = 0; i < n; i += 16) array[i] = 7;`
pub fn write_lines(array: &mut [i32]) {
    let mut index = Variable(0_usize);
    while index.get() < array.len() {
        array[index.get()] = 7;
        index.set(index.get() + STEP);
    }
    black_box(array);
}

/// The same for whole steps of 256 lines.
pub fn write_lines_unrolled(array: &mut [i32]) {
    let whole = array.len() - array.len() % (STEP * UNROLLED);
    write_lines(&mut array[..whole]);
}

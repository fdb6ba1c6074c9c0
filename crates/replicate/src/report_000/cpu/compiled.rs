//! The same loops for architectures without the assembly: compiled, with every variable forced through memory.

use core::hint::black_box;
use core::ptr::{read_volatile, write_volatile};

/// Runs a loop whose counter is in memory.
fn counted(n: u64, mut body: impl FnMut()) {
    let (mut counter, limit) = (0_u64, n);
    // SAFETY: both are locals, aligned and initialised.
    unsafe {
        while read_volatile(&raw const counter) < read_volatile(&raw const limit) {
            body();
            let next = read_volatile(&raw const counter) + 1;
            write_volatile(&raw mut counter, next);
        }
    }
}

/// Calls a procedure of up to seven arguments `n` times, and returns the last sum of its arguments.
pub fn calls(arguments: usize, n: u64) -> u64 {
    let mut sum = 0;
    counted(n, || sum = u64::from(called(arguments)));
    sum
}

fn called(arguments: usize) -> u32 {
    match arguments {
        0 => none(),
        1 => one(1),
        2 => two(1, 2),
        3 => three(1, 2, 3),
        4 => four(1, 2, 3, 4),
        5 => five(1, 2, 3, 4, 5),
        6 => six(1, 2, 3, 4, 5, 6),
        _ => seven(1, 2, 3, 4, 5, 6, 7),
    }
}

macro_rules! procedures {
    ($($name:ident($($argument:ident),*);)*) => { $(
        #[inline(never)]
        #[allow(clippy::too_many_arguments, reason = "at most seven arguments are measured")]
        fn $name($($argument: u32),*) -> u32 {
            0 $(+ black_box($argument))*
        }
    )* };
}
procedures! {
    none(); one(a); two(a, b); three(a, b, c); four(a, b, c, d); five(a, b, c, d, e); six(a, b, c, d, e, f);
    seven(a, b, c, d, e, f, g);
}

pub fn empty(n: u64) {
    counted(n, || ());
}

/// Runs a loop that stores through a pointer.
pub fn store(n: u64) {
    let mut number = 0_u32;
    let pointer = black_box(&raw mut number);
    // SAFETY: the pointer is that of a local.
    counted(n, || unsafe { write_volatile(pointer, 1) });
}

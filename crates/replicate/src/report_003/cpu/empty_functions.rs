//! Functions with 0 to 7 integer arguments and empty bodies, as a compiler writes them without optimisation: they store the
//! arguments that came in registers into the frame and do nothing with them. The seventh argument is on the stack already.

#[cfg(target_arch = "x86_64")]
use crate::unoptimised::store_arguments;
#[cfg(target_arch = "x86_64")]
use core::arch::global_asm;

// SAFETY: they read their arguments and store them into their own frame.
#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    pub safe fn fathom_empty_0();
    pub safe fn fathom_empty_1(a: i32);
    pub safe fn fathom_empty_2(a: i32, b: i32);
    pub safe fn fathom_empty_3(a: i32, b: i32, c: i32);
    pub safe fn fathom_empty_4(a: i32, b: i32, c: i32, d: i32);
    pub safe fn fathom_empty_5(a: i32, b: i32, c: i32, d: i32, e: i32);
    pub safe fn fathom_empty_6(a: i32, b: i32, c: i32, d: i32, e: i32, f: i32);
    pub safe fn fathom_empty_7(a: i32, b: i32, c: i32, d: i32, e: i32, f: i32, g: i32);
}

// The stores lie in the red zone below the stack pointer, which the ABI reserves for a function that calls no other.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".macro fathom_empty k",
    ".global fathom_empty_\\k",
    "fathom_empty_\\k:",
    store_arguments!(),
    "pop rbp",
    "ret",
    ".endm",
    ".text",
    ".irp k, 0, 1, 2, 3, 4, 5, 6, 7",
    "fathom_empty \\k",
    ".endr",
    ".purgem fathom_empty",
);

/// On other architectures the Rust compiler writes them.
#[cfg(not(target_arch = "x86_64"))]
mod compiled {
    macro_rules! empty {
        ($name:ident $(, $argument:ident)*) => {
            #[inline(never)]
            pub extern "C" fn $name($($argument: i32),*) {
                $(std::hint::black_box(&$argument);)*
            }
        };
    }
    empty!(fathom_empty_0);
    empty!(fathom_empty_1, a);
    empty!(fathom_empty_2, a, b);
    empty!(fathom_empty_3, a, b, c);
    empty!(fathom_empty_4, a, b, c, d);
    empty!(fathom_empty_5, a, b, c, d, e);
    empty!(fathom_empty_6, a, b, c, d, e, f);
    empty!(fathom_empty_7, a, b, c, d, e, f, g);
}
#[cfg(not(target_arch = "x86_64"))]
pub use compiled::*;

//! The loops of calls that `procedure_call` times: written in assembly so that it is known what runs, and listed in a
//! table of addresses so that they can be disassembled where they stand.
//!
//! A loop around one call could not be subtracted from it: what the processor does beside a dependent chain costs
//! nothing there, and a whole cycle alone. Sixteen calls per iteration make it too small to matter.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::experiments::listing;

#[cfg(target_arch = "aarch64")]
pub use aarch64::ARGUMENT_REGISTERS;
#[cfg(target_arch = "x86_64")]
pub use x86_64::ARGUMENT_REGISTERS;

/// One loop of calls, and where its code stands; laid out as the assembly of each architecture writes it.
#[repr(C)]
pub struct Kernel {
    run: extern "C" fn(u64) -> u64,
    call: [*const u8; 2],
    callee: [*const u8; 2],
}

// SAFETY: addresses of code, which never changes.
unsafe impl Sync for Kernel {}

/// Calls in one iteration of the loop; the assembly repeats as often.
pub const CALLS: u64 = 16;

impl Kernel {
    /// Goes round `n` times, at least once, and returns the last sum.
    pub fn run(&self, n: u64) -> u64 {
        (self.run)(n.max(1))
    }

    /// The instructions of one of `calls` calls, on both sides, by disassembly; not whole where they are not all alike.
    pub fn instructions(&self, calls: u64) -> Option<f64> {
        let count = |[start, end]: [*const u8; 2]| Some(listing::instructions(start, end)? as f64);
        Some(count(self.call)? / calls as f64 + count(self.callee)?)
    }
}

/// The kernel of a form (abi, chained, indirect, spilled, single) and a number of arguments up to seven.
pub fn kernel(form: usize, arguments: usize) -> &'static Kernel {
    &fathom_calls[arguments.min(7)][form.min(4)]
}

unsafe extern "C" {
    safe static fathom_calls: [[Kernel; 5]; 8];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_calls_as_often_as_asked_and_adds_its_arguments() {
        for arguments in 0..8 {
            let sum = (arguments * (arguments + 1) / 2) as u64;
            for form in [0, 2, 3, 4] {
                assert_eq!(kernel(form, arguments).run(3), sum, "form {form}, {arguments} arguments");
            }
        }
        assert_eq!(
            kernel(1, 3).run(1000),
            5 * 1000 * CALLS,
            "chained: 2 + 3 added to the last result each time"
        );
    }
}

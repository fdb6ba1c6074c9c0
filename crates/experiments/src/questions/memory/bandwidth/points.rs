//! Points of `memory/bandwidth`: a kernel, and the size of its arrays.

use crate::apparatus::memory::stream::kernel::Kernel;
use crate::apparatus::memory::stream::working_set::{LEVEL, Level, SIZE};
use fathom_core::experiment::{Parameter, Point, Scale};

/// Parameter: the operation on the arrays.
pub const KIND: Parameter = Parameter {
    name: "kind",
    meaning: "read (and add up), write, copy, scale (a = s b) or triad (a = b + s c)",
    scale: Scale::Name,
};
/// Parameter: the method of the operation.
pub const METHOD: Parameter =
    Parameter { name: "method", meaning: "the instructions or the function", scale: Scale::Name };

/// The point of a kernel with arrays of this size, which belongs to the level.
pub fn point(kernel: &Kernel, (level, size): (Level, u64)) -> Point {
    Point::new()
        .named(&KIND, kernel.kind.name())
        .named(&METHOD, kernel.method)
        .named(&LEVEL, level.name())
        .with(&SIZE, size)
}

/// The kernel of a point.
pub fn kernel_of(point: &Point) -> Result<&'static Kernel, String> {
    Kernel::find(point.name(&KIND), point.name(&METHOD)).ok_or_else(|| {
        format!("this architecture has no kernel `{}` by `{}`", point.name(&KIND), point.name(&METHOD))
    })
}

//! A point: a kernel, and the size of its arrays.

use crate::experiment::{Parameter, Point, Scale};
use crate::experiments::memory::stream::kernel::Kernel;
use crate::experiments::memory::stream::working_set::{LEVEL, Level, SIZE};

/// What is done to the arrays.
pub const KIND: Parameter = Parameter {
    name: "kind",
    meaning: "read (and add up), write, copy, scale (a = s b) or triad (a = b + s c)",
    scale: Scale::Name,
};
/// By which means.
pub const METHOD: Parameter =
    Parameter { name: "method", meaning: "the instructions or the function", scale: Scale::Name };

/// A kernel with arrays of this size, which is that of a level.
pub fn point(kernel: &Kernel, (level, size): (Level, u64)) -> Point {
    Point::new()
        .named(&KIND, kernel.kind.name())
        .named(&METHOD, kernel.method)
        .named(&LEVEL, level.name())
        .with(&SIZE, size)
}

/// The kernel that a point names.
pub fn kernel_of(point: &Point) -> Result<&'static Kernel, String> {
    Kernel::find(point.name(&KIND), point.name(&METHOD)).ok_or_else(|| {
        format!("this architecture has no kernel `{}` by `{}`", point.name(&KIND), point.name(&METHOD))
    })
}

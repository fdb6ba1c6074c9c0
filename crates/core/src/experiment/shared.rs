//! Equipment shared by the points of a block: created by the first of them that requests it, dropped after the last.

use super::failure::Failure;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Equipment of a trial's process, one of each type.
pub struct Shared {
    values: RefCell<Vec<Rc<dyn Any>>>,
    now_ns: fn() -> u64,
    took_ns: Cell<u64>,
    /// The part of the time that later processes need not spend, nanoseconds.
    kept_ns: Cell<u64>,
    /// The longest time in which a file may be made, seconds.
    making_s: Cell<f64>,
}

impl Shared {
    /// Without equipment yet; `now_ns` is the clock that times its preparation, in nanoseconds.
    pub fn new(now_ns: fn() -> u64) -> Self {
        let (took_ns, kept_ns, making_s) = (Cell::new(0), Cell::new(0), Cell::new(f64::INFINITY));
        Shared { values: RefCell::default(), now_ns, took_ns, kept_ns, making_s }
    }

    /// Limits the time in which the next visit may make a file.
    pub fn limit_making(&self, seconds: f64) {
        self.making_s.set(seconds);
    }

    /// The longest time in which a file may be made, seconds.
    pub fn making_s(&self) -> f64 {
        self.making_s.get()
    }

    /// The time of the clock by which preparations are timed, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        (self.now_ns)()
    }

    /// Adds to the time spent on what later processes of the run use too.
    pub fn spent_on_kept(&self, ns: u64) {
        self.kept_ns.set(self.kept_ns.get() + ns);
    }

    /// The time spent on it so far, nanoseconds.
    pub fn kept_ns(&self) -> u64 {
        self.kept_ns.get()
    }

    /// The equipment of this type; `make` prepares it for the first point that requests it. The points of a block must all need
    /// the same, or the difference must be part of the block's name.
    pub fn get_or_make<T: 'static>(
        &self,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Rc<T>, Failure> {
        let existing = self.values.borrow().iter().find_map(|value| Rc::clone(value).downcast::<T>().ok());
        if let Some(existing) = existing {
            return Ok(existing);
        }
        let (began, nested) = ((self.now_ns)(), self.kept_ns.get());
        let value = Rc::new(make()?);
        let took = (self.now_ns)().saturating_sub(began).saturating_sub(self.kept_ns.get() - nested);
        self.took_ns.set(self.took_ns.get() + took);
        self.values.borrow_mut().push(Rc::clone(&value) as Rc<dyn Any>);
        Ok(value)
    }

    /// Whether there is equipment of this type.
    pub fn has<T: 'static>(&self) -> bool {
        self.values.borrow().iter().any(|value| value.is::<T>())
    }

    /// Adds equipment that took this time, in nanoseconds, unless there is some of its type.
    pub fn make_once<T: 'static>(&self, value: T, took_ns: u64) {
        if !self.has::<T>() {
            self.took_ns.set(self.took_ns.get() + took_ns);
            self.values.borrow_mut().push(Rc::new(value));
        }
    }

    /// Time to prepare all equipment so far, nanoseconds: the cost of a block in addition to its points, without what later
    /// processes use too.
    pub fn took_ns(&self) -> u64 {
        self.took_ns.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equipment_is_made_once_a_type_and_a_failure_keeps_nothing() {
        let shared = Shared::new(|| 0);
        assert!(shared.get_or_make::<u32>(|| Err(Failure::Broke("not yet".into()))).is_err());
        let one = shared.get_or_make(|| Ok(7_u32)).unwrap();
        let again = shared.get_or_make(|| Ok(8_u32)).unwrap();
        let other = shared.get_or_make(|| Ok("seven")).unwrap();
        assert_eq!((*one, *again, *other), (7, 7, "seven"));
    }
}

//! Measuring around work of this program: did the host hold still while it ran?

use super::error::Error;
use super::operation::FAMILY;
use super::session::Session;
use crate::around::{AroundSettings, AroundWork, Surroundings};
use crate::plan::SetMember;
use fathom_core::experiment::{Experiment, Selector, registry};

impl Session {
    /// Does the work once, between two measurements of the host of some five seconds each, and returns its result with what
    /// was seen: the verdict on each dimension and on the host.
    ///
    /// The operations of this program are anchors, and every experiment that it has registered before
    /// [`child_main`](super::child_main): with `fathom::experiments::register()` the dozen of `fathom around`, from system calls to
    /// `fsync` in the [folder](Self::folder). Without any the frequency of the core, whether it was shared, and the counters of
    /// the kernel remain.
    ///
    /// Fails if nothing can be measured, or if another program measures with Fathom; the work is then not done.
    pub fn around<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Surroundings), Error> {
        let lock = self.lock()?;
        let around = AroundWork::begin(self.settings())?;
        let result = work();
        let surroundings = around.end(false)?;
        drop(lock);
        Ok((result, surroundings))
    }

    /// The same for work in parts, such as the iterations of a benchmark: the host is measured between two of them as well.
    /// Each pause takes some three seconds.
    pub fn around_parts<T>(
        &self,
        parts: impl IntoIterator<Item = T>,
        mut work: impl FnMut(T),
    ) -> Result<Surroundings, Error> {
        let lock = self.lock()?;
        let mut around = AroundWork::begin(self.settings())?;
        for (place, part) in parts.into_iter().enumerate() {
            if place > 0 && !around.pause()? {
                break;
            }
            work(part);
        }
        let surroundings = around.end(false)?;
        drop(lock);
        Ok(surroundings)
    }

    fn settings(&self) -> AroundSettings {
        let mut settings = AroundSettings::of(self.options.folder.clone());
        settings.cpu = self.options.cpu;
        settings.seed = self.options.seed;
        settings.run_file.clone_from(&self.run_file);
        settings.own = own();
        settings
    }
}

/// The operations of this program as anchors.
fn own() -> Vec<SetMember> {
    let name = |experiment: &'static dyn Experiment| experiment.about().name;
    let mine = registry::all().map(name).filter(|name| name.starts_with(FAMILY));
    let named =
        |name: &'static str| Some((name.strip_prefix(FAMILY)?.strip_prefix('/')?, Selector::of(name, &[])));
    mine.filter_map(named).collect()
}

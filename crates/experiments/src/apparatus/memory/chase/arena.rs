//! Memory in which cycles are laid out one after the other: the points of a block map it once.

use crate::apparatus::memory::backing::Backing;
use crate::apparatus::memory::pages::{Mapping, Pages};
use fathom_core::experiment::{Failure, Site};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

/// Memory on pages of one kind.
pub struct Arena {
    mapping: Mapping,
    pages: Pages,
    /// The pages behind it.
    pub backing: Backing,
}

/// The block's arena, if it exists already.
#[derive(Default)]
struct BlockArena(RefCell<Option<Rc<Arena>>>);

impl Arena {
    /// At least `bytes` of memory on pages of this kind.
    pub fn new(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        let (mapping, backing) = Mapping::resident(bytes, pages)?;
        Ok(Arena { mapping, pages, backing })
    }

    /// Memory of which nobody asked the kernel what is behind it: base pages, as far as a test is concerned.
    #[cfg(test)]
    pub(crate) fn unasked(bytes: usize) -> Self {
        let mapping = Mapping::untouched(bytes, Pages::Base).expect("memory");
        let mapped = mapping.bytes() as u64;
        Arena { mapping, pages: Pages::Base, backing: Backing { mapped, resident: mapped, huge: 0 } }
    }

    /// Base pages of which neighbours in addresses are not neighbours in memory ([`Mapping::scattered`]).
    fn scattered(bytes: usize, seed: u64) -> Result<Self, Failure> {
        let (mapping, backing) = Mapping::scattered(bytes, seed)?;
        Ok(Arena { mapping, pages: Pages::Base, backing })
    }

    /// The block's arena if it is large enough, else a larger one in its place: there is never more memory than the block's
    /// largest point needs.
    pub fn of_block(site: &Site, bytes: usize, pages: Pages) -> Result<Rc<Self>, Failure> {
        Arena::shared(site, bytes, pages, || Arena::new(bytes, pages))
    }

    /// As [`Arena::of_block`], on scattered base pages, for a block whose points all have such.
    pub fn scattered_of_block(site: &Site, bytes: usize) -> Result<Rc<Self>, Failure> {
        Arena::shared(site, bytes, Pages::Base, || Arena::scattered(bytes, site.seed))
    }

    fn shared(
        site: &Site,
        bytes: usize,
        pages: Pages,
        new: impl FnOnce() -> Result<Self, Failure>,
    ) -> Result<Rc<Self>, Failure> {
        let block = site.shared.get_or_make(|| Ok(BlockArena::default()))?;
        let mut current = block.0.borrow_mut();
        let fits = |arena: &&Rc<Arena>| arena.pages == pages && arena.mapping.bytes() >= bytes;
        if let Some(arena) = current.as_ref().filter(fits) {
            return Ok(Rc::clone(arena));
        }
        // The smaller one is freed first: memory was requested for one point, not for two.
        *current = None;
        let arena = Rc::new(new()?);
        *current = Some(Rc::clone(&arena));
        Ok(arena)
    }

    /// Its first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.mapping.start()
    }
}

//! Processes that pass a turn around a ring of pipes; each sums a working set on its turn (lmbench's `lat_ctx`).

use fathom_core::prelude::*;
use fathom_core::sampling::partner::{self, PartnerProcess};
use fathom_core::sampling::turn::{self, AnyEnd};

/// A ring in which this process is one member.
pub struct Ring {
    links: Vec<AnyEnd>,
    sets: Vec<WorkingSet>,
    _others: Vec<PartnerProcess>,
}

impl Ring {
    /// Starts the other members, one process each, on the same CPU.
    pub fn start(members: usize, bytes: usize, site: &Site) -> Result<Self, Failure> {
        // A woken member must wait its turn. Otherwise it preempts the member that woke it, which then runs again only to fall
        // asleep: a hand-over would cost more than one switch, as the kernel's counts show.
        partner::without_preemption()?;
        let (mine, rest) = turn::ring_of_pipes(members)?;
        let mut others = vec![];
        for mut link in rest {
            let mut set = WorkingSet::new(bytes, site);
            others.push(PartnerProcess::start(site.partner, move || {
                set.touch()?;
                loop {
                    link.wait()?;
                    set.touch()?;
                    link.give()?;
                }
            })?);
        }
        Ok(Ring { links: vec![mine], sets: vec![WorkingSet::new(bytes, site)], _others: others })
    }

    /// The same work in this process alone: the same number of pipes and working sets, without switches.
    pub fn alone(members: usize, bytes: usize, site: &Site) -> Result<Self, Failure> {
        let links = (0..members).map(|_| turn::pipe_to_self()).collect::<Result<Vec<_>, _>>()?;
        let sets = (0..members).map(|_| WorkingSet::new(bytes, site)).collect();
        Ok(Ring { links, sets, _others: vec![] })
    }

    /// Passes the turn around the ring `n` times.
    pub fn pass(&mut self, n: u64) -> Result<(), Failure> {
        for _ in 0..n {
            for (link, set) in self.links.iter_mut().zip(&mut self.sets) {
                link.give()?;
                link.wait()?;
                set.touch()?;
            }
        }
        Ok(())
    }
}

/// Memory that is summed at every turn; filled with ones, so that no page is the shared zero page (R-MEM-06).
struct WorkingSet {
    words: Vec<u64>,
    from: usize,
}

impl WorkingSet {
    fn new(bytes: usize, site: &Site) -> Self {
        let from = if bytes == 0 { 0 } else { site.buffer_offset / 8 };
        WorkingSet { words: vec![1; from + bytes / 8], from }
    }

    fn touch(&mut self) -> Result<(), Failure> {
        let set = std::hint::black_box(&self.words[self.from..]);
        ensure(set.iter().sum::<u64>() == set.len() as u64, "a working set lost its contents")
    }
}

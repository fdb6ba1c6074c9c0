//! What a point does to the machine as a whole, beside using processor time: said before a run begins, so that whoever is
//! responsible for the machine can decide. What a [`Requirement`](super::Requirement) says already is not said twice.

/// Something that other programs of the machine could notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A file of this many bytes in the run's folder.
    File(u64),
    /// This many processes that read a file of this many bytes each.
    Files(u64, u64),
    /// Small files and folders, made and removed in the run's folder.
    Names,
    /// Connections and datagrams on loopback, or to the peer.
    Sockets,
    /// Processes under `SCHED_BATCH`.
    BatchPolicy,
    /// Work on every CPU at once.
    EveryCpu,
    /// A control group with a quota of processor time, for processes of the trial.
    QuotaGroup,
    /// Up to this many bytes of memory that nothing uses are filled with pages of a file, and freed at once.
    UnusedMemory(u64),
    /// The page cache of the whole machine is dropped, where the run is root's and the server is this machine.
    DropCaches,
}

//! The peer: who is let in, who is not, what it leaves behind, and what a run does when it is gone.

#[path = "../described/mod.rs"]
mod described;

mod callers;
mod impostors;
mod process;
mod relays;
mod reports;
mod runs;
mod server;
mod ssh;

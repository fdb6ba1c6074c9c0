//! Memory that is allocated, walked, streamed and faulted in.

pub mod backing;
pub mod chase;
pub mod fault;
pub mod pages;
pub mod stream;

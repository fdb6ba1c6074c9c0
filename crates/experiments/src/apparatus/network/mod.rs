//! Both sides of a conversation, and the account of what they moved.

pub(crate) mod account;
pub(crate) mod acknowledged;
pub(crate) mod arrival_rate;
pub(crate) mod caller;
pub(crate) mod conversation;
pub mod datagrams;
pub(crate) mod open_loop;
pub(crate) mod path;
pub(crate) mod sending;

pub(crate) mod tcp_info;
pub(crate) mod transfer;

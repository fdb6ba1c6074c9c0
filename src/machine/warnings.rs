//! Warnings.
/// W.
pub struct Warning;

//! D.
/// S
pub struct Section;
/// R
pub struct Row;

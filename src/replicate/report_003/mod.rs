//! Report 003.

use super::Report;

/// The report.
pub const REPORT: Report = Report { id: "003", machine: "", title: "", methodology: "", rows: &[] };

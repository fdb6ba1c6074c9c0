//! Report 002.

use super::Report;

/// The report.
pub const REPORT: Report = Report { id: "002", machine: "", title: "", methodology: "", rows: &[] };

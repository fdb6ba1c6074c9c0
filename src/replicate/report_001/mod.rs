//! Report 001.

use super::Report;

/// The report.
pub const REPORT: Report = Report { id: "001", machine: "", title: "", methodology: "", rows: &[] };

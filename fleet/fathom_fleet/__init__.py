"""Run files of many machines in one data set, and the slow hosts among them. See docs/fleet.md."""

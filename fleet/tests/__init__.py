"""Tests of fathom-fleet. FATHOM names the program (default: fathom)."""

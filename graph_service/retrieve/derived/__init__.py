"""Answers that follow from several statements, or from what qualifies one."""

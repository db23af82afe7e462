"""robustness: frozen sets of questions and perturbed views."""

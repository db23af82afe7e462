"""The methods of perturbation that change edges one by one, and a person's own changes."""

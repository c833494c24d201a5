"""Functions in closed form: polynomials and sums of kernels, by weighted least squares."""

"""What a model is fitted to be good at: the risks, and distances between representations."""

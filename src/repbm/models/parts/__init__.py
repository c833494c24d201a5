"""What a model has besides dynamics: reward, termination, saturation, noise."""

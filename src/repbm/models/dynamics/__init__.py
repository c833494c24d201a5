"""What follows a state and an action: kinds of dynamics, their fits, and the choice between them."""

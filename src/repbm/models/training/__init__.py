"""Networks, the batches they see, and the one loop that trains them."""

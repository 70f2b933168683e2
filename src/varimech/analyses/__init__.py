"""What a mechanism is asked by itself: places of rest, motions, derivatives."""

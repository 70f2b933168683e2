"""Elements, one file each: bodies, joints, forces and drivers, and what they are written with."""

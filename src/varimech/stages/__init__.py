"""Systems of equations that are solved stage by stage, with their exact derivatives. Independent of
mechanisms and of time.
"""

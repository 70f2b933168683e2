"""Systems of equations solved stage by stage, with their exact derivatives. Independent of
mechanisms and of time.
"""

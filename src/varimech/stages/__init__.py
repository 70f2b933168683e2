"""Systems of equations solved stage by stage, with their exact derivatives. Knows neither
mechanisms nor time.
"""

"""How fast Saltus is, measured beside its peers in one process; `saltus bench` runs it."""

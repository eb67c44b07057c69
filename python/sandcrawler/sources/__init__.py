"""Where records and requests come from. `registry` has every source by its name."""

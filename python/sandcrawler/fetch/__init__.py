"""URL → Capture: hops, pacing, address guard, limits. Back ends stand behind `base.Fetcher`; `live` asks the web."""

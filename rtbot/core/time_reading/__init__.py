"""Times as texts of many forms, and as local times of a zone."""

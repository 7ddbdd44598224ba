"""Users, groups, policies, key pairs and external principals: the rules around their store."""

// Whoever tests with processes and buses needs both.
@_exported public import BusBench

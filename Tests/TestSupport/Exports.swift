// Tests with processes and buses need both modules.
@_exported public import BusBench

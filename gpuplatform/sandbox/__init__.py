"""The real Pulumi engine over simulated clouds: no cloud account, no credential, nothing spent.

    session          up, preview, refresh, destroy as one call each; runs the user's own commands
    shim             the `pulumi` that a command inside the sandbox finds on its PATH
    stack_config     the sandbox's copy of a stack's configuration file
    environment      the variables such a command sees, and those it must not see
    workspace        where the project, the sandbox's data and the cache are
    language_host    runs Python programs and policy packs for the engine
    program          the child process in which one of them runs
    events           what an operation did, from the engine's event log
    engine           finds the engine, or gets one: engine_download, engine_build
    cloud            the simulated clouds

Importing this package imports none of them.
"""

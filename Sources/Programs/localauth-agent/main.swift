import ServiceProgram
import Windows

let program = ServiceProgram(
    name: "localauth-agent",
    abstract: "Shows the prompts of this session in windows.",
    options: [
        .flag("resident", help: "Stay, also when nothing is asked."),
        .flag("fallback", help: "Only while no other agent is there."),
    ]
)

#if Prompt
program.main(running: GLibLoop.run) { connection, arguments in
    try await AgentRun.start(connection, arguments)
}
#else
program.main { _, _ in
    throw StartError("built without windows: GTK 4 and libadwaita were missing")
}
#endif

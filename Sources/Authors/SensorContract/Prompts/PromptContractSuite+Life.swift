import BusBench
import DBus
import Glibc
import LocalAuthBus

extension PromptContractSuite {
    /// Checks of start, registration and exit.
    static let lifeChecks = [
        PromptCheck(
            "The prompt starts before the service and registers when the service starts",
            .asking("starts whether or not the service is there")
        ) { bench in
            bench.leave()
            bench.program.signal(SIGKILL)
            _ = try await bench.program.exitStatus()
            try bench.startAgain()
            try await bench.replaceService()
            try await bench.meet()
            try await expectGoesOn(bench)
        },
        PromptCheck(
            "After a restart of the service the prompt registers again and removes old prompts",
            .returns
        ) { bench in
            _ = try await bench.begin()
            try await bench.act(.begin("half"))
            bench.leave()
            try await bench.replaceService()
            try await bench.meet()
            await bench.settle()
            try await bench.actInVain(.type("late"))
            try await expectGoesOn(bench)
        },
        PromptCheck(
            "The prompt registers with a new owner of the name and ignores the old owner",
            .ownerOnly
        ) { bench in
            let (old, handle) = (bench.service, try await bench.begin())
            let proxy = try old.proxy()
            old.connection.releaseName(Authentication1.busName)
            try await bench.replaceService()
            try await bench.meet()
            try await expectError(.accessDenied, of: "the old service's Update") {
                let detail = ["attempts-left": Variant.uint32(1)]
                let limit = bench.limit
                try await proxy.update(
                    prompt: handle,
                    kind: "no-match",
                    detail: detail,
                    timeout: limit
                )
            }
            try await expectGoesOn(bench)
        },
        PromptCheck(
            "After a refusal the prompt retries at most once a second",
            .asking("A prompt asks a service that refused at most once a second")
        ) { bench in
            let start = ContinuousClock.now
            bench.leave()
            try await bench.replaceService()
            let error = DBusError("org.localauth.Error.AgentExists", "There is one.")
            bench.service.refusal = error
            _ = try await bench.service.acts.first("a registration", within: .seconds(20)) {
                $0 == .registered
            }
            await pause(.milliseconds(1500))
            let count = bench.service.acts.seen.count { $0 == .registered }
            // On a busy machine the pause takes longer.
            let seconds = Int((ContinuousClock.now - start).components.seconds)
            try expect(count <= seconds + 3, "a few registrations, got \(count) in \(seconds) s")
        },
        PromptCheck("SIGTERM ends it with status 0 within a second", .endsAtTerm) { bench in
            bench.program.signal(SIGTERM)
            let limit = bench.fixture.patience
            let status = try await bench.program.exitStatus(within: limit)
            try expect(status == 0, "status 0, got \(status)")
        },
        PromptCheck(
            "SIGTERM ends it with status 0 within a second, also while it asks",
            .endsAtTerm
        ) { bench in
            _ = try await bench.begin()
            try await bench.act(.begin("half"))
            bench.program.signal(SIGTERM)
            let limit = bench.fixture.patience
            let status = try await bench.program.exitStatus(within: limit)
            try expect(status == 0, "status 0, got \(status)")
            let secrets = bench.service.acts.seen.filter {
                if case .passcode = $0 { true } else { false }
            }
            try expect(secrets.isEmpty, "no password, got \(secrets)")
        },
        PromptCheck(
            "After a kill the prompt starts again and asks again",
            .asking("starts whether or not the service is there")
        ) { bench in
            _ = try await bench.begin()
            try await bench.act(.begin("half"))
            try await bench.restart(by: SIGKILL)
            try await expectGoesOn(bench)
        },
        PromptCheck("Introspect and Ping are answered", .asking("busctl can look at its object")) {
            bench in
            let agent = try bench.service.proxy()
            for (interface, member) in [
                ("org.freedesktop.DBus.Introspectable", "Introspect"),
                ("org.freedesktop.DBus.Peer", "Ping"),
            ] {
                let reply = try await agent.connection.call(
                    to: agent.destination,
                    path: agent.path,
                    interface: interface,
                    member: member,
                    timeout: bench.limit
                )
                guard member == "Introspect" else { continue }
                let text = try reply.read("s") { (reader) throws(DBusError) in
                    try reader.read(String.self)
                }
                for name in ["Begin", "Update", "End"] {
                    try expect(text.contains("name=\"\(name)\""), "\(name) in \(text)")
                }
            }
        },
    ]
}

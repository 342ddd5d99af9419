import DBus
import SensorContract
import TestSupport
import Testing

/// Runs the checks on a sensor without the project's libraries, intact and with planted faults.
@Suite(.timeLimit(.minutes(10)))
struct PythonSensorTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/sensors/python"
    private static let file = folder + "/sensor.py"
    private static let interface = "/org.localauth.Sensor1.xml"

    init() { EventLoop.shared.startThread() }

    @Test("The example in Python keeps the contract", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        try await check.run(.doorbell(["/usr/bin/python3", Self.file]))
    }

    @Test("A planted fault is found by its check", arguments: faults)
    func planted(_ fault: PlantedFault) async throws {
        let folder = try TemporaryFolder()
        try fault.plant(in: Self.file, into: folder, as: "sensor.py")
        let description = try TemporaryFolder.read(Self.folder + Self.interface)
        try folder.write(String(Self.interface.dropFirst()), description)
        let check = SensorContractSuite.checks.first { $0.description.hasPrefix(fault.check) }
        // Use the default strictness of the checking program.
        let fixture = SensorFixture.doorbell(
            ["/usr/bin/python3", folder.path + "/sensor.py"],
            patience: .seconds(5),
            promptness: .milliseconds(1500)
        )
        let outcome = try await #require(check).outcome(fixture)
        guard case .failed(let why) = outcome else {
            Issue.record("\(fault.name) was not found: \(outcome)")
            return
        }
        // A program that does not start would fail every check.
        #expect(!why.contains("did not start") && !why.contains("SyntaxError"), "\(why)")
    }

    static let faults = templateFaults + callerFaults + operationFaults + processFaults

    private static let templateFaults = [
        PlantedFault(
            "a strength that there isn't",
            #""Strength": "convenience""#,
            #""Strength": "mighty""#,
            "Properties answer"
        ),
        PlantedFault(
            "a property that is missing",
            #""MaxTemplates": ROOM,"#,
            "",
            "Properties answer"
        ),
        PlantedFault(
            "instructions that are too long",
            #""Press the button""#,
            #""x" * 81"#,
            "Properties answer"
        ),
        PlantedFault(
            "a list of everybody's templates",
            "return (self.templates.of(uid),)",
            #"return (self.templates.run("SELECT id, label, created FROM templates").fetchall(),)"#,
            "An enrolment reports"
        ),
        PlantedFault(
            "one id for all",
            "uuid.uuid4().hex",
            #""finger""#,
            "A finger that is enrolled"
        ),
        PlantedFault(
            "a rename that changes the id",
            "SET label = ?",
            "SET id = id || 'x', label = ?",
            "A rename keeps"
        ),
        PlantedFault(
            "a removal that nobody is told of",
            "if count:\n",
            "if not count:\n",
            "A removed template"
        ),
        PlantedFault(
            "a wrong number of removed ones",
            "return (self.removed(uid, self.templates.remove(uid)),)",
            "return (self.removed(uid, self.templates.remove(uid)) * 0,)",
            "RemoveAllTemplates returns"
        ),
        PlantedFault(
            "another error of unknown ids",
            #"if count == 0:\#n            raise Fault("NoTemplates")"#,
            #"if count == 0:\#n            raise Fault("Failed")"#,
            "An unknown template"
        ),
        PlantedFault("labels without a bound", "> 256", "> 99999", "An impossible uid"),
        PlantedFault(
            "no stages told",
            #"self.tell("stage", stage"#,
            #"dict(stage"#,
            "An enrolment reports"
        ),
        PlantedFault(
            "stages of another type",
            #"stage=GLib.Variant("u", operation.count)"#,
            #"stage=GLib.Variant("s", "1")"#,
            "Events have the kinds"
        ),
        PlantedFault(
            "more templates than there is room",
            "self.templates.of(uid)) >= ROOM",
            "self.templates.of(uid)) >= 400",
            "A template over"
        ),
        PlantedFault(
            "a template of a canceled enrolment",
            #"raise Fault("Full")"#,
            #"raise Fault("Full")"# + "\n        "
                + #"self.templates.run("INSERT INTO templates VALUES (?, 'x', ?, 0)", uid, label)"#,
            "Cancel ends Enroll"
        ),
        PlantedFault(
            "templates that go with the process",
            #"folder + "/templates" if folder else ":memory:""#,
            #"":memory:""#,
            "Templates outlive"
        ),
    ]

    private static let callerFaults = [
        PlantedFault(
            "anybody may call",
            "if caller != self.owner(SERVICE)",
            "if not self.owner(SERVICE)",
            "Methods refuse"
        ),
        PlantedFault(
            "without a daemon anybody may call",
            "if caller != self.owner(SERVICE)",
            "if self.owner(SERVICE) not in (caller, None)",
            "Without a daemon"
        ),
        PlantedFault(
            "events for everybody",
            "kind, detail, to=operation.caller)",
            "kind, detail)",
            "Events go to"
        ),
        PlantedFault(
            "callers that left unheard",
            "if running and not self.owner(running.caller):",
            "if False:",
            "A new daemon"
        ),
        PlantedFault(
            "a stranger's Cancel",
            "if caller != self.owner(SERVICE)",
            "if member != \"Cancel\" and caller != self.owner(SERVICE)",
            "Another caller's Cancel"
        ),
        PlantedFault(
            "a Cancel of any number",
            "(running.number, running.caller) == key",
            "running.caller == call.get_sender()",
            "A Cancel of another"
        ),
        PlantedFault(
            "arguments that aren't looked at",
            "file.read()",
            #"file.read().replace('type="u" direction="in"', 'type="s" direction="in"')"#,
            "Wrong or missing"
        ),
        PlantedFault("uids that are none", "2**32 - 1", "2**33", "An impossible uid"),
        PlantedFault(
            "no introspection of a method",
            "file.read()",
            #"file.read().replace('name="Health"', 'name="Wellness"')"#,
            "Introspect and Ping"
        ),
    ]

    private static let operationFaults = [
        PlantedFault(
            "a state of health that there isn't",
            #"return "ok", """#,
            #"return "fine", """#,
            "Health answers"
        ),
        PlantedFault(
            "a Verify that looks for nobody",
            "if not self.templates.of(uid):",
            "if False:",
            "Verify without"
        ),
        PlantedFault(
            "a template that nobody enrolled",
            "self.end(found[0][0])",
            #"self.end("template")"#,
            "A match is answered"
        ),
        PlantedFault(
            "attempts that nobody is told of",
            "self.miss(operation)\n",
            "operation.looks = True\n",
            "A miss is a call"
        ),
        PlantedFault(
            "an attempt told once, answered or not",
            "GLib.timeout_add(250, self.miss, operation)",
            "operation.looks = True",
            "The sensor repeats a miss"
        ),
        PlantedFault(
            "attempts that begin with 2",
            "self.count = 0",
            "self.count = 1",
            "Misses are numbered"
        ),
        PlantedFault(
            "silence taken for another attempt",
            "GLib.timeout_add(250",
            "operation.count += 1; GLib.timeout_add(250",
            "The sensor does not scan"
        ),
        PlantedFault(
            "a look when no attempt is left",
            "left > 0",
            "left >= 0",
            "The sensor repeats a miss"
        ),
        PlantedFault(
            "two at once",
            #"raise Fault("Busy")"#,
            #"self.end(error="Canceled")"#,
            "A second operation"
        ),
        PlantedFault(
            "a Cancel that does nothing",
            #"== key:\#n            self.end(error="Canceled")"#,
            "== key:\n            pass",
            "Cancel ends Verify"
        ),
        PlantedFault(
            "another error after Cancel",
            #"== key:\#n            self.end(error="Canceled")"#,
            #"== key:\#n            self.end(error="Failed")"#,
            "Cancel ends Verify"
        ),
        PlantedFault(
            "a Cancel that takes its time",
            #"== key:\#n            self.end(error="Canceled")"#,
            #"== key:\#n            GLib.timeout_add(300, lambda: self.end(error="Canceled"))"#,
            "A match after Cancel"
        ),
        PlantedFault(
            "an early Cancel forgotten",
            "[-16:]",
            "[:0]",
            "A Cancel that comes before its operation"
        ),
    ]

    private static let processFaults = [
        PlantedFault(
            "a status of its own at SIGTERM",
            "loop.run()",
            "loop.run(); sys.exit(3)",
            "SIGTERM ends it with status 0 within a second, also"
        ),
        PlantedFault(
            "SIGTERM not heard",
            "signal.SIGTERM, loop.quit",
            "signal.SIGTERM, print",
            "SIGTERM ends it with status 0 within a second while"
        ),
        PlantedFault(
            "two under one name",
            #"sys.exit(f"{NAME} is taken.")"#,
            "pass",
            "A second process"
        ),
        PlantedFault(
            "a device that goes silently",
            #"self.send("PropertiesChanged""#,
            #"(lambda *_, **__: None)("PropertiesChanged""#,
            "An unplugged sensor"
        ),
        PlantedFault(
            "an operation without a device",
            #"self.end(error="Disconnected")"#,
            "pass",
            "An unplugged sensor"
        ),
    ]
}

import DBus
import SensorContract
import TestSupport
import Testing

/// A sensor that knows nothing of this project, and the same with faults.
@Suite(.timeLimit(.minutes(3)))
struct PythonSensorTests {
    /// A fault: what stands in the sensor, what stands there instead, and who has to find it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let original: String
        let broken: String
        /// How the check's sentence begins.
        let check: String

        init(_ name: String, _ original: String, _ broken: String, _ check: String) {
            (self.name, self.original, self.broken, self.check) = (name, original, broken, check)
        }

        var testDescription: String { name }
    }

    private static let folder =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/sensors/python"
    private static let file = folder + "/sensor.py"
    private static let interface = "/org.localauth.Sensor1.xml"

    private static func fixture(_ file: String) -> SensorFixture {
        SensorFixture(
            program: ["/usr/bin/python3", file],
            name: "Doorbell",
            hasStream: true,
            plug: { @BusActor isIn, bench in
                bench.program.tell(isIn ? "plug" : "unplug")
                await bench.settle()
            },
            present: { isMatching, bench in
                bench.program.tell(isMatching ? "match" : "no-match")
                await bench.settle()
            }
        )
    }

    init() { EventLoop.shared.startThread() }

    @Test("The example in Python keeps the contract", arguments: SensorContractSuite.checks)
    func contract(_ check: SensorCheck) async throws {
        try await check.run(Self.fixture(Self.file))
    }

    @Test("A planted fault is found by its check", arguments: faults)
    func planted(_ fault: Fault) async throws {
        let text = String(decoding: try TemporaryFolder.read(Self.file), as: UTF8.self)
        try #require(text.ranges(of: fault.original).count == 1, "\(fault.original)")
        let folder = try TemporaryFolder()
        let broken = text.replacing(fault.original, with: fault.broken)
        try folder.write("sensor.py", broken.utf8)
        let description = try TemporaryFolder.read(Self.folder + Self.interface)
        try folder.write(String(Self.interface.dropFirst()), description)
        let check = SensorContractSuite.checks.first { $0.description.hasPrefix(fault.check) }
        let outcome = try await #require(check).outcome(Self.fixture(folder.path + "/sensor.py"))
        guard case .failed(let why) = outcome else {
            Issue.record("\(fault.name) was not found: \(outcome)")
            return
        }
        // A program that doesn't start would be found by every check.
        #expect(!why.contains("did not start") && !why.contains("SyntaxError"), "\(why)")
    }

    static let faults = templateFaults + callerFaults + operationFaults + processFaults

    private static let templateFaults = [
        Fault(
            "a strength that there isn't",
            #""Strength": "convenience""#,
            #""Strength": "mighty""#,
            "Properties answer"
        ),
        Fault(
            "a property that is missing",
            #""MaxTemplates": 4"#,
            "",
            "Properties answer"
        ),
        Fault(
            "a list of everybody's templates",
            "in self.templates.get(uid, {}).items()]]",
            "in [each for all in self.templates.values() for each in all.items()]]]",
            "An enrolment tells"
        ),
        Fault("one id for all", "uuid.uuid4().hex", #""finger""#, "The same finger"),
        Fault(
            "a rename that changes the id",
            "self.one(uid, id)[0] = label",
            "self.templates[uid][id + \"x\"] = [label] + self.templates[uid].pop(id)[1:]",
            "A rename keeps"
        ),
        Fault(
            "a removal that nobody is told of",
            "if ids: self.send",
            "if not ids: self.send",
            "A removed template"
        ),
        Fault(
            "a wrong number of removed ones",
            "return [len(ids)]",
            "return [0]",
            "Remove all says"
        ),
        Fault(
            "another error of unknown ids",
            "if id not in self.templates.get(uid, {}): raise Fault(\"NoTemplates\")",
            "if id not in self.templates.get(uid, {}): raise Fault(\"Failed\")",
            "An unknown template"
        ),
        Fault("labels without a bound", "> 256", "> 99999", "A uid that is no user"),
        Fault("no stages told", #"self.tell("stage", stage"#, #"dict(stage"#, "An enrolment tells"),
        Fault(
            "stages of another type",
            #"stage=GLib.Variant("u", self.count)"#,
            #"stage=GLib.Variant("s", "1")"#,
            "Events have the kinds"
        ),
        Fault(
            "more templates than there is room",
            "{})) >= 4",
            "{})) >= 400",
            "Where there is room"
        ),
        Fault(
            "a template of a canceled enrolment",
            "{})) >= 4: raise Fault(\"Full\")",
            "{})) >= 4: raise Fault(\"Full\")\n"
                + "        self.templates[uid] = {\"x\": [label, 0]}",
            "Cancel ends Enroll"
        ),
    ]

    private static let callerFaults = [
        Fault(
            "anybody may call",
            "if caller != self.owner(DAEMON)",
            "if not self.owner(DAEMON)",
            "Methods refuse"
        ),
        Fault(
            "without a daemon anybody may call",
            "if caller != self.owner(DAEMON)",
            "if self.owner(DAEMON) not in (caller, None)",
            "Without a daemon"
        ),
        Fault(
            "events for everybody",
            "kind, detail, to=self.call.get_sender())",
            "kind, detail)",
            "Events go to"
        ),
        Fault(
            "callers that left unheard",
            "if self.call and not self.owner(self.call.get_sender()): self.end",
            "if False: self.end",
            "A daemon that took"
        ),
        Fault(
            "a stranger's Cancel",
            "if caller != self.owner(DAEMON)",
            "if member != \"Cancel\" and caller != self.owner(DAEMON)",
            "A stranger's Cancel"
        ),
        Fault(
            "a Cancel of any number",
            "(self.number, self.call.get_sender()) == (number, call.get_sender())",
            "self.call.get_sender() == call.get_sender()",
            "A Cancel of something"
        ),
        Fault(
            "arguments that aren't looked at",
            "file.read()",
            #"file.read().replace('type="u" direction="in"', 'type="s" direction="in"')"#,
            "Arguments of other"
        ),
        Fault("uids that are none", "2**32 - 1", "2**33", "A uid that is no user"),
        Fault(
            "no introspection of a method",
            "file.read()",
            #"file.read().replace('name="Health"', 'name="Wellness"')"#,
            "Introspect and Ping"
        ),
    ]

    private static let operationFaults = [
        Fault(
            "a state of health that there isn't",
            #"return "ok", """#,
            #"return "fine", """#,
            "Health answers"
        ),
        Fault(
            "a Verify that looks for nobody",
            #"if not self.templates.get(uid): raise Fault("NoTemplates")"#,
            "pass",
            "Without templates"
        ),
        Fault(
            "a template that nobody enrolled",
            "return self.end(next(iter(self.templates[uid])))",
            #"return self.end("template")"#,
            "A match is answered"
        ),
        Fault(
            "attempts that nobody is told of",
            "            self.miss(call)\n",
            "            self.looks = True\n",
            "A failed attempt is a call"
        ),
        Fault(
            "an attempt told once, answered or not",
            "except GLib.Error: GLib.timeout_add(250, self.miss, call)",
            "except GLib.Error: self.looks = True",
            "A failed attempt is told again"
        ),
        Fault(
            "attempts that begin with 2",
            "seen, True, 0",
            "seen, True, 1",
            "Failed attempts are numbered"
        ),
        Fault(
            "silence taken for another attempt",
            "except GLib.Error: GLib",
            "except GLib.Error: self.count += 1; GLib",
            "Nothing is looked at"
        ),
        Fault(
            "a look when no attempt is left",
            "unpack()[0] > 0",
            "unpack()[0] >= 0",
            "A failed attempt is told again"
        ),
        Fault(
            "two at once",
            #"if self.call: raise Fault("Busy")"#,
            #"if self.call: self.end(error="Canceled")"#,
            "A second operation"
        ),
        Fault(
            "a Cancel that does nothing",
            #"(number, call.get_sender()): self.end(error="Canceled")"#,
            "(number, call.get_sender()): pass",
            "Cancel ends Verify"
        ),
        Fault(
            "another error after Cancel",
            #"(number, call.get_sender()): self.end(error="Canceled")"#,
            #"(number, call.get_sender()): self.end(error="Failed")"#,
            "Cancel ends Verify"
        ),
        Fault(
            "a Cancel that takes its time",
            #"(number, call.get_sender()): self.end(error="Canceled")"#,
            "(number, call.get_sender()): "
                + #"GLib.timeout_add(300, lambda: self.end(error="Canceled"))"#,
            "A match after Cancel"
        ),
        Fault(
            "an early Cancel forgotten",
            "[-16:]",
            "[:0]",
            "A Cancel that comes before its operation"
        ),
    ]

    private static let processFaults = [
        Fault(
            "a status of its own at SIGTERM",
            "    loop.run()",
            "    loop.run(); sys.exit(3)",
            "SIGTERM ends it with status 0 within a second, also"
        ),
        Fault(
            "SIGTERM not heard",
            "signal.SIGTERM, loop.quit",
            "signal.SIGTERM, print",
            "SIGTERM ends it with status 0 within a second while"
        ),
        Fault("two under one name", #"sys.exit(f"{NAME} is taken.")"#, "pass", "A second process"),
        Fault(
            "a device that goes silently",
            #"self.send("PropertiesChanged""#,
            #"(lambda *_, **__: None)("PropertiesChanged""#,
            "Without its device"
        ),
        Fault(
            "an operation without a device",
            #"if self.call and not self.present: self.end(error="Disconnected")"#,
            "",
            "Without its device"
        ),
    ]
}

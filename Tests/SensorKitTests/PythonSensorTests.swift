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

    private static let file =
        #filePath.split(separator: "/").dropLast(3)
        .reduce("") { "\($0)/\($1)" } + "/examples/sensors/python/sensor.py"

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
            #"Variant("s", "convenience")"#,
            #"Variant("s", "mighty")"#,
            "Properties answer"
        ),
        Fault(
            "a property that is missing",
            #""MaxTemplates": Variant("u", 4)"#,
            "",
            "Properties answer"
        ),
        Fault(
            "a list of everybody's templates",
            "return [self.templates.get(uid, [])]",
            "return [sum(self.templates.values(), [])]",
            "An enrolment tells"
        ),
        Fault("one id for all", "uuid.uuid4().hex", #""finger""#, "The same finger"),
        Fault(
            "a rename that changes the id",
            "self.one(uid, id)[1] = label",
            "self.one(uid, id)[0] = label",
            "A rename keeps"
        ),
        Fault(
            "a removal that nobody is told of",
            "remove(self.one(uid, id))\n        self.signal",
            "remove(self.one(uid, id))\n        (lambda *_: None)",
            "A removed template"
        ),
        Fault(
            "a wrong number of removed ones",
            "return [len(removed)]",
            "return [0]",
            "Remove all says"
        ),
        Fault(
            "another error of unknown ids",
            "return template\n        raise Fault(\"NoTemplates\")",
            "return template\n        raise Fault(\"Failed\")",
            "An unknown template"
        ),
        Fault("labels without a bound", "> 256", "> 99999", "A uid that is no user"),
        Fault("no stages told", #"self.tell("stage", stage"#, #"dict(stage"#, "An enrolment tells"),
        Fault(
            "stages of another type",
            #"stage=Variant("u", stage)"#,
            #"stage=Variant("s", "1")"#,
            "Events have the kinds"
        ),
        Fault(
            "more templates than there is room",
            "[])) >= 4",
            "[])) >= 400",
            "Where there is room"
        ),
        Fault(
            "a template of a canceled enrolment",
            "        await self.run(m, number, self.learn)",
            "        self.templates[uid] = [[\"x\", label, 0]]\n"
                + "        await self.run(m, number, self.learn)",
            "Cancel ends Enroll"
        ),
    ]

    private static let callerFaults = [
        Fault(
            "anybody may call",
            "!= m.sender: raise Fault(ErrorType",
            "is None: raise Fault(ErrorType",
            "Methods refuse"
        ),
        Fault(
            "without a daemon anybody may call",
            "!= m.sender: raise Fault(ErrorType",
            "not in (m.sender, None): raise Fault(ErrorType",
            "Without a daemon"
        ),
        Fault(
            "events for everybody",
            "kind, detail], self.operation.caller)",
            "kind, detail], None)",
            "Events go to"
        ),
        Fault(
            "callers that left unheard",
            "is None: self.stop",
            "== 1: self.stop",
            "A daemon that took"
        ),
        Fault(
            "a stranger's Cancel",
            "(self.operation.number, self.operation.caller) == (m.body[0], m.sender)",
            "self.operation.number == m.body[0]",
            "A stranger's Cancel"
        ),
        Fault(
            "a Cancel of any number",
            "(self.operation.number, self.operation.caller) == (m.body[0], m.sender)",
            "self.operation.caller == m.sender",
            "A Cancel of something"
        ),
        Fault(
            "arguments that aren't looked at",
            "if m.signature != METHODS[m.member][0]",
            "if False",
            "Arguments of other"
        ),
        Fault("uids that are none", " or 2**32 - 1 in m.body[:2]", "", "A uid that is no user"),
        Fault(
            "no introspection of a method",
            "for name in METHODS)",
            #"for name in METHODS if name != "Health")"#,
            "Introspect and Ping"
        ),
    ]

    private static let operationFaults = [
        Fault(
            "a state of health that there isn't",
            #"return ["ok", ""]"#,
            #"return ["fine", ""]"#,
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
            "return self.templates[uid][0][0]",
            #"return "template""#,
            "A match is answered"
        ),
        Fault(
            "attempts that nobody is told of",
            "            attempt += 1\n",
            "            continue\n",
            "A failed attempt is a call"
        ),
        Fault(
            "an attempt told once, answered or not",
            "if reply.message_type == MessageType.METHOD_RETURN: break",
            "reply.body = reply.body if isinstance(reply.body[0], int) else [1]; break",
            "A failed attempt is told again"
        ),
        Fault(
            "attempts that begin with 2",
            "attempt = 0",
            "attempt = 1",
            "Failed attempts are numbered"
        ),
        Fault(
            "silence taken for another attempt",
            "except asyncio.TimeoutError: continue",
            "except asyncio.TimeoutError:\n                    attempt += 1; continue",
            "Nothing is looked at"
        ),
        Fault(
            "a look when no attempt is left",
            "if reply.body[0] == 0: await",
            "if False: await",
            "A failed attempt is told again"
        ),
        Fault(
            "two at once",
            #"if self.operation: raise Fault("Busy")"#,
            #"self.stop("Canceled")"#,
            "A second operation"
        ),
        Fault(
            "a Cancel that does nothing",
            #"self.stop("Canceled")  # at once"#,
            "pass  # at once",
            "Cancel ends Verify"
        ),
        Fault(
            "another error after Cancel",
            "raise Fault(operation.end)",
            #"raise Fault("Failed")"#,
            "Cancel ends Verify"
        ),
        Fault(
            "a Cancel that takes its time",
            #"self.stop("Canceled")  # at once"#,
            #"asyncio.get_event_loop().call_later(0.3, self.stop, "Canceled")  # at once"#,
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
            "    bus.disconnect()",
            "    sys.exit(3)",
            "SIGTERM ends it with status 0 within a second, also"
        ),
        Fault(
            "SIGTERM not heard",
            "signal.SIGTERM, done.set",
            "signal.SIGTERM, print",
            "SIGTERM ends it with status 0 within a second while"
        ),
        Fault("two under one name", #"sys.exit(f"{NAME} is taken.")"#, "pass", "A second process"),
        Fault(
            "a device that goes silently",
            #"self.signal("PropertiesChanged""#,
            #"(lambda *_, **__: None)("PropertiesChanged""#,
            "Without its device"
        ),
        Fault(
            "an operation without a device",
            #"if not self.present: self.stop("Disconnected")"#,
            "pass",
            "Without its device"
        ),
    ]
}

#if Prompt
import DBus
import TestSupport

/// Reads and presses elements as assistive technologies do, by AT-SPI on D-Bus.
@BusActor final class ScreenReader {
    struct Element {
        let place: Reference
        let name: String
        let role: String
        let states: UInt64

        /// Tests a state by its number in AT-SPI.
        func has(_ state: State) -> Bool { states & (1 << state.rawValue) != 0 }
    }

    enum State: UInt64 {
        case active = 1
        case editable = 7
        case enabled = 8
        case focused = 12
        case sensitive = 24
    }

    /// A reference to an object of a program.
    struct Reference: WireType, Hashable {
        static let signature = "(so)"
        let name: String
        let path: ObjectPath

        init(_ name: String, _ path: ObjectPath) { (self.name, self.path) = (name, path) }

        init(from reader: inout MessageReader) throws(DBusError) {
            (name, path) = try reader.structure("so") { (reader) throws(DBusError) in
                (try reader.read(String.self), try reader.read(ObjectPath.self))
            }
        }

        func write(to writer: inout MessageWriter) throws(DBusError) {
            throw DBusError(.notSupported, "nobody is told where objects are")
        }
    }

    let connection: Connection
    /// The address of the accessibility bus.
    let address: String
    private let program: String
    /// The elements found last, for messages about timeouts.
    private(set) var seen: [String] = []
    private static let accessible = "org.a11y.atspi.Accessible"
    /// The time limit for a change on a busy machine.
    static let patience = Duration.seconds(180)

    init(on screen: Screen, program: String = "localauth-agent") async throws {
        self.program = program
        let session = try screen.bus.connect()
        address =
            try await session.call(
                to: "org.a11y.Bus",
                path: ObjectPath(trusted: "/org/a11y/bus"),
                interface: "org.a11y.Bus",
                member: "GetAddress"
            )
            .read("s") { (reader) throws(DBusError) in try reader.read(String.self) }
        connection = try Connection(.address(address))
    }

    /// The errors of calls to an element that has disappeared.
    private static let gone: [DBusError.Name] = [.unknownObject, .unknownMethod, .failed, .noReply]

    /// Returns all elements of the program's windows, and reads again if they change meanwhile.
    func elements() async throws -> [Element] {
        for _ in 0..<5 {
            do {
                return try await elementsAtOnce()
            } catch let error as DBusError where Self.gone.contains(error.name) {
                continue
            }
        }
        return try await elementsAtOnce()
    }

    private func elementsAtOnce() async throws -> [Element] {
        let root = Reference(
            "org.a11y.atspi.Registry",
            ObjectPath(trusted: "/org/a11y/atspi/accessible/root")
        )
        var found: [Element] = []
        for place in try await children(of: root)
        where try await text("Name", of: place) == program {
            found += try await elements(in: place)
        }
        return found
    }

    /// Returns the elements in order, each followed by its children.
    ///
    /// Calls run in parallel. The settings need 700 calls, and serial calls would each wait for a
    /// scheduling delay.
    private func elements(in place: Reference) async throws -> [Element] {
        let parts = try await children(of: place)
        return try await withThrowingTaskGroup(of: (Int, [Element]).self) { group in
            for (number, part) in parts.enumerated() {
                group.addTask { (number, try await self.elements(from: part)) }
            }
            var found: [Int: [Element]] = [:]
            for try await (number, elements) in group { found[number] = elements }
            return parts.indices.flatMap { found[$0] ?? [] }
        }
    }

    private func elements(from place: Reference) async throws -> [Element] {
        async let states = states(of: place)
        async let name = text("Name", of: place)
        async let role = call(place, "GetRoleName")
            .read("s") { (reader) throws(DBusError) in try reader.read(String.self) }
        async let others = elements(in: place)
        let first = Element(
            place: place,
            name: try await name,
            role: try await role,
            states: try await states
        )
        return try await [first] + others
    }

    private func states(of place: Reference) async throws -> UInt64 {
        let halves = try await call(place, "GetState")
            .read("au") { (reader) throws(DBusError) in try reader.read([UInt32].self) }
        try expect(halves.count == 2, "expected 64 states: \(halves)")
        return UInt64(halves[0]) | UInt64(halves[1]) << 32
    }

    /// Returns a matching element, or nil; nil also if a window disappears meanwhile.
    func find(_ role: String, _ name: String? = nil) async throws -> Element? {
        do throws {
            let all = try await elementsAtOnce()
            seen = all.map { "\($0.role) '\($0.name)' \(String($0.states, radix: 16))" }
            return all.first { $0.role == role && (name == nil || $0.name == name) }
        } catch let error as DBusError {
            // The window disappeared while it was read.
            guard Self.gone.contains(error.name) else { throw error }
            return nil
        }
    }

    /// Returns whether the window receives keys.
    func isActive() async throws -> Bool { try await find("window")?.has(.active) == true }

    func wait(for role: String, _ name: String? = nil) async throws -> Element {
        var found: Element?
        try await eventually("\(role) \(name ?? "") among \(seen)", within: Self.patience) {
            found = try await self.find(role, name)
            return found != nil
        }
        guard let found else { throw TestFailure("it went again") }
        return found
    }

    func waitForLabel(ending end: String) async throws {
        try await eventually("a label “… \(end)”", within: Self.patience) {
            try await self.labels().contains { $0.hasSuffix(end) }
        }
    }

    /// Returns the texts of labels; empty while windows appear or disappear.
    func labels() async throws -> [String] {
        // `find` also updates `seen`.
        guard try await find("label") != nil else { return [] }
        return (try? await elements().map(\.name)) ?? []
    }

    func size(of element: Element) async throws -> (width: Int32, height: Int32) {
        let reply = try await connection.call(
            to: element.place.name,
            path: element.place.path,
            interface: "org.a11y.atspi.Component",
            member: "GetSize"
        )
        return try reply.read("ii") { (reader) throws(DBusError) in
            (try reader.read(Int32.self), try reader.read(Int32.self))
        }
    }

    func press(_ name: String) async throws {
        try await eventually("a button \(name) among \(seen)", within: Self.patience) {
            guard let button = try await self.find("button", name), button.has(.sensitive)
            else { return false }
            return try await self.call(button.place, "DoAction", of: "Action", 0)
                .read("b") { (reader) throws(DBusError) in try reader.read(Bool.self) }
        }
    }

    /// Waits for a field and replaces its text.
    func write(_ text: String, into name: String) async throws {
        let field = try await wait(for: "text box", name)
        _ = try await connection.call(
            to: field.place.name,
            path: field.place.path,
            interface: "org.a11y.atspi.EditableText",
            member: "SetTextContents",
            signature: "s"
        ) { (writer) throws(DBusError) in try writer.write(text) }
    }

    /// Returns the text of each field, as any program on the accessibility bus can read it.
    func texts() async throws -> [String] {
        var texts: [String] = []
        for element in try await elements() {
            let reply = try? await connection.call(
                to: element.place.name,
                path: element.place.path,
                interface: "org.a11y.atspi.Text",
                member: "GetText",
                signature: "ii"
            ) { (writer) throws(DBusError) in
                try writer.write(Int32(0))
                try writer.write(Int32(1000))
            }
            guard let reply, element.has(.editable) else { continue }
            texts.append(
                try reply.read("s") { (reader) throws(DBusError) in try reader.read(String.self) }
            )
        }
        return texts
    }

    func waitForNothing() async throws {
        try await eventually("no window", within: Self.patience) {
            try await self.find("label") == nil
        }
    }

    // MARK: Calls

    private func children(of place: Reference) async throws -> [Reference] {
        try await call(place, "GetChildren")
            .read("a(so)") { (reader) throws(DBusError) in try reader.read([Reference].self) }
    }

    private func text(_ property: String, of place: Reference) async throws -> String {
        let reply = try await connection.call(
            to: place.name,
            path: place.path,
            interface: "org.freedesktop.DBus.Properties",
            member: "Get",
            signature: "ss"
        ) { (writer) throws(DBusError) in
            try writer.write(Self.accessible)
            try writer.write(property)
        }
        return try reply.read("v") { (reader) throws(DBusError) in try reader.read(Variant.self) }
            .asString ?? ""
    }

    private func call(
        _ place: Reference,
        _ member: String,
        of interface: String = "Accessible",
        _ argument: Int32? = nil
    ) async throws -> Message {
        try await connection.call(
            to: place.name,
            path: place.path,
            interface: "org.a11y.atspi." + interface,
            member: member,
            signature: argument == nil ? "" : "i"
        ) { (writer) throws(DBusError) in
            if let argument { try writer.write(argument) }
        }
    }

    // MARK: What is said

    /// Calls `body` for each announced change of an element's text.
    func listen(to element: Element, _ body: @escaping @BusActor (String) -> Void) -> EventSource {
        connection.subscribe(
            sender: element.place.name,
            path: element.place.path,
            interface: "org.a11y.atspi.Event.Object",
            member: nil,
            broadcast: true
        ) { message in
            body(message.member ?? "")
        }
    }
}
#endif

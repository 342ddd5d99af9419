import TestSupport

/// The objects that the service gave a connection.
///
/// Other users cannot know them.
struct Given {
    static let root = "/org/localauth/Authentication1"
    static let contexts = root + "/context/"
    private static let nothing = String(repeating: "0", count: 32)

    /// The object of the last context.
    fileprivate(set) var context = contexts + nothing
    /// The last prompt that the connection had to show.
    fileprivate(set) var prompt = nothing
    /// The last two items.
    fileprivate(set) var items = [nothing, nothing]

    /// Always equally many, so that a seed makes equal calls whatever the service gave.
    var texts: [String] { items + [context, prompt] }
    /// Whether there are two items and a context.
    var isComplete: Bool { !(items + [context]).contains { $0.hasSuffix(Self.nothing) } }

    /// Records the first string of an answer.
    fileprivate mutating func take(_ text: String) {
        if text.hasPrefix(Self.contexts) {
            context = text
        } else if text.utf8.count == 32, text.allSatisfy(\.isHexDigit) {
            items = [items[1], text]
        }
    }
}

/// A connection with a context, an item, a key and a prompt of its own that reads all answers.
final class Conversation {
    let client: RawClient
    private(set) var given: Given
    /// Whether the connection has ended.
    private(set) var isOver = false
    private var unread: [UInt8] = []
    /// The serial of the last message; Hello has serial 1.
    private var last: UInt32 = 1
    /// Serials of calls whose answers must come before other calls are made.
    private var awaited: Set<UInt32> = [1]
    /// The objects of other unanswered calls, by serial.
    private var waiting: [UInt32: String] = [:]
    private var lastCall = ContinuousClock.now

    private static let service = "org.localauth.Authentication1"
    private static let keychain = "org.localauth.Keychain1"
    private static let gone = [
        "org.freedesktop.DBus.Error.UnknownObject", "org.localauth.Error.InvalidContext",
    ]

    /// Connects, and asks for a context, an item, a key and a prompt.
    ///
    /// - Parameters:
    ///   - address: The address of the bus.
    ///   - name: The name of the item and the key; the name may exist already.
    ///   - earlier: Objects of an earlier connection of the user. Its items still exist.
    init?(_ address: String, _ name: String, after earlier: Given) {
        guard let client = try? RawClient(address, isPatient: false) else { return nil }
        self.client = client
        given = Given()
        given.items = earlier.items
        let item = Self.attributes(["class": "genp", "acct": name])
        let key = Self.attributes(["class": "keys"], tag: name)
        var path = RawValues()
        path.append("/agent")
        path.append(UInt32(0))
        path.pad(8)
        // A policy for which the password is enough, so that a prompt appears.
        var evaluation = RawValues()
        evaluation.append(UInt32(2))
        evaluation.append("open the vault")
        evaluation.append(UInt32(0))
        evaluation.pad(8)
        askForContext()
        ask("Add", "a{sv}aya{sv}a{sv}", Self.following(item, isSecret: true))
        ask("CreateKey", "a{sv}a{sv}a{sv}", Self.following(key, isSecret: false))
        ask("RegisterAgent", "oa{sv}", path)
        ask("Evaluate", "usa{sv}", evaluation)
        // No call waits for the prompt.
        awaited.remove(last)
    }

    private func askForContext() {
        var none = RawValues()
        none.append(UInt32(0))
        none.pad(8)
        ask("CreateContext", "a{sv}", none)
    }

    private func ask(_ member: String, _ signature: String, _ body: RawValues) {
        let isItem = ["Add", "CreateKey"].contains(member)
        let offer = client.offer(
            to: Self.service,
            path: isItem ? "/org/localauth/Keychain1" : Given.root,
            interface: isItem ? Self.keychain : Self.service,
            member: member,
            signature: signature,
            body: body.bytes
        )
        last += 1
        awaited.insert(last)
        if offer != .taken { isOver = true }
    }

    /// Encodes a dictionary of texts, and of the tag of a key.
    private static func attributes(
        _ attributes: [String: String],
        tag: String? = nil
    ) -> RawValues {
        var values = RawValues()
        values.array(aligned: 8) { values in
            if let tag {
                values.pad(8)
                values.append("atag")
                values.append(raw: [2, UInt8(ascii: "a"), UInt8(ascii: "y"), 0])
                values.array(aligned: 1) { $0.append(raw: Array(tag.utf8)) }
            }
            for (name, value) in attributes {
                values.pad(8)
                values.append(name)
                values.append(raw: [1, UInt8(ascii: "s"), 0])
                values.append(value)
            }
        }
        return values
    }

    /// Appends a secret, if there is one, and two empty dictionaries.
    private static func following(_ attributes: RawValues, isSecret: Bool) -> RawValues {
        var values = attributes
        if isSecret { values.array(aligned: 1) { $0.append(raw: Array("secret".utf8)) } }
        for _ in 0..<2 {
            values.append(UInt32(0))
            values.pad(8)
        }
        return values
    }

    /// The most waiting calls.
    ///
    /// The service would refuse more without reading them.
    private static let most = 16

    /// Whether the first calls are answered, and another call may be made.
    var hasRoom: Bool { awaited.isEmpty && waiting.count < Self.most && !isOver }

    /// Records a call on an object.
    func hasCalled(_ object: String) {
        last += 1
        waiting[last] = object
        lastCall = .now
    }

    /// Reads all messages that have arrived.
    ///
    /// Returns how each of the random calls has ended: an error name, or `answered`.
    func hear() -> [String] {
        var some = client.takeSome()
        while let bytes = some, !bytes.isEmpty {
            unread += bytes
            some = client.takeSome()
        }
        if some == nil { isOver = true }
        var ends: [String] = []
        var rest = unread[...]
        while let message = Message(&rest) {
            if message.kind == 1, message.member == "Begin", let text = message.text {
                given.prompt = text
            }
            guard message.kind == 2 || message.kind == 3 else { continue }
            if message.kind == 2, let text = message.text { given.take(text) }
            awaited.remove(message.answered)
            guard let object = waiting.removeValue(forKey: message.answered) else { continue }
            ends.append(message.error ?? "answered")
            // The context was released or has ended, so get another.
            let isGone = Self.gone.contains(message.error ?? "")
            if isGone, object == given.context, awaited.isEmpty { askForContext() }
        }
        unread = Array(rest)
        // The waiting calls need prompts that are never answered, so leave.
        if waiting.count >= Self.most, lastCall.duration(to: .now) > .seconds(2) { isOver = true }
        return ends
    }

    func leave() { isOver = true }
}

/// The needed parts of a message.
///
/// The bus has checked the message.
private struct Message {
    /// 1 for a call, 2 for an answer, 3 for an error.
    let kind: UInt8
    private(set) var member: String?
    private(set) var error: String?
    /// The serial of the call that this message answers.
    private(set) var answered: UInt32 = 0
    /// The first value, if it is a text.
    private(set) var text: String?

    /// Removes a message from the received bytes, once all of it has arrived.
    init?(_ bytes: inout ArraySlice<UInt8>) {
        let all = bytes
        func number(_ place: Int) -> Int {
            (0..<4).reduce(0) { $0 | Int(all[all.startIndex + place + $1]) << (8 * $1) }
        }
        func string(_ place: Int) -> String {
            let start = all.startIndex + place + 4
            return String(decoding: all[start..<start + number(place)], as: UTF8.self)
        }
        guard all.count >= 16 else { return nil }
        let end = 16 + number(12)
        let body = (end + 7) / 8 * 8
        guard all.count >= body + number(4) else { return nil }
        bytes = all.dropFirst(body + number(4))
        kind = all[all.startIndex + 1]
        var place = 16
        var isText = false
        while place < end {
            let (code, type) = (all[all.startIndex + place], all[all.startIndex + place + 2])
            place += 4
            switch type {
            case UInt8(ascii: "u"):
                if code == 5 { answered = UInt32(number(place)) }
                place += 4
            case UInt8(ascii: "g"):
                isText = code == 8 && "so".utf8.contains(all[all.startIndex + place + 1])
                place += Int(all[all.startIndex + place]) + 2
            default:
                if code == 3 { member = string(place) }
                if code == 4 { error = string(place) }
                place += 4 + number(place) + 1
            }
            place = (place + 7) / 8 * 8
        }
        if isText { text = string(body) }
    }
}

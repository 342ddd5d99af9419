import Foundation
import HTTPTypes
import Hummingbird

/// A request; missing values count as empty.
struct Question: Decodable, Sendable {
    var user: String?
    var password: String?
    var session: String?
    var state: String?
    var device: String?
    var sealed: String?

    func text(_ path: KeyPath<Question, String?>) throws -> String {
        guard let text = self[keyPath: path], !text.isEmpty, text.utf8.count <= 8192 else {
            throw Refusal.malformed
        }
        return text
    }

    func data(_ path: KeyPath<Question, String?>) throws -> Data {
        guard let data = Data(base64Encoded: try text(path)) else { throw Refusal.malformed }
        return data
    }
}

struct Reply: ResponseEncodable, Sendable {
    var session: String?
    var key: String?
}

/// Answers with a reply, or with the HTTP status of an error.
func answer(
    _ request: Request,
    _ context: some RequestContext,
    _ body: (Question) async throws -> Reply
) async throws -> Reply {
    do {
        return try await body(try await request.decode(as: Question.self, context: context))
    } catch Refusal.enrolmentChanged {
        throw HTTPError(.conflict, message: "The enrolment is another.")
    } catch Refusal.malformed {
        throw HTTPError(.badRequest, message: "The request is malformed.")
    } catch is Refusal {
        throw HTTPError(.unauthorized, message: "The credentials are wrong.")
    }
}

func addRoutes(to router: Router<BasicRequestContext>, _ accounts: Accounts) {
    router.get("key") { _, _ in
        Reply(key: await accounts.publicKey.base64EncodedString())
    }
    router.post("login") { request, context in
        try await answer(request, context) {
            let (user, password) = (try $0.text(\.user), try $0.text(\.password))
            return Reply(session: try await accounts.logIn(user: user, password: password))
        }
    }
    router.post("device/bind") { request, context in
        try await answer(request, context) {
            try await accounts.bind(session: try $0.text(\.session), sealed: try $0.data(\.sealed))
            return Reply()
        }
    }
    router.post("device/login") { request, context in
        try await answer(request, context) {
            Reply(session: try await accounts.logIn(sealedDevice: try $0.data(\.sealed)))
        }
    }
    router.post("device/unbind") { request, context in
        try await answer(request, context) {
            let (session, token) = (try $0.text(\.session), try $0.text(\.device))
            try await accounts.unbind(session: session, token: token)
            return Reply()
        }
    }
    router.post("biometry/enable") { request, context in
        try await answer(request, context) {
            let (session, state) = (try $0.text(\.session), try $0.text(\.state))
            let device = try $0.text(\.device)
            try await accounts.enable(session: session, state: state, device: device)
            return Reply()
        }
    }
    router.post("biometry/login") { request, context in
        try await answer(request, context) {
            let (user, state) = (try $0.text(\.user), try $0.text(\.state))
            let device = try $0.text(\.device)
            return Reply(
                session: try await accounts.logIn(user: user, state: state, device: device)
            )
        }
    }
    router.post("biometry/disable") { request, context in
        try await answer(request, context) {
            try await accounts.disable(session: try $0.text(\.session))
            return Reply()
        }
    }
}

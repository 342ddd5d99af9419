import Foundation
import FoundationNetworking

/// The server, over HTTP with JSON.
struct Server {
    /// A refusal with an HTTP status.
    struct Refused: Error {
        let status: Int
    }

    let base: URL

    /// Posts a request, and returns the texts of the reply.
    func ask(_ path: String, _ question: [String: String]) async throws -> [String: String] {
        var request = URLRequest(url: base.appending(path: path))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONEncoder().encode(question)
        return try await send(request)
    }

    /// Returns the texts of a reply to GET.
    func get(_ path: String) async throws -> [String: String] {
        try await send(URLRequest(url: base.appending(path: path)))
    }

    private func send(_ request: URLRequest) async throws -> [String: String] {
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw Refused(status: status) }
        return try JSONDecoder().decode([String: String].self, from: data)
    }

    /// Logs in by password, and returns a session.
    func logIn(_ user: String, _ password: String) async throws -> String {
        try await ask("login", ["user": user, "password": password])["session"] ?? ""
    }
}

import Foundation
import TestSupport
import Testing

// The flows that store keychain items.
extension FlowTests {
    @Test("A change of the enrolment deletes an item of the current enrolment")
    func currentSet() async throws {
        try await ExampleDesk.run { desk in
            #expect(try await desk.run("current-set", "on") == ("The switch is on.\n", 0))
            #expect(await desk.person.count == 0)
            try await desk.queue("match")
            #expect(try await desk.run("current-set", "verify") == ("Logged in.\n", 0))
            #expect(await desk.person.count == 1)

            try await desk.enroll("somebody else's finger")
            try await desk.queue("match")
            let changed = try await desk.run("current-set", "verify")
            #expect(changed.status == 1)
            #expect(changed.said.contains("The enrolment has changed"))
            try await desk.queue("match")
            let renewed = try await desk.run("current-set", "verify", "--password", "swordfish")
            #expect(renewed.status == 0)
            try await desk.queue("match")
            #expect(try await desk.run("current-set", "verify") == ("Logged in.\n", 0))
            #expect(try await desk.run("current-set", "off").status == 0)
        }
    }

    @Test("Only the application password reads an item; without it a prompt asks")
    func applicationPassword() async throws {
        try await ExampleDesk.run { desk in
            let name = "application-password"
            #expect(try await desk.run(name, "store", "open sesame", "dear diary").status == 0)
            let right = try await desk.run(name, "read", "open sesame")
            #expect(right == ("The secret is: dear diary\n", 0))
            let wrong = try await desk.run(name, "read", "close sesame")
            #expect(wrong.status == 1)
            #expect(wrong.said.contains("(-25293)"))
            // An application password doesn't depend on the enrolment.
            try await desk.enroll("another finger")
            await desk.person.will(.type("open sesame"))
            let typed = try await desk.run(name, "read")
            #expect(typed == ("The secret is: dear diary\n", 0))
            await desk.person.will(.type("close sesame"))
            #expect(try await desk.run(name, "read").status == 1)
            #expect(try await desk.run(name, "delete").status == 0)
        }
    }

    @Test("A bound device logs in, until the enrolment changes or the user unbinds it")
    func deviceLogin() async throws {
        try await ExampleDesk.run { desk in
            let database = desk.folder + "/server.sqlite"
            let line = try await desk.serve("device-server", "--database", database)
            let port = try #require(line.split { $0 == " " || $0 == "\n" }.last)
            let url = "http://127.0.0.1:\(port)/"
            #expect(try await desk.run("device-login", url, "button").said == "no button\n")
            try await desk.queue("match")
            let bound = try await desk.run("device-login", url, "enable", "jo", "correct horse")
            #expect(bound == ("The device is bound.\n", 0))
            #expect(try await desk.run("device-login", url, "button").said == "button\n")
            try await desk.queue("match")
            let before = await desk.person.count
            let login = try await desk.run("device-login", url, "login")
            #expect(login == ("Logged in as jo.\n", 0))
            #expect(await desk.person.count == before + 1)

            try await desk.enroll("somebody else's finger")
            try await desk.queue("match")
            let changed = try await desk.run("device-login", url, "login")
            #expect(changed.status == 1)
            #expect(changed.said.contains("The enrolment has changed"))

            let off = try await desk.run("device-login", url, "unbind", "jo", "correct horse")
            #expect(off.status == 0)
            #expect(try await desk.run("device-login", url, "button").said == "no button\n")
        }
    }
}

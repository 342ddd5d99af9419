import DBus

/// What the standard signals say.
extension Monitor {
    func objectsChanged(_ message: Message) throws {
        if message.member == "InterfacesRemoved" {
            let (path, _) = try message.read("oas") { reader throws(DBusError) in
                (try reader.read(ObjectPath.self), try reader.read([String].self))
            }
            return say("removed", path.rawValue, [])
        }
        let (path, interfaces) = try message.read("oa{sa{sv}}") { reader throws(DBusError) in
            let path = try reader.read(ObjectPath.self)
            return (path, try reader.read([String: [String: Variant]].self))
        }
        let device = interfaces["org.localauth.Device1"].map { SensorRow(path, $0) }
        say("added", path.rawValue, device.map { [("sensor", $0.json)] } ?? [])
    }

    func propertiesChanged(_ message: Message) throws {
        let (changed, invalidated) = try message.read("sa{sv}as") { reader throws(DBusError) in
            _ = try reader.read(String.self)
            return (try reader.read([String: Variant].self), try reader.read([String].self))
        }
        let values = changed.sorted { $0.key < $1.key }.map { ($0.key, JSON($0.value)) }
        let asked = invalidated.map { ($0, JSON.null) }
        say("changed", message.path ?? "", values + asked)
    }
}

import Glibc

/// A day as `YYYY-MM-DD` in the local time zone.
package func day(_ seconds: Int64) -> String {
    var time = time_t(seconds)
    var parts = tm()
    guard seconds > 0, localtime_r(&time, &parts) != nil else { return "-" }
    let month = parts.tm_mon + 1
    return "\(Int(parts.tm_year) + 1900)-\(twoDigits(month))-\(twoDigits(parts.tm_mday))"
}

private func twoDigits(_ number: Int32) -> String {
    number < 10 ? "0\(number)" : "\(number)"
}

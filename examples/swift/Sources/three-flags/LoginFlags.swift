import Foundation

/// Three flags that determine whether an app asks for biometry, for the password or not at all.
struct LoginFlags {
    /// Whether the user was logged in last time; stored.
    var loginState: Bool? {
        get { defaults.object(forKey: "loginState") as? Bool }
        nonmutating set { defaults.set(newValue, forKey: "loginState") }
    }
    /// Whether the user chose to log in with biometry; stored.
    var startAutoLoginState: Bool? {
        get { defaults.object(forKey: "startAutoLoginState") as? Bool }
        nonmutating set { defaults.set(newValue, forKey: "startAutoLoginState") }
    }
    /// Whether the user has logged in since the app's start.
    var isAppCurrentLoginState = false

    private let defaults = UserDefaults.standard

    /// The first step after the app's start.
    enum Start {
        case biometry
        case loginPage
    }

    var start: Start {
        loginState == true && startAutoLoginState == true && !isAppCurrentLoginState
            ? .biometry : .loginPage
    }

    var line: String {
        let words = [loginState, startAutoLoginState, isAppCurrentLoginState]
            .map { $0.map { $0 ? "YES" : "NO" } ?? "nil" }
        return words.joined(separator: ", ")
    }

    /// Resets the stored flags.
    func forget() {
        defaults.removeObject(forKey: "loginState")
        defaults.removeObject(forKey: "startAutoLoginState")
    }
}

import Foundation

/// The three flags that say whether an app asks for biometry, for the password, or for nothing.
struct LoginFlags {
    /// Whether the user was logged in when the app last knew; kept.
    var loginState: Bool? {
        get { defaults.object(forKey: "loginState") as? Bool }
        nonmutating set { defaults.set(newValue, forKey: "loginState") }
    }
    /// Whether the user chose to log in with biometry; kept.
    var startAutoLoginState: Bool? {
        get { defaults.object(forKey: "startAutoLoginState") as? Bool }
        nonmutating set { defaults.set(newValue, forKey: "startAutoLoginState") }
    }
    /// Whether the user has logged in since the app was started.
    var isAppCurrentLoginState = false

    private let defaults = UserDefaults.standard

    /// What the app does when it is started.
    enum Start {
        /// Asks for biometry.
        case biometry
        /// Asks for the password.
        case loginPage
    }

    var start: Start {
        loginState == true && startAutoLoginState == true && !isAppCurrentLoginState
            ? .biometry : .loginPage
    }

    /// The flags in one line.
    var line: String {
        let words = [loginState, startAutoLoginState, isAppCurrentLoginState]
            .map { $0.map { $0 ? "YES" : "NO" } ?? "nil" }
        return words.joined(separator: ", ")
    }

    /// Everything is as after the installation.
    func forget() {
        defaults.removeObject(forKey: "loginState")
        defaults.removeObject(forKey: "startAutoLoginState")
    }
}

import Foundation
import LocalAuthentication

/// The stored state of a user.
struct LCBiometryModel: Codable {
    var isAllowBiometry: Bool
    var biometryData: Data?
}

/// Biometry for an app with several users: stores who allowed it, and the enrolment at that time.
///
/// Callbacks run on the main queue.
final class LCBiometryTool: Sendable {
    typealias Success = @MainActor @Sendable () -> Void
    typealias Failure = @MainActor @Sendable (_ description: String, _ code: Int) -> Void

    static let shared = LCBiometryTool()

    private static let bundle = "come.LCClientDemo.bundleId"
    private static let biometry = LAPolicy.deviceOwnerAuthenticationWithBiometrics

    private init() {}

    // MARK: What there is

    /// Returns the sensor's type; none if unusable.
    func getBiometryType() -> LABiometryType {
        let context = LAContext()
        guard context.canEvaluatePolicy(Self.biometry, error: nil) else { return .none }
        return context.biometryType
    }

    /// Returns the reason why biometry can't be used; nil if usable.
    func canUseBiometry() -> Error? {
        var error: NSError?
        return LAContext().canEvaluatePolicy(Self.biometry, error: &error) ? nil : error
    }

    // MARK: Asking

    /// Asks for biometry; stores nothing.
    func openBiometry(success: @escaping Success, fail: @escaping Failure) {
        ask(Self.biometry, success: { _ in success() }, fail: fail)
    }

    /// Asks for biometry or the password; stores nothing.
    func openBiometryAndPassword(success: @escaping Success, fail: @escaping Failure) {
        ask(.deviceOwnerAuthentication, success: { _ in success() }, fail: fail)
    }

    /// Asks for biometry, and stores the user's permission with the current enrolment.
    func openBiometry(userId: String, success: @escaping Success, fail: @escaping Failure) {
        ask(
            Self.biometry,
            success: { state in
                self.store(LCBiometryModel(isAllowBiometry: true, biometryData: state), userId)
                success()
            },
            fail: fail
        )
    }

    /// Asks for biometry, and stores that the user withdrew the permission.
    func closeBiometry(userId: String, success: @escaping Success, fail: @escaping Failure) {
        ask(
            Self.biometry,
            success: { _ in
                self.store(LCBiometryModel(isAllowBiometry: false, biometryData: nil), userId)
                success()
            },
            fail: fail
        )
    }

    /// Returns the stored state of a user.
    func getBiometryInfo(userId: String) -> LCBiometryModel? {
        guard let data = UserDefaults.standard.data(forKey: key(userId)) else { return nil }
        return try? JSONDecoder().decode(LCBiometryModel.self, from: data)
    }

    private func ask(
        _ policy: LAPolicy,
        success: @escaping @MainActor @Sendable (Data?) -> Void,
        fail: @escaping Failure
    ) {
        let context = LAContext()
        context.localizedFallbackTitle = "输入密码"
        context.evaluatePolicy(policy, localizedReason: "验证您的身份") { isSuccess, error in
            let state = context.evaluatedPolicyDomainState
            let code = (error as? LAError)?.errorCode ?? 0
            DispatchQueue.main.async {
                if isSuccess {
                    success(state)
                } else {
                    fail(Self.text(for: code), code)
                }
            }
        }
    }

    private func store(_ model: LCBiometryModel, _ userId: String) {
        UserDefaults.standard.set(try? JSONEncoder().encode(model), forKey: key(userId))
        UserDefaults.standard.synchronize()
    }

    private func key(_ userId: String) -> String { "\(Self.bundle)_\(userId)" }

    /// Returns the message for an error code.
    static func text(for code: Int) -> String {
        switch code {
        case LAError.authenticationFailed.rawValue: "授权失败"
        case LAError.userCancel.rawValue: "您取消了验证"
        case LAError.userFallback.rawValue: "您选择了输入密码"
        case LAError.systemCancel.rawValue: "系统取消授权"
        case LAError.passcodeNotSet.rawValue: "请先设置手机系统密码"
        case LAError.biometryNotAvailable.rawValue: "指纹识别不可用"
        case LAError.biometryNotEnrolled.rawValue: "指纹未录入"
        case LAError.biometryLockout.rawValue: "指纹失败次数超限，被锁"
        case LAError.appCancel.rawValue: "app cancle"
        case LAError.invalidContext.rawValue: "context invalid"
        case LAError.notInteractive.rawValue: "interactionNotAllowed"
        default: "未知情况"
        }
    }
}

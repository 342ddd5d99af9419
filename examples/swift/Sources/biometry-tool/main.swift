// A typical class for biometry in apps with several users, with callbacks.
//
//   biometry-tool type | can-use | open [USER] | open-with-password | close USER | info USER
import Foundation
import LocalAuthentication

let tool = LCBiometryTool.shared
let words = Array(CommandLine.arguments.dropFirst())
let user = words.count > 1 ? words[1] : nil

let success: LCBiometryTool.Success = {
    print("验证成功, on the main thread: \(Thread.isMainThread)")
    exit(0)
}
let failure: LCBiometryTool.Failure = { description, code in
    print("\(description) (\(code))")
    exit(1)
}

switch (words.first, user) {
case ("type", _):
    print(["none", "touchID", "faceID", "", "opticID"][tool.getBiometryType().rawValue])
    exit(0)
case ("can-use", _):
    let error = tool.canUseBiometry()
    print(error.map { LCBiometryTool.text(for: ($0 as NSError).code) } ?? "yes")
    exit(error == nil ? 0 : 1)
case ("open", nil): tool.openBiometry(success: success, fail: failure)
case ("open", let user?): tool.openBiometry(userId: user, success: success, fail: failure)
case ("open-with-password", _): tool.openBiometryAndPassword(success: success, fail: failure)
case ("close", let user?): tool.closeBiometry(userId: user, success: success, fail: failure)
case ("info", let user?):
    guard let model = tool.getBiometryInfo(userId: user) else {
        print("nothing")
        exit(1)
    }
    let isCurrent = model.biometryData == LAContext().domainState.biometry.stateHash
    print("allowed: \(model.isAllowBiometry), same enrolment: \(isCurrent)")
    exit(0)
default:
    print("usage: biometry-tool type|can-use|open [USER]|open-with-password|close USER|info USER")
    exit(64)
}
RunLoop.main.run()

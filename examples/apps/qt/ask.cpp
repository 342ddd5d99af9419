// Asks the person at the machine to authenticate, with QtDBus.
//
//     ask [ADDRESS]      the bus is the system bus, or the bus at an address
//
// Needs qt6-base-dev:
//     c++ -Wall -Wextra -fPIC ask.cpp -o ask $(pkg-config --cflags --libs Qt6DBus)
#include <QCoreApplication>
#include <QDBusConnection>
#include <QDBusError>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <climits>
#include <cstdio>

int main(int argc, char *argv[])
{
    QCoreApplication app(argc, argv);
    const QString service = "org.localauth.Authentication1";
    const auto bus = argc > 1 ? QDBusConnection::connectToBus(argv[1], "ask")
                              : QDBusConnection::systemBus();
    if (!bus.isConnected()) {
        fprintf(stderr, "No bus: %s\n", qPrintable(bus.lastError().message()));
        return 1;
    }

    auto call = QDBusMessage::createMethodCall(service, "/org/localauth/Authentication1", service, "Evaluate");
    call << 2u << QString("unlock the backup") << QVariantMap{{"timeout", QVariant::fromValue<qulonglong>(60000)}};
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(call, INT_MAX));
    QObject::connect(watcher, &QDBusPendingCallWatcher::finished, &app, [watcher, &app] {
        const auto reply = watcher->reply();
        if (reply.type() == QDBusMessage::ReplyMessage) {
            puts("It is you.");
            return app.exit(0);
        }
        fprintf(stderr, "Refused: %s (%s)\n", qPrintable(reply.errorMessage()), qPrintable(reply.errorName()));
        app.exit(1);
    });
    return app.exec();
}

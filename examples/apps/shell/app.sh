#!/bin/sh
# An app that authenticates the user, and keeps a secret that only this user can read.
#
#   app.sh ask [BUS]      authenticates; the exit status is the answer
#   app.sh keep [BUS]     stores the secret from standard input
#   app.sh show [BUS]     authenticates, and writes the secret to standard output
#
# BUS is system (the default), session or an address. Needs gdbus (libglib2.0-bin) and localauthctl.
set -eu
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64; }
bus=${2:-system}

ask() {
    case $bus in
    system | session) place=--$bus ;;
    *) place=--address=$bus ;;
    esac
    # gdbus gets a long timeout, because a person answers. The option is the timeout of the service.
    if answer=$(gdbus call "$place" --timeout 660 --dest org.localauth.Authentication1 \
        --object-path /org/localauth/Authentication1 \
        --method org.localauth.Authentication1.Evaluate \
        2 "go on" "{'timeout': <uint64 60000>}" 2>&1); then
        echo "It is you: $answer"
        return
    fi
    # Every error is a refusal; its name is the cause.
    case $answer in
    *org.localauth.Error.UserCancel*) echo "Canceled." >&2 ;;
    *) echo "Refused: $answer" >&2 ;;
    esac
    return 1
}

case $1 in
ask) ask ;;
# localauthctl reads the secret from a pipe and seals it. Every user can read command lines, so a
# secret must never be an argument.
keep)
    localauthctl keychain add --bus "$bus" --service example-app --account shell \
        --flags user-presence --replace --secret-file - >/dev/null
    echo "Kept."
    ;;
show) localauthctl keychain read --bus "$bus" --service example-app --account shell \
    --reason "show your secret" ;;
*) exit 64 ;;
esac

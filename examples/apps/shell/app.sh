#!/bin/sh
# An app: asks who is there, and keeps a secret that is read by that person alone.
#
#   app.sh BUS ask      asks; the exit status is the answer
#   app.sh BUS keep     keeps what comes on standard input
#   app.sh BUS show     writes the secret to standard output, after asking
#
# BUS is system, session or an address. Needs gdbus (libglib2.0-bin) and localauthctl.
set -eu
[ $# = 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64; }
bus=$1

ask() {
    case $bus in
    system | session) place=--$bus ;;
    *) place=--address=$bus ;;
    esac
    # gdbus's own time-out is longer than a person takes; the option is the deadline that counts.
    if answer=$(gdbus call "$place" --timeout 660 --dest org.localauth.Authentication1 \
        --object-path /org/localauth/Authentication1 \
        --method org.localauth.Authentication1.Evaluate \
        2 "go on" "{'timeout': <uint64 60000>}" 2>&1); then
        echo "It is you: $answer"
        return
    fi
    # Every error is a no; its name says why.
    case $answer in
    *org.localauth.Error.UserCancel*) echo "Canceled." >&2 ;;
    *) echo "Refused: $answer" >&2 ;;
    esac
    return 1
}

case $2 in
ask) ask ;;
# localauthctl takes the secret from a pipe, never from a command line, which every user could read,
# and seals it.
keep)
    localauthctl keychain add --bus "$bus" --service example-app --account shell \
        --flags user-presence --replace --secret-file - >/dev/null
    echo "Kept."
    ;;
show) localauthctl keychain read --bus "$bus" --service example-app --account shell \
    --reason "show your secret" ;;
*) exit 64 ;;
esac

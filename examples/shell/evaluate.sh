#!/bin/sh
# Authenticates the user with busctl alone.
#
#   evaluate.sh [BUS]
#
# BUS is system (the default), session or an address. The bus starts the service.
set -eu

case ${1:-system} in
system) bus=--system ;;
session) bus=--user ;;
*) bus=--address=$1 ;;
esac
service=org.localauth.Authentication1
manager=/org/localauth/Authentication1
policy=2 # biometrics or passcode

call() {
    # A person answers the prompt, so busctl's default timeout of 25 s is too short. The service has
    # its own timeout (option "timeout", by default 120 s).
    busctl "$bus" --timeout=660 call "$service" "$manager" "$service" "$@"
}

# Checks whether an evaluation is possible. No prompt. The reply is: available, code, message.
echo "CanEvaluate: $(call CanEvaluate u "$policy")"

# Authenticates. The options are a dictionary: their number, then name, type and value of each.
# The exit status is the answer: a refusal is a D-Bus error, and busctl fails on errors.
if result=$(call Evaluate 'usa{sv}' "$policy" "show how a shell script asks" \
    1 timeout t 60000); then
    echo "It is you: $result"
else
    echo "Not granted." >&2
    exit 1
fi

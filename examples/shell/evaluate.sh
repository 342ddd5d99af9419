#!/bin/sh
# Asks who is there, with nothing but busctl.
#
#   ./evaluate.sh                    the session bus (a development instance)
#   BUS=--system ./evaluate.sh       an installation
#   BUS=--address=ADDRESS ./evaluate.sh
set -eu

bus=${BUS:---user}
service=org.localauth.Authentication1
manager=/org/localauth/Authentication1
policy=2 # biometrics or passcode

call() {
    # A prompt is answered by a person: busctl's own time-out of 25 s is too short for that.
    # The service's deadline (option "timeout", 120 s when absent) is the one that counts.
    busctl "$bus" --timeout=660 call "$service" "$manager" "$service" "$@"
}

# Could it be evaluated now? Nobody is asked. The reply is: available, code, message.
echo "CanEvaluate: $(call CanEvaluate u "$policy")"

# Asks. The options are a dictionary: how many, then name, type and value of each.
# The exit status is the answer: a refusal is a D-Bus error, which busctl reports and fails with.
if result=$(call Evaluate 'usa{sv}' "$policy" "show how a shell script asks" \
    1 timeout t 60000); then
    echo "It is you: $result"
else
    echo "Not granted." >&2
    exit 1
fi

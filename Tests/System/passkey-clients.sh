# Programs for security keys on the device of Alice, run as Alice by passkey-clients.machine:
#
#   sh passkey-clients.sh PROGRAM DEVICE
#
# Each line of output that begins with "passed" is a success.
set -eu
device=$2
cd "$(mktemp -d)"
hash() { printf %s "$1" | openssl dgst -sha256 -binary | base64; }
passed() { echo "passed: $*"; }

# Takes 4 touches.
libfido2() {
    fido2-token -L | grep -q "^$device:"
    passed "fido2-token -L"
    fido2-token -I "$device" | grep -q '^options:.* uv,'
    passed "fido2-token -I"
    printf '%s\n' "$(hash create)" example.com ann "$(hash ann)" | fido2-cred -M -h -r -v "$device" > made
    fido2-cred -V -h -v < made > known
    passed "fido2-cred -M and -V, discoverable, verified, hmac-secret"
    # By its identifier, with a secret. The option -v would demand a PIN.
    printf '%s\n' "$(hash sign)" example.com "$(sed -n 1p known)" "$(hash salt)" > asked
    tail -n +2 known > public
    for number in 1 2; do
        fido2-assert -G -h -t uv=true "$device" < asked > answer$number
        fido2-assert -V -h -v public es256 < answer$number
    done
    [ "$(tail -n 1 answer1)" = "$(tail -n 1 answer2)" ]
    [ "$(sed -n 4p answer1)" != "$(sed -n 4p answer2)" ]
    passed "fido2-assert -G and -V by identifier, equal hmac-secret"
    printf '%s\n' "$(hash other)" example.com | fido2-assert -G -r -t uv=true "$device" > answer
    fido2-assert -V -v public es256 < answer
    passed "fido2-assert -G -r and -V without a list"
}

# Takes 3 touches.
ssh() {
    # ssh-keygen and ssh ask for a PIN, and take an empty one.
    printf '#!/bin/sh\necho\n' > askpass
    chmod 755 askpass
    export SSH_ASKPASS="$PWD/askpass" SSH_ASKPASS_REQUIRE=force
    ssh-keygen -q -t ecdsa-sk -O resident -O verify-required -N '' -f key
    passed "ssh-keygen -t ecdsa-sk -O resident -O verify-required"
    echo text > text
    ssh-keygen -q -Y sign -n file -f key text
    echo "alice namespaces=\"file\" $(cat key.pub)" > signers
    ssh-keygen -Y verify -f signers -I alice -n file -s text.sig < text | grep -q '^Good "file" signature'
    passed "ssh-keygen -Y sign and -Y verify"
    echo "verify-required $(cat key.pub)" > ~/.ssh/authorized_keys
    [ "$(command ssh -i key -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -o LogLevel=ERROR -o PreferredAuthentications=publickey alice@127.0.0.1 id -un)" = alice ]
    passed "ssh to an account that demands verification"
}

# Takes 2 touches.
sudo() {
    pamu2fcfg -o pam://clients -i pam://clients -r -V > ~/keys
    grep -q '+presence+verification$' ~/keys
    passed "pamu2fcfg -r -V: $(sed 's/.*,//' ~/keys)"
    [ "$(command sudo -S id -u < /dev/null)" = 0 ]
    passed "sudo by pam_u2f with userverification=1"
}

"$1"

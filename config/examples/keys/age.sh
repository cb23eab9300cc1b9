#!/bin/sh
# Wraps the secret of a store with age: for its own keys, and for those of plugins such as
# age-plugin-yubikey. It needs age and jq.
#
#   age-keygen -o identities.txt && age-keygen -y identities.txt > recipients.txt     # a file
#   age-plugin-yubikey --generate --touch-policy never > identities.txt               # a YubiKey
#
#   key: { protection: { exec: [/etc/postern/age.sh, /etc/postern/recipients.txt, /etc/postern/identities.txt] } }
set -eu
recipients=$1 identities=$2

# printf is of the shell: no argument of a program, which everybody may read, has the secret
request=$(cat)
field() { printf '%s' "$request" | jq -er "$1"; }

context=$(field .context)
case $(field .op) in
  wrap)
    secret=$(field .secret)
    wrapped=$(printf '%s\n' "$context" "$secret" | age -e -a -R "$recipients")
    printf '%s\n' "$wrapped" | jq -Rsc '{wrapped: .}'
    ;;
  unwrap)
    # age authenticates no context: it is in the plaintext
    opened=$(field .wrapped | age -d -i "$identities")
    [ "${opened%%
*}" = "$context" ]
    printf '%s\n' "$opened" | tail -n 1 | jq -Rc '{secret: .}'
    ;;
  *) exit 2 ;;
esac

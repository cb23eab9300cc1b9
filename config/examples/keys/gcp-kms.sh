#!/bin/sh
# Wraps the secret of a store by Google Cloud KMS. It needs gcloud and jq, and the role
# roles/cloudkms.cryptoKeyEncrypterDecrypter for one symmetric key.
#
#   key:
#     protection:
#       exec: [/etc/postern/gcp-kms.sh, projects/P/locations/L/keyRings/R/cryptoKeys/postern]
set -eu
key=$1

# printf is of the shell: no argument of a program, which everybody may read, has the secret
request=$(cat)
field() { printf '%s' "$request" | jq -er "$1"; }

context=$(mktemp)
trap 'rm -f "$context"' EXIT
field .context > "$context"
kms() { gcloud kms "$1" --key="$key" --additional-authenticated-data-file="$context" "$2" "$3"; }

case $(field .op) in
  wrap)
    wrapped=$(field .secret | base64 -d |
      kms encrypt --plaintext-file=- --ciphertext-file=- | base64 -w 0)
    [ "$wrapped" ]
    printf '%s' "$wrapped" | jq -Rc '{wrapped: .}'
    ;;
  unwrap)
    secret=$(field .wrapped | base64 -d |
      kms decrypt --ciphertext-file=- --plaintext-file=- | base64 -w 0)
    [ "$secret" ]
    printf '%s' "$secret" | jq -Rc '{secret: .}'
    ;;
  *) exit 2 ;;
esac

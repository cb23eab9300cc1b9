#!/bin/sh
# Wraps the secret of a store by AWS KMS. It needs the AWS CLI (version 2) and jq, and the right to
# kms:Encrypt and kms:Decrypt with one symmetric key. CloudTrail logs each start of a sidecar.
#
#   key: { protection: { exec: [/etc/postern/aws-kms.sh, alias/postern] } }
set -eu
key=$1

# printf is of the shell: no argument of a program, which everybody may read, has the secret
request=$(cat)
field() { printf '%s' "$request" | jq -er "$1"; }

context=postern=$(field .context)
case $(field .op) in
  wrap)
    wrapped=$(field .secret | base64 -d |
      aws kms encrypt --key-id "$key" --plaintext fileb:///dev/stdin \
        --encryption-context "$context" --query CiphertextBlob --output text)
    printf '%s' "$wrapped" | jq -Rc '{wrapped: .}'
    ;;
  unwrap)
    secret=$(field .wrapped | base64 -d |
      aws kms decrypt --key-id "$key" --ciphertext-blob fileb:///dev/stdin \
        --encryption-context "$context" --query Plaintext --output text)
    printf '%s' "$secret" | jq -Rc '{secret: .}'
    ;;
  *) exit 2 ;;
esac

#!/usr/bin/env node
// Wraps the secret of a store by the transit engine of Vault or OpenBao. It needs VAULT_ADDR, and
// VAULT_TOKEN_FILE or VAULT_TOKEN, with a policy for two paths:
//
//   vault write -f transit/keys/postern
//   path "transit/encrypt/postern" { capabilities = ["update"] }
//   path "transit/decrypt/postern" { capabilities = ["update"] }
//
//   key: { protection: { exec: [node, /etc/postern/vault-transit.mjs, transit, postern] } }
import { readFileSync } from 'node:fs'

const [mount = 'transit', key = 'postern'] = process.argv.slice(2)
const { VAULT_ADDR, VAULT_TOKEN, VAULT_TOKEN_FILE, VAULT_NAMESPACE } = process.env
const token = VAULT_TOKEN_FILE ? readFileSync(VAULT_TOKEN_FILE, 'utf8').trim() : VAULT_TOKEN

const { op, secret, wrapped, context } = JSON.parse(readFileSync(0, 'utf8'))
const associated_data = Buffer.from(context).toString('base64')

async function ask(path, body) {
  const answer = await fetch(new URL(`/v1/${mount}/${path}/${key}`, VAULT_ADDR), {
    method: 'POST',
    headers: {
      'x-vault-token': token,
      'x-vault-request': 'true',
      ...(VAULT_NAMESPACE && { 'x-vault-namespace': VAULT_NAMESPACE }),
    },
    body: JSON.stringify({ ...body, associated_data }),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  })
  if (!answer.ok) throw new Error(`Vault answered ${answer.status}`)
  return (await answer.json()).data
}

if (op === 'wrap') {
  const { ciphertext } = await ask('encrypt', { plaintext: secret })
  console.log(JSON.stringify({ wrapped: ciphertext }))
} else if (op === 'unwrap') {
  const { plaintext } = await ask('decrypt', { ciphertext: wrapped })
  console.log(JSON.stringify({ secret: plaintext }))
} else process.exitCode = 2

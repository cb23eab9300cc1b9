/** The programs of the examples that wrap the secret of a store, each as its own process. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { wrapperBy } from '../../src/config/key-commands.ts'
import { has } from '../support/lacks.ts'
import { listening } from '../support/listening.ts'
import { isInstalled, run } from '../support/programs.ts'
import { WrapperDouble } from '../support/wrapper-double.ts'
import { open, temporary } from '../store/support.ts'

const FOLDER = 'config/examples/keys'
const SECRET = Buffer.from('0123456789abcdef0123456789abcdef')
const { PATH = '' } = process.env

/** A program of the examples, and what its key is. */
interface Scene {
  argv: string[]
  env: Record<string, string>
  /** Puts another key in the place of the one that has wrapped. */
  loseKey: () => void | Promise<void>
}

/** Writes a program that stands in for a service's own, and notes its arguments in `ps`. */
function program(folder: string, name: string, script: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true })
  const file = join(folder, 'bin', name)
  writeFileSync(file, `#!${process.execPath}\n${CIPHER}${script}`)
  chmodSync(file, 0o755)
}

/** AES-256-GCM under the key in the file `key`, beside the folder of the programs. */
const CIPHER = `
const { createCipheriv, createDecipheriv, randomBytes } = require('node:crypto')
const { appendFileSync, readFileSync } = require('node:fs')
const folder = require('node:path').join(__dirname, '..')
const key = readFileSync(folder + '/key')
appendFileSync(folder + '/ps', process.argv.join('\\n') + '\\n')
const encrypt = (plain, aad) => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aad))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}
const decrypt = (sealed, aad) => {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(Buffer.from(aad))
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
}
const option = (name) => {
  const at = process.argv.findIndex((one) => one === name || one.startsWith(name + '='))
  if (at < 0) throw new Error('missing ' + name)
  const [, ...rest] = process.argv[at].split('=')
  return rest.length > 0 ? rest.join('=') : process.argv[at + 1]
}
const expected = (is, wanted) => { if (is !== wanted) throw new Error(is + ' is not ' + wanted) }
`

/** As \`aws kms\` of the AWS CLI 2: bytes in, base64 out. */
const AWS = `
expected(process.argv[2], 'kms')
expected(option('--key-id'), 'alias/postern')
expected(option('--output'), 'text')
const aad = option('--encryption-context')
if (!/^postern=./.test(aad)) throw new Error('expected name=value')
const bytesOf = (path) => readFileSync(path.replace('fileb://', ''))
if (process.argv[3] === 'encrypt') {
  expected(option('--query'), 'CiphertextBlob')
  console.log(encrypt(bytesOf(option('--plaintext')), aad).toString('base64'))
} else {
  expected(process.argv[3], 'decrypt')
  expected(option('--query'), 'Plaintext')
  console.log(decrypt(bytesOf(option('--ciphertext-blob')), aad).toString('base64'))
}
`

/** As \`gcloud kms\`: bytes in, bytes out. */
const GCLOUD = `
expected(process.argv[2], 'kms')
expected(option('--key'), 'projects/p/locations/l/keyRings/r/cryptoKeys/k')
expected(option('--plaintext-file'), '-')
expected(option('--ciphertext-file'), '-')
const aad = readFileSync(option('--additional-authenticated-data-file'))
const cipher = { encrypt, decrypt }[process.argv[3]]
process.stdout.write(cipher(readFileSync(0), aad))
`

/** The programs that stand in for a service's own. */
function programs(name: string, script: string, argument: string) {
  return (file: string): Promise<Scene> => {
    const folder = temporary()
    program(folder, name, script)
    const makeKey = () =>
      writeFileSync(join(folder, 'key'), crypto.getRandomValues(new Uint8Array(32)))
    makeKey()
    onTestFinished(() => {
      const shown = existsSync(join(folder, 'ps')) ? readFileSync(join(folder, 'ps'), 'utf8') : ''
      for (const form of ['base64', 'hex', 'utf8'] as const) {
        expect(shown).not.toContain(SECRET.toString(form))
      }
    })
    const env = { PATH: `${join(folder, 'bin')}:${PATH}` }
    return Promise.resolve({ argv: [file, argument], env, loseKey: makeKey })
  }
}

async function withAge(file: string): Promise<Scene> {
  const folder = temporary()
  const [identities, recipients] = ['identities', 'recipients'].map((name) => join(folder, name))
  const makeKey = async (): Promise<void> => {
    const { stdout } = await run('age-keygen', [])
    writeFileSync(identities ?? '', stdout, { mode: 0o600 })
    const { stdout: shown } = await run('age-keygen', ['-y', identities ?? ''])
    writeFileSync(recipients ?? '', shown)
  }
  await makeKey()
  return { argv: [file, recipients ?? '', identities ?? ''], env: { PATH }, loseKey: makeKey }
}

/** The two calls of Vault’s transit engine (API, Transit: encrypt data, decrypt data). */
async function withVault(file: string): Promise<Scene> {
  const key = new WrapperDouble()
  const respond = async (request: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const fail = (status: number) => void answer.writeHead(status).end('{"errors":[]}')
    if (request.headers['x-vault-token'] !== 'hvs.token') return fail(403)
    const op = /^\/v1\/secrets\/(encrypt|decrypt)\/bot$/.exec(request.url ?? '')?.[1]
    if (request.method !== 'POST' || op === undefined) return fail(404)
    const body = JSON.parse(await text(request)) as Record<string, string>
    const { plaintext = '', ciphertext = '', associated_data: context = '' } = body
    const data =
      op === 'encrypt'
        ? { ciphertext: key.encrypt(Buffer.from(plaintext, 'base64'), context) }
        : { plaintext: key.decrypt(ciphertext, context).toString('base64') }
    answer.end(JSON.stringify({ request_id: 'r', data }))
  }
  const server = createServer((request, answer) => {
    respond(request, answer).catch(() => answer.writeHead(400).end('{"errors":[]}'))
  })
  const token = join(temporary(), 'token')
  writeFileSync(token, 'hvs.token\n', { mode: 0o600 })
  return {
    argv: [process.execPath, file, 'secrets', 'bot'],
    env: { PATH, VAULT_ADDR: await listening(server), VAULT_TOKEN_FILE: token },
    loseKey: () => key.loseKey(),
  }
}

const SCENES: Record<string, { needs: string[]; begin: (file: string) => Promise<Scene> }> = {
  'age.sh': { needs: ['age', 'age-keygen', 'jq'], begin: withAge },
  'aws-kms.sh': { needs: ['jq'], begin: programs('aws', AWS, 'alias/postern') },
  'gcp-kms.sh': {
    needs: ['jq'],
    begin: programs('gcloud', GCLOUD, 'projects/p/locations/l/keyRings/r/cryptoKeys/k'),
  },
  'vault-transit.mjs': { needs: [], begin: withVault },
}

test('the test covers every key program of the examples', () => {
  const files = readdirSync(FOLDER).filter((name) => name !== 'README.md')
  expect(files.toSorted()).toEqual(Object.keys(SCENES).toSorted())
})

describe.each(Object.entries(SCENES))('%s', (name, { needs, begin }) => {
  const lacking = needs.filter((one) => !isInstalled(one))
  const isThere = has(lacking.length === 0, `${lacking.join(', ')} is not installed`)
  const testIt = test.skipIf(!isThere)
  const file = join(process.cwd(), FOLDER, name)

  testIt('the key program wraps a secret and unwraps it only with the same context', async () => {
    const wrapper = wrapperBy(await begin(file))
    const wrapped = await wrapper.wrap(SECRET, 'store-1')
    expect(wrapped).not.toContain(SECRET.toString('base64'))
    expect(await wrapper.wrap(SECRET, 'store-1')).not.toBe(wrapped)
    expect(await wrapper.unwrap(wrapped, 'store-1')).toEqual(SECRET)
    for (const [one, context] of [
      [wrapped, 'store-2'],
      [`${wrapped.slice(0, -20)}AAAAAAAAAAAAAAAAAAAA`, 'store-1'],
      ['nothing', 'store-1'],
    ] as const) {
      const message = expect.stringMatching(/key\.protection ended with exit code \d+$/) as string
      await expect(wrapper.unwrap(one, context)).rejects.toMatchObject({
        code: 'key-command',
        message,
      })
    }
  })

  testIt('the key program protects a store, and another key does not open the store', async () => {
    const { loseKey, ...command } = await begin(file)
    const request = { protection: 'exec', wrapper: wrapperBy(command), isBinding: true } as const
    const dataDir = temporary()
    const store = await open(dataDir, request)
    const secret = await store.secret('replay')
    await store[Symbol.asyncDispose]()
    const again = await open(dataDir, request)
    expect(await again.secret('replay')).toEqual(secret)
    await again[Symbol.asyncDispose]()
    await loseKey()
    await expect(open(dataDir, request)).rejects.toMatchObject({ code: 'key-command', exitCode: 1 })
  })
})

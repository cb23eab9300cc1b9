/** Secret keys from and to other programs, through the engine as the commands use it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/create.ts'
import type { OwnKey } from '../../src/openpgp/engine.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { isInstalled, run, shortFolder } from '../support/programs.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'

const engine = createEngine({ threads: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

const OUT = 'under which it goes out'
const MASTER = 'what the store keeps it under'
const FULL: [string, string[][]][] = [
  [
    'ed25519 with cv25519',
    [
      ['ed25519', 'default', 'never'],
      ['cv25519', 'encrypt', 'never'],
    ],
  ],
  [
    'rsa2048',
    [
      ['rsa2048', 'default', 'never'],
      ['rsa2048', 'encrypt', '1y'],
    ],
  ],
  [
    'nistp256',
    [
      ['nistp256', 'default', 'never'],
      ['nistp256', 'encrypt', 'never'],
    ],
  ],
  [
    'a signing subkey',
    [
      ['ed25519', 'cert', 'never'],
      ['ed25519', 'sign', 'never'],
      ['cv25519', 'encrypt', 'never'],
    ],
  ],
]

/** Makes a key in gpg: the primary and its subkeys, each by algorithm, usage and expiry. */
async function inGpg(gpg: Gpg, parts: string[][], always: string[] = []): Promise<string> {
  const [primary = [], ...subkeys] = parts
  const quick = (args: string[]) => gpg.run([...always, ...args], undefined, OUT)
  await quick(['--quick-generate-key', 'bot <bot@example.org>', ...primary])
  const { stdout } = await gpg.run(['--with-colons', '--list-secret-keys'])
  const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(stdout.toString())?.[1] ?? ''
  for (const subkey of subkeys) await quick(['--quick-add-key', fingerprint, ...subkey])
  return fingerprint
}

/** Exports it, and takes it over. */
async function adopted(gpg: Gpg, how: string[], fingerprint: string): Promise<string> {
  const { stdout } = await gpg.run([...how, fingerprint], undefined, OUT)
  const done = await engine.adopt(stdout, { from: OUT, to: MASTER })
  return done.outcome === 'unfit' ? done.reason : done.key.fingerprint.toUpperCase()
}

const exported = async (key: OwnKey): Promise<string> =>
  await engine.relock(key.locked, { from: MASTER, to: OUT })

const generated = (): Promise<OwnKey> =>
  engine.generate({ userId: 'echo_bot', createdMs: Date.now() - 300_000, passphrase: MASTER })

const sealedTo = async (key: OwnKey): Promise<string> =>
  await engine.seal({
    text: 'for whoever holds the key',
    certificates: [],
    signer: await engine.unlock(key.locked, MASTER),
    cipher: 'aes256',
  })

describe.skipIf(!isInstalled('gpg'))('gpg', () => {
  test.each(FULL)('a secret key of gpg is adopted: %s', async (_what, parts) => {
    await using gpg = await Gpg.start()
    const fingerprint = await inGpg(gpg, parts)
    expect(await adopted(gpg, ['--armor', '--export-secret-keys'], fingerprint)).toBe(fingerprint)
    expect(await adopted(gpg, ['--export-secret-keys'], fingerprint)).toBe(fingerprint)
  })

  test('unusable secret keys of gpg are refused, each by its own reason', async () => {
    await using gpg = await Gpg.start()
    const fingerprint = await inGpg(gpg, [
      ['ed25519', 'cert', 'never'],
      ['cv25519', 'encrypt', 'never'],
    ])
    const armored = ['--armor', '--export-secret-keys']
    expect(await adopted(gpg, ['--armor', '--export'], fingerprint)).toBe('public-only')
    expect(await adopted(gpg, ['--armor', '--export-secret-subkeys'], fingerprint)).toBe(
      'subkeys-only',
    )
    expect(await adopted(gpg, armored, fingerprint)).toBe('no-signing-key')
    await gpg.run(
      ['--quick-generate-key', 'another', 'ed25519', 'default', 'never'],
      undefined,
      OUT,
    )
    const both = await gpg.run(armored, undefined, OUT)
    expect(await engine.adopt(both.stdout, { from: OUT, to: MASTER })).toMatchObject({
      reason: 'several-keys',
    })
  })

  test('gpg imports an exported key, opens and verifies a message with it, and exports it again', async () => {
    await using gpg = await Gpg.start()
    const key = await generated()
    await gpg.run(['--import'], await exported(key), OUT)
    const listed = await gpg.run(['--with-colons', '--list-secret-keys'])
    expect(listed.stdout.toString()).toContain(key.fingerprint.toUpperCase())
    const opened = await gpg.run(['--decrypt'], await sealedTo(key), OUT)
    expect(opened.stdout.toString()).toBe('for whoever holds the key')
    expect(opened.stderr).toContain('Good signature')
    await gpg.forget()
    expect((await gpg.try(['--decrypt'], await sealedTo(key), 'another')).code).not.toBe(0)
    const how = ['--armor', '--export-secret-keys']
    expect(await adopted(gpg, how, key.fingerprint)).toBe(key.fingerprint.toUpperCase())
  })
})

describe.skipIf(!isInstalled('sq'))('sq', () => {
  test.each(['cv25519', 'rsa3k'])('a secret key of sq is adopted: %s', async (suite) => {
    await using folder = await shortFolder()
    const file = join(folder.path, 'key.pgp')
    const args = ['key', 'generate', '--userid', 'bot', '--cipher-suite', suite, '--export', file]
    expect((await run('sq', args)).code).toBe(0)
    const done = await engine.adopt(await readFile(file), { from: null, to: MASTER })
    expect(done).toMatchObject({ outcome: 'adopted' })
  })

  test.skipIf(!hasTerminals)('sq unlocks an exported key and opens a message with it', async () => {
    await using folder = await shortFolder()
    const [locked, open, message] = ['locked', 'open', 'message'].map((name) =>
      join(folder.path, name),
    )
    const key = await generated()
    await writeFile(String(locked), await exported(key))
    await writeFile(String(message), await sealedTo(key))
    const unlock = ['sq', 'key', 'password', '--clear', '--output', String(open), String(locked)]
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path }
    const ask = /password[^]*: /i
    const session = await atTerminal(unlock, [{ when: ask, types: `${OUT}\r` }], { env })
    expect(session.code, session.screen).toBe(0)
    const opened = await run('sq', ['decrypt', '--recipient-key', String(open), String(message)])
    expect(opened.stdout.toString()).toBe('for whoever holds the key')
    const back = await engine.adopt(await readFile(String(open)), { from: null, to: MASTER })
    expect(back).toMatchObject({ outcome: 'adopted', key: { fingerprint: key.fingerprint } })
  })
})

describe.skipIf(!isInstalled('rnpkeys'))('rnp', () => {
  test('rnp imports an exported key', async () => {
    await using folder = await shortFolder()
    const file = join(folder.path, 'key.asc')
    const key = await generated()
    await writeFile(file, await exported(key))
    const args = ['--homedir', folder.path, '--import-keys', file]
    expect((await run('rnpkeys', args)).code).toBe(0)
    const listed = await run('rnpkeys', ['--homedir', folder.path, '--list-keys', '--secret'])
    expect(listed.stdout.toString().toLowerCase()).toContain(key.fingerprint)
  })
})

/** What a hostile sender, or a caller at the socket, can do to an agent and to who asks it. */
import { createMessage, encrypt, readKey } from 'openpgp'
import { expect, onTestFinished, test } from 'vitest'
import { ASK, STATUS } from '../../src/agent/frames.ts'
import { openAgentKeys } from '../../src/agent/keys.ts'
import { engineWithHolder } from '../../src/agent/held-engine.ts'
import { connectHolder } from '../../src/agent/holders.ts'
import { createTransfer, type Transfer } from '../../src/keys/transfer.ts'
import { ED25519 } from '../../src/openpgp/crypto/ed25519.ts'
import { readOwnSecrets } from '../../src/openpgp/native/own-secrets.ts'
import { memoryOf } from '../../src/store/memory.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { ALGORITHM } from '../../src/openpgp/crypto/algorithm.ts'
import { publicKeyOf } from '../../src/openpgp/crypto/public-key.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { framePacket } from '../../src/openpgp/format/packet-writer.ts'
import { packetsOf, TAG } from '../../src/openpgp/format/packets.ts'
import { contentOf, MemoryRoom, readerOf } from '../support/memory-room.ts'
import { concat } from '../support/openpgp-bytes.ts'
import { armor } from '../support/openpgp-framing.ts'
import { literal } from '../support/openpgp-inner.ts'
import { seipd, sessionKey } from '../support/openpgp-sealed.ts'
import { loadKeyring } from '../keys/support.ts'
import { open, temporary } from '../store/support.ts'
import { freshFolder, startAgentInside, startLiar } from './support.ts'

const MADE = { userId: 'bot', createdMs: Date.now() - 300_000, passphrase: '' }

/** An agent that has a key, and who asks it. */
async function agentWith(locked: string, passphrase: string) {
  const folder = freshFolder()
  const at = { dataDir: `${folder}/agent`, passphrase: null, protection: 'none' } as const
  const keys = await openAgentKeys({ ...at, wrapper: null })
  await keys.importKey(Buffer.from(locked), passphrase)
  await keys[Symbol.asyncDispose]()
  const { address } = await startAgentInside({}, folder)
  return askerOf(address)
}

function askerOf(address: string) {
  const base = createEngine({ threads: 1 })
  const holder = connectHolder(address)
  onTestFinished(async () => {
    await base[Symbol.asyncDispose]()
    await holder[Symbol.asyncDispose]()
  })
  return { base, holder, engine: engineWithHolder<MeasuredEngine>(base, holder) }
}

async function heldKey(algorithm: 'classic' | 'pqc' = 'classic') {
  const passphrase = 'p'.repeat(64)
  await using maker = createEngine({ threads: 1 })
  const { locked, certificate } = await maker.generate({ ...MADE, algorithm, passphrase })
  const { engine, holder } = await agentWith(locked, passphrase)
  return { engine, holder, certificate, key: await engine.unlock(certificate, '') }
}

const KEY = sessionKey('agent')
/** A recipient packet that names a subkey, and has any bytes. */
const packetOf = ({ keyIds }: UnlockedKey, length: number): Buffer =>
  framePacket(
    TAG.pkesk,
    Buffer.concat([
      Buffer.of(3),
      Buffer.from(keyIds[1] ?? '', 'hex'),
      Buffer.of(18),
      Buffer.alloc(length, 1),
    ]),
  )

test.each([5000, 16_000, 80_000])(
  'a PKESK packet of %s bytes is damaged and leaves the agent reachable',
  async (length) => {
    const { engine, holder, key } = await heldKey()
    const bytes = concat(packetOf(key, length), seipd(literal('words'), KEY))
    const armored = armor(bytes)
    expect(await engine.open(armored, [key])).toEqual({ outcome: 'damaged', reason: 'decryption' })
    expect(holder.state.isReachable).toBe(true)
  },
)

test('three hundred messages to anonymous recipients all open', async () => {
  const { engine, certificate, key } = await heldKey()
  const armored = await encrypt({
    message: await createMessage({ text: 'words' }),
    encryptionKeys: await readKey({ armoredKey: certificate }),
    wildcard: true,
  })
  const all = await Promise.all(Array.from({ length: 300 }, () => engine.open(armored, [key])))
  expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['opened']))
})

const contentAt = async (engine: MeasuredEngine, key: UnlockedKey, bytes: Buffer) => {
  const room = new MemoryRoom()
  const opened = await engine.openFile(readerOf(bytes, 50_000), {
    form: 'binary',
    keys: [key],
    room,
  })
  return opened.outcome === 'opened' ? (await contentOf(opened.file)).toString() : opened.outcome
}

const forms: [string, object][] = [
  ['of the common form', {}],
  ['to anonymous recipients', { wildcard: true }],
  ['in a version 2 container', { config: { aeadProtect: true } }],
]

test.each(forms)('an attachment %s opens with a held key', async (_what, how) => {
  const { engine, certificate, key } = await heldKey()
  const bytes = (await encrypt({
    message: await createMessage({ binary: Buffer.from('a picture') }),
    encryptionKeys: await readKey({ armoredKey: certificate }),
    format: 'binary',
    ...how,
  } as never)) as unknown as Uint8Array
  expect(await contentAt(engine, key, Buffer.from(bytes))).toBe('a picture')
})

test('a held key with an ML-KEM-768+X25519 subkey opens messages sealed to it', async () => {
  const { engine, certificate, key } = await heldKey('pqc')
  const armored = await engine.seal({
    text: 'words',
    certificates: [certificate],
    signer: key,
    cipher: 'aes256',
  })
  expect(await engine.open(armored, [key])).toMatchObject({ outcome: 'opened', text: 'words' })
})

test('`generate` at an agent makes a key of the requested algorithm', async () => {
  const { engine } = await heldKey()
  const { certificate } = await engine.generate({ ...MADE, algorithm: 'pqc' })
  const keys = [...packetsOf(dearmor(certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0))].map(
    ({ body }) => publicKeyOf(body)?.algorithm,
  )
  expect(keys).toContain(ALGORITHM.mlKem768X25519)
})

/** A store with a key of ours whose secret is in it. */
async function storedKey(algorithm: 'classic' | 'pqc') {
  const base = createEngine({ threads: 1 })
  onTestFinished(() => base[Symbol.asyncDispose]())
  const store = await open(temporary(), { protection: 'none' })
  const keyring = await loadKeyring(store, base)
  const key = await keyring.makePending('bot', algorithm)
  const transferTo = (engine: MeasuredEngine): Transfer =>
    createTransfer({ memory: memoryOf(store), engine, keyring, ownerOf: () => null })
  return { ...key, keyring, transferTo }
}

test('`entrust` keeps the stored secret when the agent does not open a message with the key', async () => {
  const { fingerprint, certificate, unlocked, keyring, transferTo } = await storedKey('classic')
  const [signing] = readOwnSecrets(unlocked.bytes).values()
  if (signing === undefined) throw new Error('no key')
  const { address } = await startLiar(({ kind, body }) => {
    if (kind === ASK.hello) return { kind: STATUS.done, body: Buffer.of(1) }
    if (kind !== ASK.sign) return { kind: STATUS.unknownKey, body: Buffer.alloc(0) }
    return { kind: STATUS.done, body: ED25519.sign(signing.secret, body.subarray(20)) }
  })
  const transfer = transferTo(askerOf(address).engine)
  const given = transfer.entrust({ file: Buffer.from(certificate) })
  await expect(given).rejects.toMatchObject({ code: 'postern_locked' })
  expect(keyring.find(fingerprint)?.unlocked).toBe(unlocked)
  expect(await transfer.give(fingerprint, 'words')).toMatch(/PRIVATE KEY BLOCK/)
})

test('`entrust` moves a key to an agent only with all of its subkeys', async () => {
  const { fingerprint, certificate, unlocked, keyring, transferTo } = await storedKey('pqc')
  const base = createEngine({ threads: 1 })
  onTestFinished(() => base[Symbol.asyncDispose]())
  const { engine } = await agentWith(await transferTo(base).give(fingerprint, 'words'), 'words')
  const packets = [...packetsOf(dearmor(certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0))]
  const stripped = packets.slice(0, -2).map(({ tag, body }) => framePacket(tag, body))
  const file = Buffer.from(armor(Buffer.concat(stripped), { type: 'PUBLIC KEY BLOCK' }))
  const transfer = transferTo(engine)
  await expect(transfer.entrust({ file })).rejects.toMatchObject({ code: 'refused' })
  expect(keyring.find(fingerprint)?.unlocked).toBe(unlocked)
  await transfer.entrust({ file: Buffer.from(certificate) })
  expect(keyring.find(fingerprint)?.unlocked?.holder).toBeDefined()
})

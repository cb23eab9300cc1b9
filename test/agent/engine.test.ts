/** An engine whose secret keys an agent has, over a real socket. */
import { createMessage, encrypt, enums, readCleartextMessage, readKey, verify } from 'openpgp'
import { expect, onTestFinished, test } from 'vitest'
import { engineWithHolder } from '../../src/agent/held-engine.ts'
import { connectHolder } from '../../src/agent/holders.ts'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import type { OwnKey, UnlockedKey } from '../../src/openpgp/engine.ts'
import { bot } from '../support/openpgp-people.ts'
import { startAgentInside } from './support.ts'

const MADE = { userId: 'bot', createdMs: Date.now() - 300_000, passphrase: '' }

function engineAt(address: string, options = {}): MeasuredEngine {
  const holder = connectHolder(address)
  const engine = createEngine({ threads: 1, ...options })
  onTestFinished(async () => {
    await engine[Symbol.asyncDispose]()
    await holder[Symbol.asyncDispose]()
  })
  return engineWithHolder<MeasuredEngine>(engine, holder)
}

async function keyOf(engine: MeasuredEngine): Promise<OwnKey & { unlocked: UnlockedKey }> {
  const key = await engine.generate(MADE)
  return { ...key, unlocked: await engine.unlock(key.locked, '') }
}

const seal = (engine: MeasuredEngine, signer: UnlockedKey, text: string): Promise<string> =>
  engine.seal({ text, certificates: [], signer, cipher: 'aes256' })

const toNobody = { wildcard: true }
const rare: [string, object][] = [
  ['to anonymous recipients', toNobody],
  ['with compression', { config: { preferredCompressionAlgorithm: enums.compression.zlib } }],
  ['in a version 2 container', { config: { aeadProtect: true } }],
]

test.each(rare)(
  'a message %s is read by openpgp.js and opens with a held key',
  async (_what, how) => {
    const { address } = await startAgentInside()
    const engine = engineAt(address)
    const { certificate, unlocked } = await keyOf(engine)
    const armored = (await encrypt({
      message: await createMessage({ text: 'words' }),
      encryptionKeys: await readKey({ armoredKey: certificate }),
      ...how,
    } as never)) as string
    expect(await engine.open(armored, [unlocked])).toMatchObject({
      outcome: 'opened',
      text: 'words',
    })
  },
)

test('a new held key is certified by the former key, stored or held', async () => {
  const { address } = await startAgentInside()
  const engine = engineAt(address)
  const first = await engine.generate({ ...MADE, certifiedBy: bot.unlocked })
  const second = await engine.generate({
    ...MADE,
    certifiedBy: await engine.unlock(first.locked, ''),
  })
  const certifiers = async (armored: string): Promise<string[]> => {
    const [user] = (await readKey({ armoredKey: armored })).users
    return user?.otherCertifications.map((one) => one.issuerKeyID.toHex()) ?? []
  }
  expect(await certifiers(first.certificate)).toEqual([bot.primary.keyId])
  expect(await certifiers(second.certificate)).toEqual([first.fingerprint.slice(24)])
  const user = (await readKey({ armoredKey: second.certificate })).users[0]
  const by = await readKey({ armoredKey: first.certificate })
  await expect(user?.verify()).resolves.toBe(true)
  const verified = await user?.verifyAllCertifications([by])
  expect(verified?.some(({ valid }) => valid === true)).toBe(true)
})

test('a text signed with a held key is verified by every engine, and a changed one by none', async () => {
  const { address } = await startAgentInside()
  const engine = engineAt(address)
  const { unlocked, certificate } = await keyOf(engine)
  const text = await engine.signText('one \n- two\nthree', unlocked, Date.now())
  for (const [file, result] of [
    [text, 'valid'],
    [text.replace('three', 'four'), 'bad'],
  ] as const) {
    const signed = await engine.readSigned(Buffer.from(file), null)
    expect(signed && (await engine.verify(signed, certificate, Date.now()))).toEqual([result])
  }
  const message = await readCleartextMessage({ cleartextMessage: text })
  const verificationKeys = await readKey({ armoredKey: certificate })
  const { signatures } = await verify({ message, verificationKeys })
  await expect(signatures[0]?.verified).resolves.toBe(true)
})

test('`openpgp.check` compares the results of held keys with openpgp.js', async () => {
  const { address } = await startAgentInside()
  const engine = engineAt(address, { check: 'all' })
  const ended: unknown[] = []
  engine.onCheck((check) => ended.push(check))
  const { unlocked } = await keyOf(engine)
  await engine.open(await seal(engine, unlocked, 'words'), [unlocked])
  await expect
    .poll(() => ended, { timeout: 20_000 })
    .toEqual([
      { work: 'sealed', result: 'same' },
      { work: 'opened', result: 'same' },
    ])
})

test('a held key is not unlocked without its holder', async () => {
  const { address } = await startAgentInside()
  const { locked } = await keyOf(engineAt(address))
  const engine = createEngine({ threads: 1 })
  onTestFinished(() => engine[Symbol.asyncDispose]())
  await expect(engineWithHolder(engine, null).unlock(locked, '')).rejects.toMatchObject({
    code: 'settings',
  })
})

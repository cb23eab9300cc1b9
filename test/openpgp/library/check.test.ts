/** Checks by openpgp.js of messages that native code sealed, opened or verified. */
import { randomBytes } from 'node:crypto'
import { config, enums } from 'openpgp'
import { expect, onTestFinished, test } from 'vitest'
import type { OpenedText, UnlockedKey } from '../../../src/openpgp/engine.ts'
import {
  compareOpened,
  compareSealed,
  compareVerified,
  type CheckedMessage,
} from '../../../src/openpgp/library/check.ts'
import { KEY, openArmored, sealHere } from '../../support/openpgp-engine.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { literal, signedLiteral } from '../../support/openpgp-inner.ts'
import { NOW_MS, alice, bot, mallory, testPerson } from '../../support/openpgp-people.ts'
import { pkesk, seipd } from '../../support/openpgp-sealed.ts'

const people = [alice.certificate, mallory.certificate, testPerson('carol').certificate]
const sealedTo = async (certificates: string[]): Promise<string> =>
  await sealHere({ text: 'hello', certificates, signer: bot.unlocked, cipher: 'aes256' }, NOW_MS)
const byHand = (inner: Buffer): string =>
  armor(concat(pkesk(alice.subkey, KEY), pkesk(bot.subkey, KEY), seipd(inner, KEY)))
const by = { signer: bot.primary, atMs: NOW_MS }

async function compare(armored: string, said: Partial<CheckedMessage> = {}) {
  const known = { text: 'hello', certificates: [alice.certificate], of: 1, atMs: NOW_MS }
  return await compareSealed({ armored, signer: bot.unlocked, ...known, ...said })
}

test.each<[string, string[], Partial<CheckedMessage>]>([
  ['one person', [alice.certificate], {}],
  ['the bot alone', [], { certificates: [], of: 0 }],
  ['three people, one of whom is checked,', people, { of: 3 }],
])('`compareSealed` finds no difference in a message for %s', async (_, certificates, said) => {
  expect(await compare(await sealedTo(certificates), said)).toBe('same')
})

test.each<[string, () => string | Promise<string>, Partial<CheckedMessage>]>([
  ['has another text', () => sealedTo([alice.certificate]), { text: 'hallo' }],
  [
    'is for another person',
    () => sealedTo([alice.certificate]),
    { certificates: [mallory.certificate] },
  ],
  ['has a recipient too many', () => sealedTo([alice.certificate]), { certificates: [], of: 0 }],
  ['lacks its only recipient', () => sealedTo([]), {}],
  ['has a recipient too many of several', () => sealedTo(people), { of: 2 }],
  ['lacks the checked recipient', () => sealedTo(people.slice(1)), { of: 3 }],
  ['is not a message', () => 'no message', {}],
  ['is not signed', () => byHand(literal('hello')), {}],
  [
    'is signed by another key',
    () => byHand(signedLiteral('hello', { ...by, signer: mallory.primary })),
    {},
  ],
  ['is signed twice', () => byHand(signedLiteral('hello', [by, by])), {}],
])('a message is reported as different by `compareSealed` when it %s', async (_, sealed, said) => {
  expect(await compare(byHand(signedLiteral('hello', by)))).toBe('same')
  expect(await compare(await sealed(), said)).toBe('differs')
})

test('a check with a zeroed own key ends as `unchecked`', async () => {
  const bytes = new Uint8Array(bot.unlocked.bytes.length)
  // one that no other file of this process has had read
  const fingerprint = randomBytes(20).toString('hex')
  const gone: UnlockedKey = { ...bot.unlocked, fingerprint, bytes }
  const armored = await sealedTo([alice.certificate])
  expect(await compare(armored, { signer: gone })).toBe('unchecked')
  const opened = structuredClone(await openArmored(armored)) as OpenedText
  expect(await compareOpened(armored, gone, opened)).toBe('unchecked')
})

test('a difference is `unchecked` when openpgp.js fails with its own message', async () => {
  const { rejectPublicKeyAlgorithms } = config
  onTestFinished(() => void Object.assign(config, { rejectPublicKeyAlgorithms }))
  const armored = await sealedTo([alice.certificate])
  expect(await compare(armored, { text: 'hallo' })).toBe('differs')
  config.rejectPublicKeyAlgorithms = new Set([enums.publicKey.eddsaLegacy])
  expect(await compare(armored, { text: 'hallo' })).toBe('unchecked')
})

test('`compareOpened` and `compareVerified` find a changed text, key or certificate', async () => {
  const armored = await sealedTo([alice.certificate])
  const opened = structuredClone(await openArmored(armored)) as OpenedText
  expect(await compareOpened(armored, bot.unlocked, opened)).toBe('same')
  expect(await compareOpened(armored, bot.unlocked, { ...opened, text: 'x' })).toBe('differs')
  expect(await compareOpened(armored, mallory.unlocked, opened)).toBe('differs')
  const at = { nowMs: NOW_MS, results: ['valid' as const] }
  expect(await compareVerified(opened.signed, bot.certificate, at)).toBe('same')
  expect(await compareVerified(opened.signed, alice.certificate, at)).toBe('differs')
})

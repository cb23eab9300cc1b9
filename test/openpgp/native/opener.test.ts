import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openNatively } from '../../support/openpgp-native-parts.ts'
import { MessageOpener, type OpenResult } from '../../../src/openpgp/native/opener.ts'
import { NativeOwnKeys, type NativeOwnKey } from '../../../src/openpgp/native/own-keys.ts'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import { parseMessage } from '../../../src/openpgp/format/encrypted-message.ts'
import { KEY, hello as helloPackets, idsOf, toBot } from '../../support/openpgp-engine.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { isUsual, seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { alice, bot, mallory } from '../../support/openpgp-people.ts'
import { seipd, strangerPkesk } from '../../support/openpgp-sealed.ts'
import { variedMessage } from '../../support/openpgp-varied-message.ts'

const keys = [bot.unlocked]
const hello = armor(helloPackets())
const ids = idsOf(keys)
const own = new NativeOwnKeys(describeOwnKey)

const ask = (
  opener: MessageOpener,
  armored: string,
  more: { keys?: UnlockedKey[] } = {},
): Promise<OpenResult> => opener.open({ armored, keys, ids, signal: undefined, ...more })

/** The result of a message that is opened alone. */
async function alone(armored: string): Promise<OpenResult> {
  const encrypted = parseMessage(armored, ids)
  return encrypted.outcome === 'encrypted'
    ? ((await openNatively(encrypted, keys, own)) ?? encrypted)
    : encrypted
}

test('messages that are opened together each have the result of being opened alone', async () => {
  const opener = new MessageOpener(own, () => true)
  const long = armor(toBot(literal('y'.repeat(60_000))))
  const messages = [...seeds(60)].flatMap((seed) => {
    const { packets } = variedMessage(randomFrom(seed), {
      to: [bot.subkey],
      signers: [alice.primary, mallory.primary],
    })
    const spoilt = armor(mutate(packets, randomFrom(seed + 1)))
    return [armor(packets), spoilt, ...(seed % 9 === 0 ? [long, 'hello', ''] : [])]
  })
  const expected = await Promise.all(messages.map(alone))
  expect(await Promise.all(messages.map((one) => ask(opener, one)))).toEqual(expected)
  await immediate()
  expect(opener.isBusy).toBe(false)
  if (!isUsual) return
  const outcomes = new Set(expected.map(({ outcome }) => outcome))
  expect([...outcomes]).toEqual(expect.arrayContaining(['opened', 'damaged', 'encrypted']))
})

test('`MessageOpener` opens messages in order and yields to the event loop between them', async () => {
  const opener = new MessageOpener(own, () => true)
  const came: (number | string)[] = []
  setImmediate(() => came.push('another'))
  const all = Array.from({ length: 40 }, async (_, index) => {
    expect(await ask(opener, hello)).toMatchObject({ text: 'hello' })
    came.push(index)
  })
  expect(opener.isBusy).toBe(true)
  await Promise.all(all)
  expect(came.filter((one) => one !== 'another')).toEqual(all.map((_, index) => index))
  const turnAt = came.indexOf('another')
  expect(turnAt).toBeGreaterThanOrEqual(0)
  expect(turnAt).toBeLessThan(20)
})

test('`MessageOpener.isBusy` is true while an own key is being described', async () => {
  let described = (): void => {}
  const slow = new NativeOwnKeys(async (...given) => {
    await new Promise<void>((resolve) => (described = resolve))
    return await describeOwnKey(...given)
  })
  const opener = new MessageOpener(slow, () => true)
  const opened = ask(opener, hello)
  for (let turn = 0; turn < 5; turn++) await immediate()
  expect(opener.isBusy).toBe(true)
  described()
  expect(await opened).toMatchObject({ text: 'hello' })
  await immediate()
  expect(opener.isBusy).toBe(false)
})

test('a message whose own key fails rejects without effect on other messages', async () => {
  class Failing extends NativeOwnKeys {
    override async of(key: UnlockedKey): Promise<NativeOwnKey | null> {
      if (key.bytes.length === 0) throw new Error('failing')
      return await super.of(key)
    }
  }
  const opener = new MessageOpener(new Failing(describeOwnKey), () => true)
  const broken = { keys: [{ ...bot.unlocked, bytes: new Uint8Array() }] }
  const results = await Promise.allSettled([
    ask(opener, hello),
    ask(opener, hello, broken),
    ask(opener, hello),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a message that names a primary key is returned as parsed', async () => {
  const opener = new MessageOpener(new NativeOwnKeys(describeOwnKey), () => true)
  const named = armor(concat(strangerPkesk('a', bot.primary.keyId), seipd(literal('x'), KEY)))
  for (let time = 0; time < 2; time++) {
    expect(await ask(opener, named)).toEqual(parseMessage(named, ids))
  }
})

/** The number of messages that open before the next turn of the loop. */
async function openedAtOnce(opener: MessageOpener, messages: string[]): Promise<number> {
  await immediate()
  let count = 0
  const all = messages.map((one) => ask(opener, one).then(() => count++))
  await immediate()
  const atOnce = count
  await Promise.all(all)
  return atOnce
}

test('`MessageOpener` opens two messages in the first turn, and one long message', async () => {
  const opener = new MessageOpener(own, () => true)
  const long = armor(toBot(literal('y'.repeat(40_000))))
  await ask(opener, hello)
  expect(await openedAtOnce(opener, [hello])).toBe(1)
  expect(
    await openedAtOnce(
      opener,
      Array.from({ length: 20 }, () => hello),
    ),
  ).toBe(2)
  expect(await openedAtOnce(opener, [long, long, long])).toBe(1)
  expect(await openedAtOnce(opener, [hello, long, long])).toBe(2)
})

test('a message is returned as parsed when its request is aborted or native opening is off', async () => {
  const gone = AbortSignal.abort()
  const opener = new MessageOpener(own, () => true)
  const left = await opener.open({ armored: hello, keys, ids, signal: gone })
  expect(left).toEqual(parseMessage(hello, ids))
  expect(await ask(new MessageOpener(own, () => false), hello)).toEqual(left)
})

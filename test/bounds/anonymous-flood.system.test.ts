import { expect, test } from 'vitest'
import { armor, container, literal, recipients, sealPackets } from '../support/faults-packets.ts'
import { useScene } from './scene.ts'

const MANY = 950

/** The active one, and five that are retained. */
const KEYS = 6
const scene = useScene({ keys: KEYS })

/** Sealed to one of the bot's keys, between so many packets for nobody, all without names. */
async function nameless(before: number, after: number, key: number): Promise<string> {
  const sealed = await sealPackets(literal('to whom it concerns'), [scene.certificates[key] ?? ''])
  // the key id stands after two bytes of header and the version
  sealed.recipients.fill(0, 3, 11)
  const all = [recipients(before), sealed.recipients, recipients(after), sealed.container]
  return armor(Buffer.concat(all))
}

test('a message with an anonymous recipient opens with the newest and the oldest of six keys', async () => {
  const oldest = KEYS - 1
  const messages = [await nameless(0, 0, 0), await nameless(0, 0, oldest)]
  expect(await scene.fatesOf(messages)).toEqual(['unsigned, delivered', 'unsigned, delivered'])
})

test('ten messages with 950 anonymous recipients are refused, and other calls are served meanwhile', async () => {
  const floods = [
    ...Array.from({ length: 5 }, () => armor(Buffer.concat([recipients(MANY), container(256)]))),
    ...(await Promise.all([0, 1, 2, 3, 4].map(async (at) => await nameless(MANY - at, at, 0)))),
  ]
  const fates = await scene.fatesOf([...floods, await nameless(0, 0, 0)])
  const refused = floods.map(() => 'not-recipient: too-many-anonymous')
  expect(fates).toEqual([...refused, 'unsigned, delivered'])
})

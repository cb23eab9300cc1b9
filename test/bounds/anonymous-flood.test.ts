import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { armor, container, literal, recipients, sealPackets } from '../support/faults-packets.ts'
import { fate, openScene, type Scene } from './scene.ts'

const MANY = 950

/** The active one, and five that are retained. */
const KEYS = 6

describe('floods of anonymous recipients, with five retained keys', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await openScene({ keys: KEYS })
  })
  afterAll(async () => await scene[Symbol.asyncDispose]())

  /** Sealed to one of the bot's keys, between so many packets for nobody, all without names. */
  async function nameless(before: number, after: number, key: number): Promise<string> {
    const sealed = await sealPackets(literal('to whom it concerns'), [
      scene.certificates[key] ?? '',
    ])
    // the key id stands after two bytes of header and the version
    sealed.recipients.fill(0, 3, 11)
    const all = [recipients(before), sealed.recipients, recipients(after), sealed.container]
    return armor(Buffer.concat(all))
  }

  async function sent(messages: string[]): Promise<string[]> {
    const { privateChat } = scene.sandbox.home
    const ids: number[] = []
    for (const message of messages) ids.push(await scene.post(privateChat, message))
    const got = await scene.meanwhile(scene.take())
    expect(got.map(({ id }) => id)).toEqual(ids)
    return ids.map((id) => fate(got, id))
  }

  test('one that names nobody opens, with the newest key and with the oldest', async () => {
    const oldest = KEYS - 1
    const messages = [await nameless(0, 0, 0), await nameless(0, 0, oldest)]
    expect(await sent(messages)).toEqual(['unsigned, delivered', 'unsigned, delivered'])
  })

  test('ours among four opens', async () => {
    expect(await sent([await nameless(3, 0, KEYS - 1)])).toEqual(['unsigned, delivered'])
  })

  test('ten floods are refused by their number, and hold nobody up', async () => {
    const floods = [
      ...Array.from({ length: 5 }, () => armor(Buffer.concat([recipients(MANY), container(256)]))),
      ...(await Promise.all([0, 1, 2, 3, 4].map(async (at) => await nameless(MANY - at, at, 0)))),
    ]
    const fates = await sent([...floods, await nameless(0, 0, 0)])
    const refused = floods.map(() => 'not-recipient: too-many-anonymous')
    expect(fates).toEqual([...refused, 'unsigned, delivered'])
  })
})

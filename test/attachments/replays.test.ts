import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { armor } from '../support/openpgp-framing.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { named, outcomeOf, picture, resealed, sealedBy } from './support.ts'

const stage = useStage()
const REPLAYED = '422 postern_replayed'

async function outcome(
  sealed: Buffer,
  o: { chat: DoubleChat; from: ListedPerson | null },
): Promise<string> {
  return await outcomeOf(stage, await named(stage, sealed, o))
}

/** What the bot sees of a message with this sealed data. */
async function verdictOf(
  sealed: Buffer,
  { chat, from }: { chat: DoubleChat; from: ListedPerson },
): Promise<string> {
  const message = stage.double.world.message(chat, from, { armored: armor(sealed) })
  return (await stage.deliver([message]))[0].postern.verdict
}

test.each([
  ['signed', true],
  ['unsigned', false],
])(
  'a file delivered again is `postern_replayed` in any chat and from anybody: %s',
  async (_, isSigned) => {
    const [from, other] = [await stage.person(), stage.double.world.addUser(null)]
    const chat = stage.privateChat(from)
    const sealed = await sealedBy(from, stage, picture(), { isSigned })
    expect(await outcome(sealed, { chat, from })).not.toContain('422')
    expect(await outcome(sealed, { chat, from })).toBe(REPLAYED)
    expect(await outcome(sealed, { chat: stage.privateChat(from), from })).toBe(REPLAYED)
    expect(await outcome(sealed, { chat, from: other })).toContain('422')
    expect(await outcome(sealed, { chat: stage.privateChat(other), from: other })).toBe(REPLAYED)
  },
)

test('a sealed message delivered again as a file is `postern_replayed`', async () => {
  const from = await stage.friend()
  const place = { chat: stage.privateChat(from), from }
  const sealed = await sealedBy(from, stage, Buffer.from('words first'))
  expect(await verdictOf(sealed, place)).toBe('verified')
  expect(await outcome(sealed, place)).toBe(REPLAYED)
})

test('a sealed file delivered again as a message is `replayed`', async () => {
  const from = await stage.friend()
  const place = { chat: stage.privateChat(from), from }
  const sealed = await sealedBy(from, stage, Buffer.from('file first'))
  expect(await outcome(sealed, place)).toBe('verified')
  expect(await verdictOf(sealed, place)).toBe('replayed')
})

test('a signed text sealed again does not become a file, and a signed file no text', async () => {
  const [from, thief] = [await stage.friend(), await stage.person()]
  const place = { chat: stage.privateChat(from), from }
  const anew = (signed: Buffer): Promise<Buffer> => resealed(thief, stage, signed)
  const words = await from.phone.sign('signed words')
  expect(await verdictOf(await anew(words), place)).toBe('verified')
  expect(await outcome(await anew(words), place)).toBe(REPLAYED)
  const file = await from.phone.sign('signed file')
  expect(await outcome(await anew(file), place)).toBe('verified')
  expect(await verdictOf(await anew(file), place)).toBe('replayed')
  expect(await outcome(await anew(file), { ...place, chat: stage.privateChat(from) })).toBe(
    REPLAYED,
  )
})

test('the bot’s own sealed message delivered as a file is `postern_replayed`', async () => {
  const from = await stage.friend()
  const chat = stage.privateChat(from)
  const mark = stage.double.mark()
  await stage.send(chat, 'our own words')
  const { armored } = stage.bodies(mark)[0]
  const bot = { id: stage.double.world.bot['id'], key: null }
  expect(await outcome(Buffer.from(armored), { chat, from: bot })).toBe(REPLAYED)
})

test('a media id with other data than before is `postern_replayed`, even when signed', async () => {
  const from = await stage.friend()
  const chat = stage.privateChat(from)
  const { world } = stage.double
  const first = await sealedBy(from, stage, picture())
  const url = await named(stage, first, { chat, from })
  expect(await outcomeOf(stage, url)).toBe('verified')
  await stage.restart()
  const id = /file-\d+/.exec(url)?.[0] ?? ''
  world.files.set(id, await sealedBy(from, stage, picture()))
  expect(await outcomeOf(stage, url)).toBe(REPLAYED)
  world.files.set(id, first)
  expect(await outcomeOf(stage, url)).toBe('verified')
})

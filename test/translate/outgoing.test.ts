import { expect, test } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { Refusal } from '../../src/errors.ts'
import { CHAT, draftOf, scene } from './outgoing-scene.ts'
import { encryptedMessage } from './support.ts'
import { refused } from '../support/refused.ts'

useFakeTime({ toFake: ['performance'] })

const bodyOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()) as object

test('a sealed send does not leave when the bot’s key is no longer published after sealing', async () => {
  const { outgoing, publication, events } = scene()
  publication.requirePublished.mockImplementation(() => {
    throw new Refusal('postern_key_conflict')
  })
  await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_key_conflict'))
  expect(events).toEqual(['entered', 'left'])
})

test('a sealed send reads the key list no older than `cache.keyListSeconds`', async () => {
  const { outgoing, parts } = scene()
  await outgoing.prepare(draftOf())
  expect(parts.directory.keyList.mock.calls).toEqual([[CHAT, performance.now() - 60_000]])
})

test('a sealed send that cannot be recorded for replays does not leave', async () => {
  const { outgoing, parts, events } = scene()
  const rememberOwn = () => Promise.reject(new Refusal('postern_store_unwritable'))
  parts.replayMemory = { rememberOwn }
  await expect(outgoing.prepare(draftOf())).rejects.toThrow(refused('postern_store_unwritable'))
  expect(events.at(-1)).toBe('left')
})

test('a body sealed by the bot itself leaves unchanged into a protected chat, and readable text as armored does not', async () => {
  const { outgoing } = scene()
  const draft = draftOf({ text: undefined })
  const armored = encryptedMessage()
  const { outbound, recipients } = await outgoing.prepare({ ...draft, armored })
  expect([bodyOf(outbound), recipients]).toEqual([{ chatId: CHAT, armored }, null])
  const words = outgoing.prepare({ ...draft, armored: 'words' })
  await expect(words).rejects.toThrow(refused('bad_request'))
})

test('the signature of a sealed send names its recipients, unless the message fits only without names', async () => {
  const { outgoing, parts } = scene()
  expect(await outgoing.prepare(draftOf())).toMatchObject({ isNamed: true })
  const widths: unknown[] = []
  for (let max = 1000; max > 400; max -= 10) {
    parts.armoredMax = () => max
    parts.engine.sealKnown.mockClear()
    const done = await outgoing.prepare(draftOf()).catch(() => null)
    if (done === null) continue
    const [request] = parts.engine.sealKnown.mock.calls[0] ?? []
    expect(request).toMatchObject({ isUnnamed: !done.isNamed })
    widths.push(done.isNamed)
  }
  expect(widths).toContain(false)
  expect(widths).toContain(true)
  expect(widths.indexOf(false)).toBeGreaterThan(widths.lastIndexOf(true))
})

test('a text for a protected chat is refused by a bot without a published key', async () => {
  const { outgoing, parts } = scene()
  parts.publication = null
  await expect(outgoing.prepare(draftOf())).rejects.toThrow(
    refused('wrong_body_kind', 'this chat takes armored', { extra: { expected: 'armored' } }),
  )
  parts.keyring.all.push({})
  await expect(outgoing.prepare(draftOf())).rejects.toThrow(
    refused('postern_downgrade_refused', 'key.publish'),
  )
})

const wants = (expected: string | undefined, code = 'wrong_body_kind') => ({ code, expected })

test('a bot without a key latches a chat that demands armored, and returns the refusal', async () => {
  const { outgoing, parts } = scene(false)
  parts.publication = null
  const prepared = await outgoing.prepare(draftOf())
  expect(await outgoing.reconsider(draftOf(), prepared, wants('armored'))).toBeNull()
  expect(parts.knownChats.saw).toHaveBeenCalled()
})

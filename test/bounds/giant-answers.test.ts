import { describe, expect, test } from 'vitest'
import { answering, endless, type Instead } from './front.ts'
import { useScene } from './scene.ts'

const scene = useScene()

const BYTES = 200 * 2 ** 20

/** The same with a Content-Length that says so beforehand. */
const announced: Instead = (response) => {
  response.setHeader('content-length', BYTES)
  endless(BYTES)(response)
}
/** A well-formed list that is too long by far. */
function longList(count: number): string {
  const updates = Array.from({ length: count }, (_, n) => `{"updateId":${n + 1},"kind":"none"}`)
  return `{"ok":true,"result":[${updates.join(',')}]}`
}

describe('answers of hundreds of megabytes', () => {
  /** Answers one route so while the work lasts. */
  async function during<T>(route: string, instead: Instead, work: () => Promise<T>): Promise<T> {
    scene.front.instead.set(route, instead)
    try {
      return await work()
    } finally {
      scene.front.instead.delete(route)
    }
  }

  test.each([
    ['that go on and on', endless(BYTES)],
    ['that are announced', announced],
    ['of a million updates', answering(longList(1_000_000))],
  ])(
    '%s end a poll with postern_upstream_invalid, and the next is as ever',
    async (_name, giant) => {
      const alice = await scene.sandbox.phone(scene.sandbox.home.alice.id)
      const id = await alice.write(scene.sandbox.home.privateChat, 'waiting')
      const outcomes = await during('GET /updates', giant, async () => {
        return await Promise.all([1, 2, 3].map(() => scene.outcome('GET', '/updates')))
      })
      expect(outcomes).toEqual(Array.from({ length: 3 }, () => '502 postern_upstream_invalid'))
      expect(await scene.take()).toMatchObject([{ id, text: 'waiting' }])
    },
  )

  test('a bot that polls on and on cannot make the sidecar read one after the other', async () => {
    const startedMs = performance.now()
    await during('GET /updates', answering('nonsense'), async () => {
      for (let n = 0; n < 2; n++) {
        expect(await scene.outcome('GET', '/updates')).toBe('502 postern_upstream_invalid')
      }
    })
    expect(performance.now() - startedMs).toBeGreaterThan(1900)
  })

  test('the same holds for ordinary calls, for key lists and for sends', async () => {
    const { encryptedGroup } = scene.sandbox.home
    const invalid = '502 postern_upstream_invalid'
    const giant = endless(BYTES)
    const members = `/chats/${encryptedGroup}/members`
    expect(await during(`GET ${members}`, giant, () => scene.outcome('GET', members))).toBe(invalid)
    const { alice, bot } = scene.sandbox.home
    const fresh = { kind: 'group' as const, members: [alice.id, bot.id] }
    const { id: chatId } = await scene.sandbox.control.addRoom(fresh)
    const send = () => scene.outcome('POST', '/messages', { chatId, text: 'to alice' })
    expect(await during(`GET /chats/${chatId}`, giant, send)).toBe(invalid)
    expect(await during(`GET /chats/${chatId}/keys`, giant, send)).toBe(invalid)
    expect(await send()).toBe(201)
    const edit = () => scene.outcome('PATCH', '/messages/1', { chatId, text: 'to nobody' })
    expect(await during('PATCH /messages/1', giant, edit)).toBe(invalid)
  })
})

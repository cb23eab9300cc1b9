import assert from 'node:assert/strict'
import { FIXED_LIMITS, LIMITS } from '../../../src/api/limits.ts'
import { casesOf, inPrivateChat } from '../case.ts'
import { no, ok, wait } from '../expect.ts'
import { say, send, times } from '../steps.ts'

/** Seconds of a `flood_wait` or `slow_mode`, equal in header and body. */
function floodSeconds(answer: Parameters<typeof wait>[0], code: 'flood_wait' | 'slow_mode') {
  const { header, body } = wait(answer, code)
  assert.equal(body, header, 'retryAfter is in the body')
  return header
}

export const RATES = casesOf('Limits', {
  '600 calls a minute are accepted, then Retry-After is the remaining time and retryAfter 60': {
    proves: [
      'limit apiCallsPerMinute',
      'error rate_limited',
      'retry-after-header',
      'retry-after-call',
      'rate-stands-still',
    ],
    needs: ['clock', 'owner'],
    run: async (stage) => {
      const call = () => stage.bot.get('/commands')
      const { apiCallsPerMinute } = LIMITS
      const first = await times(300, call)
      await stage.advance(20_000)
      const rest = await times(apiCallsPerMinute - 300, call)
      const good = [...first, ...rest].filter(({ status }) => status === 200).length
      // The sidecar's few calls of its own count like any others of the bot's.
      const least = stage.per({ service: 600, protected: 590, open: 590 })
      assert.ok(good >= least && good <= 600, `${good} calls fit`)
      const waits = wait(await call(), 'rate_limited')
      assert.deepEqual(waits, { header: 40, body: 60 })
      await stage.advance(14_500)
      for (const answer of await times(320, call)) {
        assert.deepEqual(wait(answer, 'rate_limited'), { header: 26, body: 60 })
      }
      await stage.advance(25_500)
      ok(await call())
    },
  },
  '1200 calls a minute are accepted from one address, for all its bots together': {
    proves: ['limit apiCallsPerAddressPerMinute', 'error rate_limited'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const bots = await Promise.all([1, 2, 3].map(() => stage.otherBot()))
      const clients = bots.map(({ client }) => client)
      let good = 0
      for (const client of clients.slice(0, 2)) {
        const answers = await times(LIMITS.apiCallsPerMinute, () => client.get('/commands'))
        good += answers.filter(({ status }) => status === 200).length
      }
      const least = FIXED_LIMITS.apiCallsPerAddressPerMinute - 10
      assert.ok(good >= least, `${good} calls fit`)
      const third = clients[2]
      if (third === undefined) throw new Error('there are three')
      await times(10, () => third.get('/commands'))
      assert.deepEqual(wait(await third.get('/commands'), 'rate_limited'), { header: 60, body: 60 })
      await stage.advance(60_000)
      ok(await third.get('/commands'))
    },
  },
  'a private chat accepts one message a second': {
    proves: ['limit sendsPerPrivatePerSecond', 'error flood_wait', 'retry-after-body'],
    needs: ['clock', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      ok(await send(stage, chatId), 201)
      assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 1)
      await stage.advance(999)
      assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 1)
      await stage.advance(1)
      ok(await send(stage, chatId), 201)
    }),
  },
  '20 messages a minute are accepted in a group or channel': {
    proves: ['limit sendsPerGroupPerMinute', 'error flood_wait', 'retry-after-body'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const channel = await stage.room({ kind: 'channel' })
      await stage.setMembership(channel, stage.me.id, { status: 'admin' })
      for (const chatId of [await stage.group(), channel]) {
        for (let n = 0; n < LIMITS.sendsPerGroupPerMinute; n++) {
          ok(await send(stage, chatId), 201)
          await stage.advance(100)
        }
        assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 58)
        await stage.advance(58_000)
        ok(await send(stage, chatId), 201)
      }
    },
  },
  '30 messages a second are accepted in all chats together': {
    proves: ['limit sendsPerSecond', 'error flood_wait'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const [one, two] = [await stage.group(), await stage.room()]
      const sent = [
        ...(await times(LIMITS.sendsPerSecond / 2, () => send(stage, one))),
        ...(await times(LIMITS.sendsPerSecond / 2, () => send(stage, two))),
      ]
      for (const answer of sent) ok(answer, 201)
      const chatId = await stage.privateChat()
      assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 1)
      await stage.advance(1000)
      ok(await send(stage, chatId), 201)
    },
  },
  'edits have the same limits as sends, in separate windows': {
    proves: [
      'edit-windows',
      'limit sendsPerSecond',
      'limit sendsPerPrivatePerSecond',
      'limit sendsPerGroupPerMinute',
    ],
    needs: ['clock', 'private chat', 'group', 'rooms'],
    run: inPrivateChat(async (stage, chatId) => {
      const id = await say(stage, chatId)
      const edit = (where: number, which: number) =>
        stage.bot.patch(`/messages/${which}`, { chatId: where, text: stage.words() })
      ok(await edit(chatId, id))
      assert.equal(floodSeconds(await edit(chatId, id), 'flood_wait'), 1)
      await stage.advance(1000)
      ok(await edit(chatId, id))
      ok(await send(stage, chatId), 201)

      const group = await stage.group()
      const other = await say(stage, group)
      for (let n = 0; n < LIMITS.sendsPerGroupPerMinute; n++) ok(await edit(group, other))
      assert.equal(floodSeconds(await edit(group, other), 'flood_wait'), 60)
      ok(await send(stage, group), 201)

      await stage.advance(60_000)
      const room = await stage.room()
      const third = await say(stage, room)
      const half = LIMITS.sendsPerSecond / 2
      for (const answer of await times(half, () => edit(group, other))) ok(answer)
      for (const answer of await times(half, () => edit(room, third))) ok(answer)
      assert.equal(floodSeconds(await edit(room, third), 'flood_wait'), 1)
    }),
  },
  'slow mode refuses a second message of the bot within its seconds': {
    proves: ['error slow_mode', 'retry-after-body'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ slowModeSeconds: 30 })
      ok(await send(stage, chatId), 201)
      assert.equal(floodSeconds(await send(stage, chatId), 'slow_mode'), 30)
      await stage.advance(20_500)
      assert.equal(floodSeconds(await send(stage, chatId), 'slow_mode'), 10)
      await stage.advance(9_500)
      ok(await send(stage, chatId), 201)
    },
  },
  '60 handle lookups a minute are accepted, and an unknown handle counts as five': {
    proves: ['limit lookupsPerMinute', 'limit missedLookupWeight', 'error flood_wait'],
    needs: ['clock', 'people'],
    run: async (stage) => {
      const found = () => stage.bot.get(`/resolve/${stage.alice.username}`)
      const missed = () => stage.bot.get('/resolve/nobody_has_this')
      for (const answer of await times(FIXED_LIMITS.lookupsPerMinute, found)) ok(answer)
      assert.equal(floodSeconds(await found(), 'flood_wait'), 60)
      await stage.advance(60_000)
      const misses = FIXED_LIMITS.lookupsPerMinute / FIXED_LIMITS.missedLookupWeight
      for (const answer of await times(misses, missed)) no(answer, 'username_not_found')
      assert.equal(floodSeconds(await found(), 'flood_wait'), 60)
      await stage.advance(60_000)
      ok(await found())
    },
  },
})

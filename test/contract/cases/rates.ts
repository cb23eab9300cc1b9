import assert from 'node:assert/strict'
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
  '600 calls a minute, or as reported, are accepted, then Retry-After is the rest and retryAfter 60':
    {
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
        const { apiCallsPerMinute: most } = stage.limits
        const half = Math.floor(most / 2)
        const first = await times(half, call)
        await stage.advance(20_000)
        const rest = await times(most - half, call)
        const good = [...first, ...rest].filter(({ status }) => status === 200).length
        // The sidecar's few calls of its own count like any others of the bot's.
        const least = stage.per({ service: most, protected: most - 10, open: most - 10 })
        assert.ok(good >= least && good <= most, `${good} calls fit`)
        const waits = wait(await call(), 'rate_limited')
        assert.deepEqual(waits, { header: 40, body: 60 })
        await stage.advance(14_500)
        for (const answer of await times(half + 20, call)) {
          assert.deepEqual(wait(answer, 'rate_limited'), { header: 26, body: 60 })
        }
        await stage.advance(25_500)
        ok(await call())
      },
    },
  '1200 calls a minute, or as reported, are accepted from one address, for all its bots together': {
    proves: ['limit apiCallsPerAddressPerMinute', 'error rate_limited'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const { apiCallsPerMinute, apiCallsPerAddressPerMinute } = stage.limits
      const bots = Math.ceil(apiCallsPerAddressPerMinute / apiCallsPerMinute)
      const { client: last } = await stage.otherBot()
      let good = 0
      for (let n = 0; n < bots; n++) {
        const { client } = await stage.otherBot()
        const answers = await times(apiCallsPerMinute, () => client.get('/commands'))
        good += answers.filter(({ status }) => status === 200).length
      }
      assert.ok(good >= apiCallsPerAddressPerMinute - 10, `${good} calls fit`)
      await times(10, () => last.get('/commands'))
      assert.deepEqual(wait(await last.get('/commands'), 'rate_limited'), { header: 60, body: 60 })
      await stage.advance(60_000)
      ok(await last.get('/commands'))
    },
  },
  'a private chat accepts one message a second, or as reported': {
    proves: ['limit sendsPerPrivatePerSecond', 'error flood_wait', 'retry-after-body'],
    needs: ['clock', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const { sendsPerPrivatePerSecond } = stage.limits
      const sent = await times(sendsPerPrivatePerSecond, () => send(stage, chatId))
      for (const answer of sent) ok(answer, 201)
      assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 1)
      await stage.advance(999)
      assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), 1)
      await stage.advance(1)
      ok(await send(stage, chatId), 201)
    }),
  },
  '20 messages a minute, or as reported, are accepted in a group or channel': {
    proves: ['limit sendsPerGroupPerMinute', 'error flood_wait', 'retry-after-body'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const { sendsPerGroupPerMinute } = stage.limits
      const passedMs = sendsPerGroupPerMinute * 100
      const leftSeconds = Math.ceil((60_000 - passedMs) / 1000)
      const channel = await stage.room({ kind: 'channel' })
      await stage.setMembership(channel, stage.me.id, { status: 'admin' })
      for (const chatId of [await stage.group(), channel]) {
        for (let n = 0; n < sendsPerGroupPerMinute; n++) {
          ok(await send(stage, chatId), 201)
          await stage.advance(100)
        }
        assert.equal(floodSeconds(await send(stage, chatId), 'flood_wait'), leftSeconds)
        await stage.advance(leftSeconds * 1000)
        ok(await send(stage, chatId), 201)
      }
    },
  },
  '30 messages a second, or as reported, are accepted in all chats together': {
    proves: ['limit sendsPerSecond', 'error flood_wait'],
    needs: ['clock', 'rooms'],
    run: async (stage) => {
      const [one, two] = [await stage.group(), await stage.room()]
      const { sendsPerSecond } = stage.limits
      const half = Math.floor(sendsPerSecond / 2)
      const sent = [
        ...(await times(half, () => send(stage, one))),
        ...(await times(sendsPerSecond - half, () => send(stage, two))),
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
      const { sendsPerPrivatePerSecond, sendsPerGroupPerMinute, sendsPerSecond } = stage.limits
      for (let n = 0; n < sendsPerPrivatePerSecond; n++) ok(await edit(chatId, id))
      assert.equal(floodSeconds(await edit(chatId, id), 'flood_wait'), 1)
      await stage.advance(1000)
      ok(await edit(chatId, id))
      ok(await send(stage, chatId), 201)

      const group = await stage.group()
      const other = await say(stage, group)
      for (let n = 0; n < sendsPerGroupPerMinute; n++) ok(await edit(group, other))
      assert.equal(floodSeconds(await edit(group, other), 'flood_wait'), 60)
      ok(await send(stage, group), 201)

      await stage.advance(60_000)
      const room = await stage.room()
      const third = await say(stage, room)
      const half = Math.floor(sendsPerSecond / 2)
      for (const answer of await times(half, () => edit(group, other))) ok(answer)
      for (const answer of await times(sendsPerSecond - half, () => edit(room, third))) ok(answer)
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
  '60 handle lookups a minute, or as reported, are accepted; an unknown handle counts as five': {
    proves: ['limit lookupsPerMinute', 'limit missedLookupWeight', 'error flood_wait'],
    needs: ['clock', 'people'],
    run: async (stage) => {
      const found = () => stage.bot.get(`/resolve/${stage.alice.username}`)
      const missed = () => stage.bot.get('/resolve/nobody_has_this')
      const { lookupsPerMinute, missedLookupWeight } = stage.limits
      for (const answer of await times(lookupsPerMinute, found)) ok(answer)
      assert.equal(floodSeconds(await found(), 'flood_wait'), 60)
      await stage.advance(60_000)
      const misses = Math.ceil(lookupsPerMinute / missedLookupWeight)
      for (const answer of await times(misses, missed)) no(answer, 'username_not_found')
      assert.equal(floodSeconds(await found(), 'flood_wait'), 60)
      await stage.advance(60_000)
      ok(await found())
    },
  },
})

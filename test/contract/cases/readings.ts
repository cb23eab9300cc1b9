import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { casesOf, type Case, inGroup, inPrivateChat } from '../case.ts'
import { at, no, ok, okFields, okList, wait } from '../expect.ts'
import { button, onlyMessage, received, receivedWords, say, send, times } from '../steps.ts'

const COUNTS = casesOf('Limits', {
  'a refused call counts in the window of calls': {
    proves: ['limit apiCallsPerMinute', 'rate-stands-still'],
    needs: ['clock', 'owner'],
    run: async (stage) => {
      const { past } = stage
      const { apiCallsPerMinute } = stage.limits
      const half = Math.ceil(apiCallsPerMinute / 2)
      const rest = apiCallsPerMinute - half
      for (const answer of await times(half, () => past.get('/chats/1'))) {
        no(answer, 'chat_not_found')
      }
      await stage.owner.pause()
      const paused = await times(rest, () => past.get('/commands'))
      const counted = paused.filter(({ status }) => status === 403).length
      // The sidecar's few calls of its own count like any others of the bot's.
      assert.ok(counted <= rest && counted >= rest - 10, `${counted} more calls fit`)
      wait(await past.get('/me'), 'rate_limited')
    },
  },
  'a refused send counts in no window of sends': {
    proves: ['limit sendsPerPrivatePerSecond'],
    needs: ['clock', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      no(await send(stage, chatId, { markup: 7 }), 'bad_markup')
      for (let n = 0; n < stage.limits.sendsPerPrivatePerSecond; n++) await say(stage, chatId)
      no(await send(stage, chatId), 'flood_wait')
      await stage.advance(1000)
      await say(stage, chatId)
    }),
  },
})

const DELIVERED = casesOf('Events', {
  'a bot in privacy mode receives the notice of its own joining, and no other': {
    proves: ['message-notice', 'group-addressed'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ bot: false })
      await stage.bob.leave(chatId)
      await stage.join(chatId, stage.me.id)
      await stage.join(chatId, stage.bob.id)
      const notice = await onlyMessage(stage)
      assert.equal(notice['kind'], 'joined')
      assert.equal(at(notice, 'from.id'), stage.me.id)
    },
  },
  'a bot receives another bot’s message under the same rules as a person’s': {
    proves: ['group-addressed', 'event-message'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const other = await stage.otherBot()
      const chatId = await stage.room({ readable: true, members: [other.id] })
      const words = stage.words()
      const texts = [stage.words(), `@${stage.me.username} ${words}`]
      for (const text of texts) ok(await other.client.post('/messages', { chatId, text }), 201)
      assert.deepEqual(await receivedWords(stage), texts.slice(1))
      assert.equal(at((await received(stage))[0], 'message.from.isBot'), true)
    },
  },
  'lines of blanks in delivered text are not folded': {
    proves: ['message-text'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const words = stage.words()
      await stage.alice.write(await stage.privateChat(), `${words}\n \n \n \nend\n\n\n\nof it`)
      assert.deepEqual(await receivedWords(stage), [`${words}\n \n \n \nend\n\nof it`])
    },
  },
})

const SENDS = casesOf('POST /messages', {
  'a repeated sendId returns its message, also deleted or for a person who blocked the bot': {
    proves: ['send-again'],
    needs: ['people', 'private chat', 'rooms'],
    run: inPrivateChat(async (stage, chatId) => {
      const sendId = randomUUID()
      const body = { chatId, text: stage.words(), sendId }
      const { id } = okFields(await stage.bot.post('/messages', body), 201)
      const again = async (changes: object = {}) =>
        okFields(await stage.bot.post('/messages', { ...body, ...changes }))['id']
      ok(await stage.bot.delete(`/messages/${String(id)}?chatId=${chatId}`))
      assert.equal(await again(), id)
      await stage.alice.block()
      assert.equal(await again(), id)
      no(await stage.bot.post('/messages', { ...body, text: 7 }), 'bad_request')
      const held = await stage.held(chatId)
      assert.ok(held.every((one) => one.id !== id))
    }),
  },
})

const FIELDS = casesOf('PUT /commands', {
  'a command description folds tabs and line ends, and other control characters are refused': {
    proves: ['commands-description'],
    needs: ['owner'],
    run: async (stage) => {
      const put = (description: string) =>
        stage.bot.put('/commands', { commands: [{ command: 'start', description }] })
      const kept = okFields(await put('one\t\ntwo\r\nthree'))['commands']
      assert.deepEqual(kept, [{ command: 'start', description: 'one two three' }])
      for (const control of ['\u0000', '\u0008', '\u001f', '\u007f', '\u0085', '\u009f']) {
        no(await put(`one${control}two`), 'bad_request')
      }
    },
  },
  'a command scope with an empty list is not listed': {
    proves: ['commands-get', 'commands-empty-scope'],
    needs: ['owner'],
    run: async (stage) => {
      const commands = [{ command: 'start', description: 'Begins' }]
      ok(await stage.bot.put('/commands', { scope: 'groups', commands }))
      ok(await stage.bot.put('/commands', { scope: 'private', commands }))
      ok(await stage.bot.put('/commands', { scope: 'private', commands: [] }))
      const listed = okList(await stage.bot.get('/commands'))
      assert.deepEqual(listed, [{ scope: 'groups', commands }])
      assert.deepEqual(ok(await stage.bot.get('/commands?scope=private')), [])
    },
  },
})

const EDITS = casesOf('PATCH /messages/{messageId}', {
  'an edit with only unchangeable fields is a bad request': {
    proves: ['edit-nothing'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      const path = `/messages/${await say(stage, chatId)}`
      no(await stage.bot.patch(path, { chatId, silent: true }), 'bad_request')
    }),
  },
})

const QUERIES = casesOf('GET /updates', {
  'an empty, hexadecimal or repeated number in the query of `/updates` is a bad request': {
    proves: ['updates-query'],
    run: async ({ bot }) => {
      for (const query of ['limit=', 'limit=0x10', 'limit=1&limit=2', 'offset=1&offset=2']) {
        no(await bot.get(`/updates?${query}`), 'bad_request')
      }
    },
  },
})

const UNITS = casesOf('Inline keyboard (markup)', {
  'a keyboard without buttons, of another type or with unknown fields is bad_markup': {
    proves: ['markup-shape'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      const none = [null, [], 'x', { inlineKeyboard: [] }, { inlineKeyboard: [[]] }]
      for (const markup of [...none, button({ callbackData: 'd', login: true })]) {
        no(await send(stage, chatId, { markup }), 'bad_markup')
      }
    }),
  },
  'the text of a button is counted in code points': {
    proves: ['limit buttonTextMax'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      const markup = (count: number) => ({
        inlineKeyboard: [[{ text: '😀'.repeat(count), callbackData: 'd' }]],
      })
      await say(stage, chatId, { markup: markup(stage.limits.buttonTextMax) })
      const text = stage.words()
      const over = { chatId, text, markup: markup(stage.limits.buttonTextMax + 1) }
      no(await stage.bot.post('/messages', over), 'bad_markup')
    }),
  },
})

const MORE = casesOf('POST /chats/{chatId}/typing', {
  'unknown fields of a typing call and a send are ignored': {
    proves: ['typing-body'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      ok(await stage.bot.post(`/chats/${chatId}/typing`, { typing: true, more: 1 }))
      const body = { chatId, text: stage.words(), parseMode: 'html', markup: button() }
      const sent = await stage.past.post('/messages', body)
      // Past the sidecar the group is encrypted.
      if (stage.way === 'protected') no(sent, 'wrong_body_kind')
      else ok(sent, 201)
    }),
  },
})

/** How the sandbox reads what the specification leaves open; another service may read otherwise. */
export const READINGS: readonly Case[] = [
  ...COUNTS,
  ...DELIVERED,
  ...SENDS,
  ...FIELDS,
  ...EDITS,
  ...QUERIES,
  ...UNITS,
  ...MORE,
].map((one) => ({
  ...one,
  only: { ways: ['direct', 'protected', 'open'], because: 'the specification leaves it open' },
}))

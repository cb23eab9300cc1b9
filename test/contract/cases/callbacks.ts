import assert from 'node:assert/strict'
import { casesOf, inGroup, inPrivateChat } from '../case.ts'
import { at, no, ok } from '../expect.ts'
import { button, only, pressOf, received, say } from '../steps.ts'
import type { Stage } from '../stage.ts'

interface Pressed {
  chatId: number
  messageId: number
  /** As the phone knows it. */
  callbackId: string
}

/** Alice presses a button below a message of the bot's. */
async function pressed(stage: Stage): Promise<Pressed> {
  const chatId = await stage.group()
  const messageId = await say(stage, chatId, { markup: button() })
  return { chatId, messageId, callbackId: await stage.alice.press(chatId, messageId) }
}

const answer = (stage: Stage, id: string, body?: unknown) =>
  stage.bot.post(`/callbacks/${encodeURIComponent(id)}/answer`, body)

export const PRESSES = casesOf('Events', {
  'a button press is delivered to the bot with an id, the data and the message': {
    proves: ['event-press'],
    needs: ['people', 'group', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const text = stage.words()
      const messageId = await say(stage, chatId, { text, markup: button() })
      const callbackId = await stage.alice.press(chatId, messageId)
      const press = pressOf(await only(stage))
      assert.equal(press['id'], callbackId)
      assert.equal(at(press, 'from.id'), stage.alice.id)
      assert.equal(press['data'], 'go')
      assert.equal(at(press, 'message.id'), messageId)
      assert.equal(at(press, 'message.text'), text)
    }),
  },
  'a second press on a message while the first is open has the same id': {
    proves: ['same-press'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const row = ['go', 'stay'].map((callbackData) => ({ text: 'x', callbackData }))
      const messageId = await say(stage, chatId, { markup: { inlineKeyboard: [row] } })
      const callbackId = await stage.alice.press(chatId, messageId, 'go')
      assert.equal(await stage.alice.press(chatId, messageId, 'stay'), callbackId)
      assert.equal(pressOf(await only(stage))['data'], 'go')
      ok(await answer(stage, callbackId))
      assert.notEqual(await stage.alice.press(chatId, messageId), callbackId)
      assert.equal((await received(stage)).length, 2)
    }),
  },
})

export const CALLBACKS = casesOf('POST /callbacks/{callbackId}/answer', {
  'an empty answer to a press is accepted, and the phone of the press receives it': {
    proves: [
      'endpoint answerCallback',
      'answer-empty',
      'answer-result',
      'press-told',
      'press: open -> answered (within 60 s)',
    ],
    needs: ['people', 'group'],
    run: async (stage) => {
      for (const body of [undefined, {}]) {
        const { callbackId } = await pressed(stage)
        assert.deepEqual(ok(await answer(stage, callbackId, body)), { answered: true })
        const shown = await stage.alice.sawAnswer(callbackId)
        assert.deepEqual(shown, { text: null, alert: false, url: null })
      }
    },
  },
  'the phone receives text, alert and url of an answer in clear, and the message is unchanged': {
    proves: ['answer-body', 'answer-unchanged', 'answer-readable'],
    needs: ['people', 'group'],
    run: async (stage) => {
      const { chatId, messageId, callbackId } = await pressed(stage)
      const before = await stage.held(chatId)
      const url = 'https://example.org/page'
      ok(await answer(stage, callbackId, { text: '  Done.  ', alert: true, url }))
      const shown = await stage.alice.sawAnswer(callbackId)
      assert.deepEqual(shown, { text: 'Done.', alert: true, url })
      assert.deepEqual(await stage.held(chatId), before)
      assert.ok(before.some(({ id }) => id === messageId))
    },
  },
  'an answer to a press with text and url at their limits is accepted': {
    proves: ['answer-body', 'limit callbackAnswerMax', 'limit urlMax'],
    needs: ['people', 'group'],
    run: async (stage) => {
      const { callbackAnswerMax, urlMax } = stage.limits
      for (const body of [
        { text: 'x'.repeat(callbackAnswerMax) },
        { text: ` ${'x'.repeat(callbackAnswerMax)} ` },
        { url: 'http://example.org/'.padEnd(urlMax, 'x') },
      ]) {
        ok(await answer(stage, (await pressed(stage)).callbackId, body))
      }
    },
  },
  'an answer to a press beyond a limit or malformed is a bad request, and the press stays open': {
    proves: ['answer-body', 'limit callbackAnswerMax', 'limit urlMax', 'error bad_request'],
    needs: ['people', 'group'],
    run: async (stage) => {
      const { callbackId } = await pressed(stage)
      const { callbackAnswerMax, urlMax } = stage.limits
      const wrong = [
        { text: 'x'.repeat(callbackAnswerMax + 1) },
        { text: 'one\ntwo' },
        { text: 'one\u0007' },
        { text: 7 },
        { alert: 'yes' },
        { url: 'http://example.org/'.padEnd(urlMax + 1, 'x') },
        { url: 'ftp://example.org/' },
        { url: '/page' },
        { url: 'https://me:secret@example.org/' },
        { url: 'https://me@example.org/' },
        { text: 'hi', other: 1 },
        [],
      ]
      for (const body of wrong) no(await answer(stage, callbackId, body), 'bad_request')
      ok(await answer(stage, callbackId))
    },
  },
  'a second answer to a press is refused as callback_answered': {
    proves: [
      'error callback_answered',
      'press: answered -> answered (another answer)',
      'safe-retry-rest',
    ],
    needs: ['people', 'group'],
    run: async (stage) => {
      const { callbackId } = await pressed(stage)
      ok(await answer(stage, callbackId, { text: 'first' }))
      no(await answer(stage, callbackId, { text: 'second' }), 'callback_answered')
      assert.equal((await stage.alice.sawAnswer(callbackId)).text, 'first')
    },
  },
  'a press can be answered for 60 seconds, or as reported, and then expires': {
    proves: [
      'error callback_expired',
      'limit callbackWindowMs',
      'press: open -> expired (60 s pass)',
    ],
    needs: ['people', 'group', 'clock'],
    run: async (stage) => {
      const inTime = await pressed(stage)
      await stage.advance(stage.limits.callbackWindowMs)
      ok(await answer(stage, inTime.callbackId))
      const { chatId, messageId, callbackId } = await pressed(stage)
      await stage.advance(stage.limits.callbackWindowMs + 1)
      no(await answer(stage, callbackId), 'callback_expired')
      assert.notEqual(await stage.alice.press(chatId, messageId), callbackId)
    },
  },
  'an unknown press, and a press for another bot, answer callback_not_found': {
    proves: ['error callback_not_found'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      no(await answer(stage, 'nobodys'), 'callback_not_found')
      const other = await stage.otherBot()
      const { callbackId } = await pressed(stage)
      const theirs = await other.client.post(`/callbacks/${callbackId}/answer`)
      no(theirs, 'callback_not_found')
      ok(await answer(stage, callbackId))
    },
  },
  'an unknown press answers callback_not_found': {
    proves: ['error callback_not_found'],
    run: async (stage) => void no(await answer(stage, 'nobodys'), 'callback_not_found'),
  },
})

import assert from 'node:assert/strict'
import { casesOf, inGroup, inRoom } from '../case.ts'
import { no, ok, okFields, shape } from '../expect.ts'
import { button, say } from '../steps.ts'
import type { Stage } from '../stage.ts'

const HOURS_MS = 3_600_000

async function markupOf(stage: Stage, chatId: number, id: number): Promise<unknown> {
  return (await stage.held(chatId)).find((one) => one.id === id)?.markup
}

export const EDIT = casesOf('PATCH /messages/{messageId}', {
  'an edit answers 200 with id and date, and phones show it': {
    proves: ['endpoint editMessage', 'edit-result', 'edit-live', 'sent-fields'],
    needs: ['people', 'private chat', 'group'],
    run: async (stage) => {
      for (const chatId of [await stage.privateChat(), await stage.group()]) {
        const id = await say(stage, chatId)
        const text = stage.words()
        const answer = await stage.bot.patch(`/messages/${id}`, { chatId, text })
        assert.equal(shape(ok(answer), { id: 'int', date: 'ts' })['id'], id)
        assert.equal((await stage.alice.sees(chatId, id, 'edited')).text, text)
      }
    },
  },
  'an edit without markup keeps the buttons, null removes them, a keyboard replaces them': {
    proves: ['edit-markup'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const id = await say(stage, chatId, { markup: button() })
      const edit = async (change: object) =>
        ok(await stage.bot.patch(`/messages/${id}`, { chatId, ...change }))
      await edit({ text: stage.words() })
      assert.deepEqual(await markupOf(stage, chatId, id), button())
      const other = button({ callbackData: 'other' })
      await edit({ markup: other })
      assert.deepEqual(await markupOf(stage, chatId, id), other)
      await edit({ markup: null })
      assert.equal((await markupOf(stage, chatId, id)) ?? null, null)
      await edit({ text: stage.words(), markup: button() })
      assert.deepEqual(await markupOf(stage, chatId, id), button())
    }),
  },
  'an edit that changes nothing is a bad request': {
    proves: ['edit-nothing'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      const id = await say(stage, chatId)
      no(await stage.bot.patch(`/messages/${id}`, { chatId }), 'bad_request')
      no(await stage.bot.patch(`/messages/${id}`, { text: stage.words() }), 'bad_request')
    }),
  },
  'an edit has the same rules for text and keyboard as a send': {
    proves: ['edit-kind', 'limit textMax'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      const id = await say(stage, chatId)
      const { textMax } = stage.limits
      const edit = (change: object) => stage.bot.patch(`/messages/${id}`, { chatId, ...change })
      for (const text of ['', '  ', 'x'.repeat(textMax + 1), 'one\rtwo', 7]) {
        no(await edit({ text }), 'bad_request')
      }
      no(await edit({ markup: { inlineKeyboard: 7 } }), 'bad_markup')
      no(await edit({ markup: button({}) }), 'bad_markup')
      ok(await edit({ text: 'x'.repeat(textMax) }))
    }),
  },
  'an edit with the wrong kind of body for its chat is refused as wrong_body_kind': {
    proves: ['edit-kind', 'error wrong_body_kind'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const readable = await stage.room({ readable: true })
      const armored = await stage.sealed()
      const text = stage.words()
      const open = `/messages/${await say(stage, readable)}`
      const wrong = await stage.bot.patch(open, { chatId: readable, armored })
      assert.equal(no(wrong, 'wrong_body_kind')['expected'], 'text')

      const chatId = await stage.room({ readable: false })
      const body = stage.way === 'protected' ? { text: stage.words() } : { armored }
      const sent = await stage.bot.post('/messages', { chatId, ...body })
      const closed = `/messages/${String(okFields(sent, 201)['id'])}`
      const asText = await stage.bot.patch(closed, { chatId, text })
      const asSealed = await stage.bot.patch(closed, { chatId, armored })
      if (stage.way === 'protected') {
        ok(asText)
        assert.equal(no(asSealed, 'wrong_body_kind')['expected'], 'text')
      } else {
        assert.equal(no(asText, 'wrong_body_kind')['expected'], 'armored')
        ok(asSealed)
      }
    },
  },
  'an edit of another’s message or of a service notice is forbidden': {
    proves: ['edit-own', 'error forbidden'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ bot: false })
      await stage.join(chatId, stage.me.id)
      const notice = (await stage.held(chatId)).find(({ fromId }) => fromId === stage.me.id)
      const theirs = await stage.alice.write(chatId, stage.words())
      for (const id of [notice?.id, theirs]) {
        const text = stage.words()
        no(await stage.bot.patch(`/messages/${String(id)}`, { chatId, text }), 'forbidden')
        no(await stage.bot.patch(`/messages/${String(id)}`, { chatId, markup: null }), 'forbidden')
      }
    },
  },
  'a message can be edited at any age': {
    proves: ['edit-own'],
    needs: ['clock', 'people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const id = await say(stage, chatId)
      await stage.advance(100 * 24 * HOURS_MS)
      ok(await stage.bot.patch(`/messages/${id}`, { chatId, text: stage.words() }))
    }),
  },
  'a bot edits its messages of before it left and joined again, and no others': {
    proves: ['edit-own'],
    needs: ['people', 'rooms'],
    run: inRoom(async (stage, chatId) => {
      const own = await say(stage, chatId)
      const theirs = await stage.alice.write(chatId, stage.words())
      ok(await stage.bot.post(`/chats/${chatId}/leave`))
      await stage.join(chatId, stage.me.id)
      const edit = (id: number) =>
        stage.bot.patch(`/messages/${id}`, { chatId, text: stage.words() })
      assert.equal(okFields(await edit(own))['id'], own)
      no(await edit(theirs), 'forbidden')
    }),
  },
  'an edit of an unknown message answers message_not_found, in an unknown chat chat_not_found': {
    proves: ['error message_not_found', 'error chat_not_found'],
    needs: ['group', 'private chat'],
    run: inGroup(async (stage, chatId) => {
      const text = stage.words()
      const edit = (id: number, where: number) =>
        stage.bot.patch(`/messages/${id}`, { chatId: where, text })
      no(await edit(987_654_321, chatId), 'message_not_found')
      no(await edit(1, 1), 'chat_not_found')
    }),
  },
  'an edit for a person who blocked the bot or closed the account is refused': {
    proves: ['error blocked_by_user', 'error user_gone'],
    needs: ['people'],
    run: async (stage) => {
      const person = await stage.person({ phone: true })
      const chatId = await stage.privateChat(person)
      const path = `/messages/${await say(stage, chatId)}`
      const edit = () => stage.bot.patch(path, { chatId, text: stage.words() })
      await person.block()
      no(await edit(), 'blocked_by_user')
      await person.unblock()
      ok(await edit())
      await person.closeAccount()
      no(await edit(), 'user_gone')
    },
  },
})

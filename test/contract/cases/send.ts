import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { casesOf, inGroup, inPrivateChat } from '../case.ts'
import { no, ok, okFields, shape } from '../expect.ts'
import { say, send } from '../steps.ts'

const NOWHERE = 1

export const SEND = casesOf('POST /messages', {
  'a send answers 201 with id and date, and the person’s phone shows the text': {
    proves: ['endpoint sendMessage', 'send-created', 'sent-fields', 'send-fields'],
    needs: ['private chat', 'people'],
    run: inPrivateChat(async (stage, chatId) => {
      const text = stage.words()
      const answer = await stage.bot.post('/messages', { chatId, text })
      assert.match(answer.statusLine, /^HTTP\/1\.1 201\b/)
      const sent = shape(ok(answer, 201), { id: 'int', date: 'ts' })
      const shown = await stage.alice.sees(chatId, Number(sent['id']))
      assert.equal(shown.text, text)
    }),
  },
  'a group accepts a message, and a channel a silent one': {
    proves: ['send-fields', 'send-silent'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const channel = await stage.room({ kind: 'channel' })
      await stage.setMembership(channel, stage.me.id, { status: 'admin' })
      for (const chatId of [await stage.group(), channel]) {
        const text = stage.words()
        const silent = chatId === channel ? { silent: true } : {}
        const sent = await stage.bot.post('/messages', { chatId, text, ...silent })
        const shown = await stage.bob.sees(chatId, Number(okFields(sent, 201)['id']))
        assert.equal(shown.text, text)
      }
    },
  },
  'a private chat and a group each accept a message': {
    proves: ['endpoint sendMessage', 'send-created', 'sent-fields'],
    needs: ['private chat', 'group'],
    run: async (stage) => {
      for (const chatId of [await stage.privateChat(), await stage.group()]) {
        const answer = await send(stage, chatId)
        shape(ok(answer, 201), { id: 'int', date: 'ts' })
      }
    },
  },
  'a send with a field of the wrong type is a bad request that names the field': {
    proves: ['send-fields', 'names-the-field', 'error bad_request'],
    needs: ['group'],
    run: async (stage) => {
      const good = { chatId: await stage.group(), text: stage.words() }
      const wrong = {
        chatId: ['x', null, 1.5, undefined],
        text: [7, null, {}],
        replyTo: ['x', 1.5],
        silent: ['yes', 1],
        sendId: ['not a uuid', 7],
      }
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const answer = await stage.bot.post('/messages', { ...good, [name]: value })
          const { message } = no(answer, 'bad_request')
          assert.ok(String(message).includes(name), `${String(message)} names ${name}`)
        }
      }
    },
  },
  'a send to an unknown chat and to a chat without the bot answers the same chat_not_found': {
    proves: ['error chat_not_found'],
    needs: ['rooms'],
    run: async (stage) => {
      const without = await stage.room({ bot: false })
      const text = stage.words()
      const errors = [
        no(await stage.bot.post('/messages', { chatId: NOWHERE, text }), 'chat_not_found'),
        no(await stage.bot.post('/messages', { chatId: without, text }), 'chat_not_found'),
      ]
      assert.deepEqual(errors[0], errors[1])
    },
  },
  'a send to a person who blocked the bot answers blocked_by_user': {
    proves: ['error blocked_by_user', 'auth-rights'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      await stage.alice.block()
      const text = stage.words()
      no(await stage.bot.post('/messages', { chatId, text }), 'blocked_by_user')
      await stage.alice.unblock()
      ok(await stage.bot.post('/messages', { chatId, text }), 201)
    }),
  },
  'a send to a closed account answers user_gone, with or without an earlier key': {
    proves: ['error user_gone'],
    needs: ['people'],
    run: async (stage) => {
      for (const phone of [true, false]) {
        const person = await stage.person({ phone })
        const chatId = await stage.privateChat(person)
        if (phone) await say(stage, chatId)
        await person.closeAccount()
        const answer = await send(stage, chatId)
        no(answer, 'user_gone')
      }
    },
  },
  'a person without a key receives readable text, and nothing through a sidecar with a key': {
    proves: ['bot-open'],
    needs: ['people'],
    run: async (stage) => {
      const chatId = await stage.privateChat(await stage.person({ phone: false }))
      const answer = await send(stage, chatId)
      if (stage.way === 'protected') no(answer, 'postern_no_recipient')
      else ok(answer, 201)
    },
  },
  'a send of a restricted bot, and of a channel subscriber, is forbidden': {
    proves: ['error forbidden', 'auth-rights'],
    needs: ['rooms'],
    run: async (stage) => {
      const group = await stage.room()
      await stage.setMembership(group, stage.me.id, { status: 'restricted' })
      const channel = await stage.room({ kind: 'channel' })
      for (const chatId of [group, channel]) {
        no(await send(stage, chatId), 'forbidden')
      }
    },
  },
  'a reply quotes a message of the same chat, and an unknown id is ignored': {
    proves: ['send-reply'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const quoted = await stage.alice.write(chatId, stage.words())
      const right = await say(stage, chatId, { replyTo: quoted })
      const wrong = await say(stage, chatId, { replyTo: 987_654_321 })
      const none = await say(stage, chatId, { replyTo: null })
      const held = await stage.held(chatId)
      const quotes = [right, wrong, none].map((id) => held.find((one) => one.id === id)?.replyTo)
      assert.deepEqual(quotes, [quoted, null, null])
    }),
  },
})

export const SEND_ID = casesOf('POST /messages', {
  'a UUID of any version is accepted as sendId': {
    proves: ['send-again', 'send-fields'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      for (const sendId of [randomUUID(), randomUUID().replace(/-4(...)-./, '-0$1-7')]) {
        const body = { chatId, text: stage.words(), sendId }
        const { id } = okFields(await stage.bot.post('/messages', body), 201)
        assert.equal(okFields(await stage.bot.post('/messages', body))['id'], id)
      }
    }),
  },
  'a repeated sendId answers 200 with the message already written': {
    proves: ['send-again', 'safe-retry-send'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const count = (await stage.held(chatId)).length
      const body = { chatId, text: stage.words(), sendId: randomUUID() }
      const first = okFields(await stage.bot.post('/messages', body), 201)
      const again = okFields(await stage.bot.post('/messages', body), 200)
      assert.equal(again['id'], first['id'])
      assert.equal(again['date'], first['date'])
      const other = okFields(
        await stage.bot.post('/messages', { ...body, text: stage.words() }),
        200,
      )
      assert.equal(other['id'], first['id'])
      assert.equal((await stage.held(chatId)).length, count + 1)
    }),
  },
  'the same sendId in another chat answers conflict': {
    proves: ['send-elsewhere', 'error conflict'],
    needs: ['private chat', 'group'],
    run: async (stage) => {
      const body = { text: stage.words(), sendId: randomUUID() }
      const first = { ...body, chatId: await stage.group() }
      ok(await stage.bot.post('/messages', first), 201)
      const other = { ...body, chatId: await stage.privateChat() }
      no(await stage.bot.post('/messages', other), 'conflict')
      ok(await stage.bot.post('/messages', first), 200)
    },
  },
})

import assert from 'node:assert/strict'
import { casesOf, inPrivateChat } from '../case.ts'
import { no, ok, okFields } from '../expect.ts'
import { receivedWords, say, send } from '../steps.ts'

export const MODES = casesOf('What the service does', {
  'a group with open history is readable, any other is encrypted': {
    proves: ['group-mode', 'chat-mode', 'encrypted-armored'],
    needs: ['rooms'],
    run: async (stage) => {
      const open = await stage.room({ readable: true })
      const other = await stage.room({ readable: false })
      const modeOf = async (id: number) => okFields(await stage.bot.get(`/chats/${id}`))['mode']
      assert.equal(await modeOf(open), 'open')
      assert.equal(await modeOf(other), stage.per({ service: 'protected', protected: 'open' }))
      await say(stage, open)
    },
  },
  'a private chat of an open bot carries text in both directions': {
    proves: ['bot-open', 'readable-text'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const text = stage.words()
      const answer = await stage.bot.post('/messages', { chatId, text })
      const shown = await stage.alice.sees(chatId, Number(okFields(answer, 201)['id']))
      assert.equal(shown.text, text)
      assert.equal(shown.verdict, stage.per({ service: 'readable', protected: 'verified' }))
      const written = stage.words()
      await stage.alice.write(chatId, written)
      assert.deepEqual(await receivedWords(stage), [written])
    }),
  },
  'a send with the wrong kind of body is refused, and `expected` names the right one': {
    proves: ['wrong-kind', 'send-kind', 'error wrong_body_kind'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const readable = await stage.room({ readable: true })
      const encrypted = await stage.room({ readable: false })
      const armored = await stage.sealed()
      const wrong = await stage.bot.post('/messages', { chatId: readable, armored })
      assert.equal(no(wrong, 'wrong_body_kind')['expected'], 'text')

      const text = await send(stage, encrypted)
      const sealed = await stage.bot.post('/messages', { chatId: encrypted, armored })
      if (stage.way === 'protected') {
        // The bot lives in a world where every chat is readable.
        ok(text, 201)
        assert.equal(no(sealed, 'wrong_body_kind')['expected'], 'text')
      } else {
        assert.equal(no(text, 'wrong_body_kind')['expected'], 'armored')
        ok(sealed, 201)
      }
    },
  },
  'a send with both text and armored is refused': {
    proves: ['send-kind'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: true })
      const both = { chatId, text: stage.words(), armored: await stage.sealed() }
      no(await stage.bot.post('/messages', both), ['bad_request', 'wrong_body_kind'])
    },
  },
  'a send without text and armored is a bad request with the expected kind': {
    proves: ['no-body-expected', 'error bad_request'],
    needs: ['rooms'],
    run: async (stage) => {
      const readable = await stage.room({ readable: true })
      const encrypted = await stage.room({ readable: false })
      const expected = async (chatId: number) =>
        no(await stage.bot.post('/messages', { chatId }), 'bad_request')['expected']
      assert.equal(await expected(readable), 'text')
      assert.equal(await expected(encrypted), stage.per({ service: 'armored', protected: 'text' }))
    },
  },
  'a group becomes encrypted when its history is closed, and readable when it is opened': {
    proves: ['group-mode'],
    needs: ['rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: true })
      await say(stage, chatId)
      await stage.changeRoom(chatId, { readable: false })
      // The service may receive readable words until the sidecar knows of the change.
      const text = { chatId, text: 'said while the room turned' }
      const turned = await stage.bot.post('/messages', text)
      if (stage.way === 'protected') {
        ok(turned, 201)
        return
      }
      assert.equal(no(turned, 'wrong_body_kind')['expected'], 'armored')
      await stage.changeRoom(chatId, { readable: true })
      // A chat that was once encrypted accepts readable words only by the operator's decision.
      const again = await stage.bot.post('/messages', text)
      if (stage.way === 'open') no(again, 'wrong_body_kind')
      else ok(again, 201)
    },
  },
  'every member of an encrypted chat opens and verifies a message of the bot': {
    proves: ['send-sealed'],
    needs: ['rooms', 'people'],
    only: {
      ways: ['protected'],
      because: 'sealing is the bot’s own duty, and the service cannot see whether it did it',
    },
    run: async (stage) => {
      const chatId = await stage.room({ readable: false })
      const text = stage.words()
      const sent = await stage.bot.post('/messages', { chatId, text })
      const id = Number(okFields(sent, 201)['id'])
      for (const person of [stage.alice, stage.bob]) {
        assert.deepEqual(await person.sees(chatId, id), { text, verdict: 'verified' })
      }
      const reply = stage.words()
      await stage.bob.write(chatId, reply, { replyTo: id })
      assert.deepEqual(await receivedWords(stage), [reply])
    },
  },
})

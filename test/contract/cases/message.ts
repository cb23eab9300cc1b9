import assert from 'node:assert/strict'
import { casesOf, inPrivateChat } from '../case.ts'
import { at, shape, type Fields } from '../expect.ts'
import type { Stage } from '../stage.ts'
import { onlyMessage, received, say } from '../steps.ts'

const HEADER = '-----BEGIN PGP MESSAGE-----'

/** What arrives when alice writes this into her private chat. */
async function arrived(stage: Stage, text: string): Promise<Fields> {
  await stage.alice.write(await stage.privateChat(), text)
  return await onlyMessage(stage)
}

export const MESSAGE = casesOf('Message (inside an update)', {
  'a message has id, chat, sender, date, kind, text and media': {
    proves: [
      'message-fields',
      'message-from',
      'message-chat',
      'message-kind',
      'event-message',
      'readable-text',
    ],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const text = stage.words()
      const id = await stage.alice.write(chatId, text)
      const message = shape(await onlyMessage(stage), {
        id: 'int',
        chat: 'object',
        from: 'object',
        date: 'ts',
        kind: 'string',
        text: 'string',
        media: 'array',
      })
      assert.equal(message['id'], id)
      assert.deepEqual(message['chat'], { id: chatId, kind: 'private' })
      shape(message['from'], {
        id: 'int',
        username: 'string',
        firstName: 'string',
        lastName: 'string?',
        isBot: 'boolean',
      })
      assert.equal(at(message, 'from.id'), stage.alice.id)
      assert.equal(at(message, 'from.isBot'), false)
      assert.equal(message['replyTo'], null)
      assert.equal(message['kind'], 'user')
      assert.equal(message['text'], text)
      assert.deepEqual(message['media'], [])
    }),
  },
  'the kind of a message’s chat is private, group or channel': {
    proves: ['message-chat'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      await stage.alice.write(await stage.privateChat(), stage.words())
      await stage.alice.write(await stage.group(), `/start ${stage.words()}`)
      await stage.alice.write(await stage.room({ kind: 'channel' }), `/start ${stage.words()}`)
      const kinds = (await received(stage)).map((update) => at(update, 'message.chat.kind'))
      assert.deepEqual(kinds, ['private', 'group', 'channel'])
    },
  },
  '`replyTo` of a message has the id of the quoted message': {
    proves: ['message-reply'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const quoted = await say(stage, chatId)
      await stage.alice.write(chatId, stage.words(), { replyTo: quoted })
      assert.equal(at(await onlyMessage(stage), 'replyTo.id'), quoted)
    }),
  },
  'delivered text is trimmed, and runs of empty lines are folded': {
    proves: ['message-text'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const message = await arrived(stage, '\n  one\n\n\n\n\ntwo\n\nthree\nfour  \n\n')
      assert.equal(message['text'], 'one\n\ntwo\n\nthree\nfour')
    },
  },
  'delivered text is cut at 4000 characters': {
    proves: ['message-text', 'limit deliveredTextMax'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const { deliveredTextMax } = stage.limits
      const message = await arrived(stage, `${'x'.repeat(deliveredTextMax)}y`)
      assert.equal(message['text'], 'x'.repeat(deliveredTextMax))
    },
  },
  'a service notice has another kind than user': {
    proves: ['message-notice'],
    needs: ['people', 'rooms', 'owner'],
    run: async (stage) => {
      await stage.owner.setPrivacyMode({ on: false })
      const chatId = await stage.room()
      await stage.bob.leave(chatId)
      const message = await onlyMessage(stage)
      assert.equal(typeof message['kind'], 'string')
      assert.notEqual(message['kind'], 'user')
      assert.equal(at(message, 'from.id'), stage.bob.id)
    },
  },
  'a message of an encrypted chat has `armored`, and `text` through the sidecar with a key': {
    proves: ['message-armored', 'encrypted-armored', 'event-message'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: false })
      const text = `/start ${stage.words()}`
      await stage.alice.write(chatId, text)
      const { text: shown, armored } = await onlyMessage(stage)
      if (stage.way === 'protected') assert.deepEqual({ shown, armored }, { shown: text, armored })
      const isSealed = typeof armored === 'string' && armored.startsWith(HEADER)
      assert.equal(isSealed, stage.per({ service: true, protected: false }))
      assert.equal(shown, stage.per({ service: undefined, protected: text }))
    },
  },
  'readable text with an OpenPGP header is delivered as `armored`, by the sidecar as `text`': {
    proves: ['message-armored-words'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: true })
      const words = `/start what does ${HEADER} mean?`
      await stage.alice.write(chatId, words)
      const { text, armored } = await onlyMessage(stage)
      const asText = { text: words, armored: undefined }
      const asArmored = { text: undefined, armored: words }
      const expected = stage.per<object>({ service: asArmored, protected: asText })
      assert.deepEqual({ text, armored }, expected)
    },
  },
})

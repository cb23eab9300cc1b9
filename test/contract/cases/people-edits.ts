import assert from 'node:assert/strict'
import { casesOf, inGroup, inPrivateChat, inRoom } from '../case.ts'
import { at, no } from '../expect.ts'
import { onlyMessage, received, receivedWords, say } from '../steps.ts'

/** What bots notice when people edit and delete their messages. */
export const PEOPLE_EDITS = casesOf('Message (inside an update)', {
  'a person’s edit sends no update, and a later quotation contains the edited text': {
    proves: ['event-message', 'message-reply'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const [before, after, reply] = [stage.words(), stage.words(), stage.words()]
      const id = await stage.alice.write(chatId, before)
      await stage.alice.edit(chatId, id, after)
      assert.deepEqual(await receivedWords(stage), [before])
      await stage.alice.write(chatId, reply, { replyTo: id })
      const quoting = (await received(stage)).at(-1)
      assert.equal(at(quoting, 'message.text'), reply)
      assert.equal(at(quoting, 'message.replyTo.id'), id)
      assert.equal(at(quoting, 'message.replyTo.text'), after)
    }),
  },
  'a person’s edit that addresses the bot sends no update': {
    proves: ['event-message', 'group-addressed'],
    needs: ['people', 'group'],
    run: inGroup(async (stage, chatId) => {
      const id = await stage.alice.write(chatId, stage.words())
      await stage.alice.edit(chatId, id, `/start ${stage.words()}`)
      assert.deepEqual(await received(stage), [])
    }),
  },
  'a person’s deletion sends no update, and the message cannot be quoted': {
    proves: ['event-message', 'message-reply', 'send-reply'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const id = await stage.alice.write(chatId, stage.words())
      await stage.alice.delete(chatId, id)
      assert.equal((await received(stage)).length, 1)
      const sent = await say(stage, chatId, { replyTo: id })
      assert.equal((await stage.held(chatId)).find((one) => one.id === sent)?.replyTo, null)
      await stage.alice.write(chatId, stage.words(), { replyTo: id })
      assert.equal(at((await received(stage)).at(-1), 'message.replyTo'), null)
    }),
  },
  'a waiting update keeps the text of a deleted message': {
    proves: ['event-order'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const text = stage.words()
      await stage.alice.delete(chatId, await stage.alice.write(chatId, text))
      assert.equal((await onlyMessage(stage))['text'], text)
    }),
  },
  'a message deleted by a person answers message_not_found to the bot': {
    proves: ['delete-gone', 'error message_not_found'],
    needs: ['people', 'rooms'],
    run: inRoom(async (stage, chatId) => {
      await stage.setMembership(chatId, stage.me.id, { status: 'admin', deletes: true })
      const id = await stage.bob.write(chatId, stage.words())
      await stage.bob.delete(chatId, id)
      no(await stage.bot.delete(`/messages/${id}?chatId=${chatId}`), 'message_not_found')
    }),
  },
})

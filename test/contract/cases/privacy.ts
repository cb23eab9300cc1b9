import assert from 'node:assert/strict'
import { casesOf, inPrivateChat } from '../case.ts'
import { ok } from '../expect.ts'
import type { Stage } from '../stage.ts'
import { received, receivedWords, say } from '../steps.ts'

/** One group that is readable, and in the way `protected` an encrypted one as well. */
async function groups(stage: Stage): Promise<number[]> {
  const readable = await stage.room({ readable: true })
  return stage.way === 'protected' ? [readable, await stage.room({ readable: false })] : [readable]
}

export const PRIVACY = casesOf('What the service does', {
  'a bot receives every message of a private chat': {
    proves: ['private-everything'],
    needs: ['people', 'private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      const texts = [stage.words(), '/start', 'hello @somebody', 'x']
      for (const text of texts) await stage.alice.write(chatId, text)
      assert.deepEqual(await receivedWords(stage), texts)
    }),
  },
  'a bot in privacy mode receives commands, mentions and replies of a group': {
    proves: ['group-addressed', 'phone-applies'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const { username } = stage.me
      const texts: string[] = []
      for (const chatId of await groups(stage)) {
        const replyTo = await say(stage, chatId)
        const addressed = [
          `/start ${stage.words()}`,
          `/start@${username.toUpperCase()} ${stage.words()}`,
          `${stage.words()} @${username}, please`,
        ]
        for (const text of addressed) await stage.alice.write(chatId, text)
        const reply = stage.words()
        await stage.bob.write(chatId, reply, { replyTo })
        texts.push(...addressed, reply)
      }
      assert.deepEqual(await receivedWords(stage), texts.slice(0, stage.limits.pollLimitMax))
    },
  },
  'a bot in privacy mode receives no other messages of a group': {
    proves: ['group-addressed', 'phone-applies'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      for (const chatId of await groups(stage)) {
        const replyTo = await stage.alice.write(chatId, stage.words())
        await stage.bob.write(chatId, stage.words(), { replyTo })
        await stage.bob.write(chatId, `/start@someone_else ${stage.words()}`)
        await stage.bob.write(chatId, `@someone_else ${stage.words()}`)
        const { username } = stage.me
        const near = [`@${username}s`, `a@${username}`, 'say /start', '/', '/st-art']
        for (const text of [...near, `/${'x'.repeat(33)}`]) await stage.bob.write(chatId, text)
      }
      assert.deepEqual(await receivedWords(stage), [])
    },
  },
  'a bot without privacy mode receives every message of a group': {
    proves: ['privacy-off'],
    needs: ['people', 'rooms', 'owner'],
    run: async (stage) => {
      await stage.owner.setPrivacyMode({ on: false })
      const texts: string[] = []
      for (const chatId of await groups(stage)) {
        for (const person of [stage.alice, stage.bob]) {
          texts.push(stage.words())
          await person.write(chatId, texts.at(-1) ?? '')
        }
      }
      assert.deepEqual(await receivedWords(stage), texts)
    },
  },
  'a bot receives messages of a group only between joining and leaving': {
    proves: ['no-joining', 'no-history'],
    needs: ['people', 'rooms', 'owner'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: true, bot: false })
      await stage.alice.write(chatId, `/start ${stage.words()}`)
      assert.deepEqual(await receivedWords(stage), [])
      await stage.join(chatId, stage.me.id)
      const text = `/start ${stage.words()}`
      await stage.alice.write(chatId, text)
      const words = (await receivedWords(stage)).filter((found) => found !== undefined)
      assert.deepEqual(words, [text])
      const { length } = await received(stage)
      ok(await stage.bot.post(`/chats/${chatId}/leave`))
      await stage.alice.write(chatId, `/start ${stage.words()}`)
      assert.equal((await received(stage)).length, length)
    },
  },
})

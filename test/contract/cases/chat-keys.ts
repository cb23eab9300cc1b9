import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { list, no, ok, okFields, type Fields } from '../expect.ts'
import { CERTIFICATE, checkKeyRecord } from '../key-record.ts'
import type { Stage } from '../stage.ts'

const idsIn = (keys: Fields[]): unknown[] =>
  keys.map((record) => Object.values(record).find((value) => typeof value === 'number'))

const keysOf = (stage: Stage, chatId: number) => stage.bot.get(`/chats/${chatId}/keys`)

/** The key list of an encrypted chat; null through a sidecar with a key, which has none to show. */
async function listOf(stage: Stage, chatId: number): Promise<Fields | null> {
  const answer = await keysOf(stage, chatId)
  if (stage.way !== 'protected') return okFields(answer)
  no(answer, 'chat_is_open')
  return null
}

export const CHAT_KEYS = casesOf('GET /chats/{chatId}/keys', {
  'the key list of a readable chat answers chat_is_open, through the sidecar for every chat': {
    proves: ['endpoint getChatKeys', 'error chat_is_open'],
    needs: ['rooms', 'private chat'],
    run: async (stage) => {
      no(await keysOf(stage, await stage.room({ readable: true })), 'chat_is_open')
      no(await keysOf(stage, await stage.privateChat()), 'chat_is_open')
      const encrypted = await keysOf(stage, await stage.room({ readable: false }))
      if (stage.way === 'protected') no(encrypted, 'chat_is_open')
      else ok(encrypted)
    },
  },
  'the key list of a group that accepts text answers chat_is_open': {
    proves: ['error chat_is_open'],
    needs: ['group'],
    run: async (stage) => {
      no(await keysOf(stage, await stage.group()), 'chat_is_open')
    },
  },
  'the key list of an encrypted group has ids and keys without names, and counts all members': {
    proves: ['keys-list', 'keys-count', 'user-key-fields'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const keyless = await stage.person({ phone: false })
      const chatId = await stage.room({ readable: false, members: [keyless.id] })
      const result = await listOf(stage, chatId)
      if (result === null) return
      const { keys, memberCount } = result
      const records = list(keys)
      assert.deepEqual(new Set(idsIn(records)), new Set([stage.alice.id, stage.bob.id]))
      assert.equal(records.length, 2)
      checkKeyRecord(records[0] ?? {}, Number(idsIn(records)[0]))
      assert.equal(memberCount, 4)
      const json = JSON.stringify(records)
      assert.ok(!json.includes(stage.alice.username) && !json.includes('"Alice"'), 'no names')
    },
  },
  'a key list omits the bot itself and bots in privacy mode': {
    proves: ['keys-omits'],
    needs: ['rooms', 'people', 'owner'],
    run: async (stage) => {
      const deaf = await stage.otherBot({ key: true })
      const hearing = await stage.otherBot({ key: true, listens: true })
      const chatId = await stage.room({ readable: false, members: [deaf.id, hearing.id] })
      const result = await listOf(stage, chatId)
      if (result === null) return
      const ids = idsIn(list(result['keys']))
      assert.ok(ids.includes(hearing.id))
      assert.ok(!ids.includes(deaf.id))
      assert.ok(!ids.includes(stage.me.id))
    },
  },
  'the key list of a private chat or channel has no member count': {
    proves: ['keys-count', 'key-private-encrypted'],
    needs: ['people', 'owner', 'rooms'],
    run: async (stage) => {
      const person = await stage.person({ phone: true })
      const chatId = await stage.privateChat(person)
      await publish(stage)
      const result = await listOf(stage, chatId)
      if (result === null) return
      assert.deepEqual(idsIn(list(result['keys'])), [person.id])
      const channel = await stage.room({ kind: 'channel', readable: false })
      for (const one of [result, okFields(await keysOf(stage, channel))]) {
        assert.ok(!('memberCount' in one))
      }
    },
  },
  'a private chat whose person has no key answers no_user_key': {
    proves: ['error no_user_key'],
    needs: ['people', 'owner'],
    run: async (stage) => {
      const chatId = await stage.privateChat(await stage.person({ phone: false }))
      await publish(stage)
      const answer = await keysOf(stage, chatId)
      if (stage.way === 'protected') no(answer, 'chat_is_open')
      else no(answer, 'no_user_key')
    },
  },
  'the key list of a chat without the bot answers chat_not_found': {
    proves: ['error chat_not_found'],
    needs: ['rooms'],
    run: async (stage) => {
      no(await keysOf(stage, await stage.room({ bot: false })), 'chat_not_found')
    },
  },
})

/** The bot has a key, by its own doing at the service or the sidecar's. */
async function publish(stage: Stage): Promise<void> {
  if (stage.way === 'protected') return
  const fingerprint = 'C'.repeat(40)
  const publicKey = `${CERTIFICATE}\n\nxjMEZ\n-----END PGP PUBLIC KEY BLOCK-----\n`
  ok(await stage.bot.put('/key', { publicKey, fingerprint }))
}

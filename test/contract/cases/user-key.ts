import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { no, ok, okFields } from '../expect.ts'
import { checkKeyRecord } from '../key-record.ts'

export const USER_KEY = casesOf('GET /users/{userId}/key', {
  'a person’s key has the user id, the fingerprint and the armored public key': {
    proves: ['endpoint getUserKey', 'user-key-fields'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      await stage.privateChat()
      checkKeyRecord(okFields(await stage.bot.get(`/users/${stage.alice.id}/key`)), stage.alice.id)
    },
  },
  'a key without a common chat, of a bot or a closed account answers the same user_not_found': {
    proves: ['user-key-shared', 'error user_not_found', 'resolve-grants-nothing'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const stranger = await stage.person({ phone: true })
      const errors = [
        no(await stage.bot.get(`/users/${stranger.id}/key`), 'user_not_found'),
        no(await stage.bot.get('/users/1/key'), 'user_not_found'),
        no(await stage.bot.get(`/users/${stage.me.id}/key`), 'user_not_found'),
      ]
      assert.deepEqual(errors.slice(1), [errors[0], errors[0]])
      await stage.room({ members: [stranger.id] })
      ok(await stage.bot.get(`/users/${stranger.id}/key`))
      await stage.privateChat(stranger)
      await stranger.closeAccount()
      no(await stage.bot.get(`/users/${stranger.id}/key`), 'user_not_found')
    },
  },
  'a person who never published a key answers no_user_key': {
    proves: ['error no_user_key'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const person = await stage.person({ phone: false })
      await stage.room({ members: [person.id] })
      no(await stage.bot.get(`/users/${person.id}/key`), 'no_user_key')
    },
  },
  'the key of an unknown id answers user_not_found': {
    proves: ['error user_not_found'],
    run: async ({ bot }) => void no(await bot.get('/users/1/key'), 'user_not_found'),
  },
})

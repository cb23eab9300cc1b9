import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { fields, no, okFields, shape, type Fields } from '../expect.ts'
import { send } from '../steps.ts'
import type { Stage } from '../stage.ts'

let handles = 0
const freshHandle = (): string => `Handle_${++handles}_of_contract`

async function resolved(stage: Stage, handle: string): Promise<Fields> {
  const answer = okFields(await stage.bot.get(`/resolve/${handle}`))
  return shape(answer, { id: 'int', kind: 'string', username: 'string' })
}

/** The identity repeated under `user` or `chat`. */
const detail = (answer: Fields): Fields => fields(answer['user'] ?? answer['chat'])

export const RESOLVE = casesOf('GET /resolve/{username}', {
  'a person, a group and a channel resolve by their handles in any case': {
    proves: [
      'endpoint resolve',
      'resolved-fields',
      'resolved-detail',
      'resolve-pool',
      'resolve-pattern',
    ],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const [groupHandle, channelHandle] = [freshHandle(), freshHandle()]
      const group = await stage.room({ username: groupHandle, bot: false })
      const channel = await stage.room({ kind: 'channel', username: channelHandle, bot: false })
      const kinds = new Set<unknown>()
      for (const [handle, id] of [
        [stage.alice.username, stage.alice.id],
        [groupHandle, group],
        [channelHandle, channel],
      ] as const) {
        for (const asked of [handle, handle.toUpperCase(), handle.toLowerCase()]) {
          const answer = await resolved(stage, asked)
          assert.equal(answer['id'], id)
          assert.equal(answer['username'], handle)
          assert.equal(detail(answer)['id'], id)
          kinds.add(answer['kind'])
        }
      }
      assert.equal(kinds.size, 3, 'kind tells the three apart')
      await assert.rejects(stage.room({ username: groupHandle }), 'a handle has one holder')
    },
  },
  'a former handle resolves to its holder with the current handle': {
    proves: ['resolved-username'],
    needs: ['people'],
    run: async (stage) => {
      const person = await stage.person({ phone: false })
      const now = freshHandle()
      await person.rename(now)
      const answer = await resolved(stage, person.username)
      assert.equal(answer['id'], person.id)
      assert.equal(answer['username'], now)
    },
  },
  'an unused handle, a closed account and the server’s own handle answer username_not_found': {
    proves: ['resolve-nobody', 'error username_not_found', 'no-searching'],
    needs: ['people', 'clock'],
    run: async (stage) => {
      const gone = await stage.person({ phone: false })
      await gone.closeAccount()
      for (const handle of ['nobody_has_this', gone.username, 'service']) {
        no(await stage.bot.get(`/resolve/${handle}`), 'username_not_found')
      }
    },
  },
  'a malformed handle is a bad request': {
    proves: ['resolve-pattern', 'error bad_request'],
    run: async ({ bot }) => {
      for (const handle of ['ab', 'x'.repeat(33), '%40alice', 'a-b-c', 'a.b.c', '%C3%A9tude']) {
        no(await bot.get(`/resolve/${handle}`), 'bad_request')
      }
    },
  },
  'a resolved id allows neither a send nor a key lookup': {
    proves: ['resolve-grants-nothing'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      const handle = freshHandle()
      await stage.room({ username: handle, bot: false })
      const chatId = (await resolved(stage, handle))['id']
      no(await send(stage, Number(chatId)), 'chat_not_found')
      const stranger = await stage.person({ phone: true })
      const { id } = await resolved(stage, stranger.username)
      no(await stage.bot.get(`/users/${String(id)}/key`), 'user_not_found')
    },
  },
})

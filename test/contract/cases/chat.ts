import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { at, no, okFields, shape, type Fields } from '../expect.ts'
import type { Stage } from '../stage.ts'

const chat = async ({ bot }: Stage, id: number): Promise<Fields> =>
  okFields(await bot.get(`/chats/${id}`))

const COMMON = { id: 'int', kind: 'string', username: 'string?', mode: 'string', me: 'object' }

/** Names of the fields that are true. */
const flags = (found: Fields): string[] => Object.keys(found).filter((name) => found[name] === true)

export const CHAT = [
  ...casesOf('GET /chats/{chatId}', {
    'an unknown chat and a chat without the bot answer the same chat_not_found': {
      proves: ['endpoint getChat', 'chat-not-in', 'error chat_not_found'],
      needs: ['rooms'],
      run: async (stage) => {
        const without = await stage.room({ bot: false })
        const errors = [
          no(await stage.bot.get(`/chats/${without}`), 'chat_not_found'),
          no(await stage.bot.get('/chats/1'), 'chat_not_found'),
        ]
        assert.deepEqual(errors[0], errors[1])
      },
    },
    'a group has the fields of a chat, and `me` with the bot’s membership': {
      proves: ['endpoint getChat', 'chat-fields', 'chat-seat'],
      needs: ['group'],
      run: async (stage) => {
        const group = shape(await chat(stage, await stage.group()), {
          ...COMMON,
          title: 'string',
          description: 'string?',
          memberCount: 'int',
          historyVisible: 'boolean',
          slowModeSeconds: 'int',
        })
        shape(group['me'], { status: 'string', rights: 'int', restrictedUntil: 'ts?' })
      },
    },
  }),
  ...casesOf('Chat (result of GET /chats/{chatId})', {
    'a group shows its title, handle, description, members, history and slow mode': {
      proves: ['chat-fields', 'chat-slow-mode'],
      needs: ['rooms'],
      run: async (stage) => {
        const username = `room_${stage.now()}`
        const given = { title: 'Tea room', username, description: 'Of tea', slowModeSeconds: 30 }
        const id = await stage.room(given)
        const historyVisible = stage.per({ service: true, protected: false })
        const shown = { id, ...given, memberCount: 3, kind: 'group', historyVisible }
        assert.partialDeepStrictEqual(await chat(stage, id), shown)
        assert.equal((await chat(stage, await stage.group()))['slowModeSeconds'], 0)
      },
    },
    'the kind of a chat is private, group or channel': {
      proves: ['chat-fields'],
      needs: ['rooms', 'private chat'],
      run: async (stage) => {
        const ids = [
          await stage.privateChat(),
          await stage.group(),
          await stage.room({ kind: 'channel' }),
        ]
        const kinds = await Promise.all(ids.map(async (id) => (await chat(stage, id))['kind']))
        assert.deepEqual(kinds, ['private', 'group', 'channel'])
      },
    },
    'the mode of a chat is open or protected, and always open through the sidecar': {
      proves: ['chat-mode'],
      needs: ['rooms', 'private chat'],
      run: async (stage) => {
        const readable = await stage.room({ readable: true })
        const encrypted = await stage.room({ readable: false })
        const modes: unknown[] = []
        const truths: unknown[] = []
        for (const id of [readable, encrypted, await stage.privateChat()]) {
          const found = await chat(stage, id)
          modes.push(found['mode'])
          truths.push(found['postern'] && at(found, 'postern.mode'))
        }
        const asIs = ['open', 'protected', 'open']
        assert.deepEqual(modes, stage.per({ service: asIs, protected: ['open', 'open', 'open'] }))
        assert.deepEqual(
          truths,
          stage.per<unknown[]>({
            service: [undefined, undefined, undefined],
            protected: ['open', 'protected', 'protected'],
          }),
        )
      },
    },
    '`me` of a chat is the bot’s membership with status, rights and restriction': {
      proves: ['chat-seat'],
      needs: ['rooms'],
      run: async (stage) => {
        const id = await stage.room()
        const ownMembership = async () =>
          shape((await chat(stage, id))['me'], {
            status: 'string',
            rights: 'int',
            restrictedUntil: 'ts?',
          })
        assert.equal((await ownMembership())['status'], 'member')
        const restrictedUntil = stage.now() + 60_000
        await stage.setMembership(id, stage.me.id, { status: 'restricted', restrictedUntil })
        assert.equal((await ownMembership())['restrictedUntil'], restrictedUntil)
        await stage.setMembership(id, stage.me.id, { status: 'admin', restrictedUntil: null })
        assert.notEqual((await ownMembership())['rights'], 0)
      },
    },
    'a private chat contains the other person and their block of the bot': {
      proves: ['chat-private', 'member-no-phone'],
      needs: ['people', 'private chat'],
      run: async (stage) => {
        const id = await stage.privateChat()
        const before = await chat(stage, id)
        const carried = Object.values(before).some(
          (value) =>
            value !== null &&
            typeof value === 'object' &&
            'id' in value &&
            value.id === stage.alice.id,
        )
        assert.ok(carried, 'the other person is somewhere in it')
        assert.deepEqual(flags(before), [])
        await stage.alice.block()
        assert.equal(flags(await chat(stage, id)).length, 1)
        assert.doesNotMatch(JSON.stringify(before), /phone/i)
      },
    },
  }),
]

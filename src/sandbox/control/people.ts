import { z } from 'zod'
import { setPersonKey } from '../rules/keys.ts'
import { leave } from '../rules/memberships.ts'
import { commandsFor } from '../rules/commands.ts'
import { claimHandle } from './handles.ts'
import { botId, chatId, personId, text, textOrNull } from './fields.ts'
import { operation, requireBot, requireChat, requirePerson } from './operation.ts'

const who = { userId: personId }

export const PEOPLE = {
  addPerson: operation(
    'A new person, without a key until a phone makes one.',
    z.strictObject({
      username: text,
      firstName: text.optional(),
      lastName: textOrNull.optional(),
    }),
    ({ world }, { username, firstName, lastName }) => {
      const id = world.nextId('person')
      claimHandle(world, username, { account: id })
      world.people.set(id, {
        id,
        username,
        firstName: firstName ?? username,
        lastName: lastName ?? null,
        key: null,
        gone: false,
        blocked: [],
      })
      return { id, username }
    },
  ),
  publishKey: operation(
    'Publishes a certificate for a person whose phone is some other program.',
    z.strictObject({ ...who, publicKey: text, fingerprint: text }),
    (on, { userId, ...key }) => {
      setPersonKey(on.world, requirePerson(on, userId), key)
      return { published: true }
    },
  ),
  block: operation('Blocks a bot.', z.strictObject({ ...who, botId }), (on, input) => {
    const person = requirePerson(on, input.userId)
    const { id } = requireBot(on, input.botId)
    if (!person.blocked.includes(id)) person.blocked = [...person.blocked, id]
    return { blocked: true }
  }),
  unblock: operation('Unblocks a bot.', z.strictObject({ ...who, botId }), (on, input) => {
    const person = requirePerson(on, input.userId)
    person.blocked = person.blocked.filter((id) => id !== input.botId)
    return { blocked: false }
  }),
  closeAccount: operation(
    'Leaves every group, takes the key away, and cannot be written to or resolved any more.',
    z.strictObject(who),
    (on, { userId }) => {
      const person = requirePerson(on, userId)
      person.gone = true
      person.key = null
      for (const chat of on.world.chats.values()) {
        if (chat.kind !== 'private') leave(on.world, chat, userId)
      }
      return { gone: true }
    },
  ),
  renamePerson: operation(
    'Another handle; the one before still resolves to the new one until somebody takes it.',
    z.strictObject({ ...who, username: text }),
    (on, { userId, username }) => {
      const person = requirePerson(on, userId)
      claimHandle(on.world, username, { account: userId })
      person.username = username
      return { id: userId, username }
    },
  ),
  people: operation('Every person: id and handle.', z.strictObject({}), ({ world }) =>
    [...world.people.values()].map(({ id, username }) => ({ id, username })),
  ),
  commandsFor: operation(
    'The commands that the person’s phone offers in a chat.',
    z.strictObject({ ...who, chatId, botId }),
    (on, input) =>
      commandsFor(on.world, {
        bot: requireBot(on, input.botId),
        chat: requireChat(on, input.chatId),
        userId: input.userId,
      }),
  ),
}

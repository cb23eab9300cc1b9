import { setPersonKey } from '../rules/keys.ts'
import { leave } from '../rules/members.ts'
import { commandsFor } from '../rules/commands.ts'
import { claimHandle } from './handles.ts'
import { object, integer, string, stringOrNull } from './schema.ts'
import { operation, theBot, theChat, thePerson } from './operation.ts'

const who = { userId: integer }

export const PEOPLE = {
  /** A new person, without a key until a phone makes one. */
  addPerson: operation(
    object({ username: string }, { firstName: string, lastName: stringOrNull }),
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
        blocked: new Set(),
      })
      return { id, username }
    },
  ),
  /** Publishes a certificate for a person whose phone is some other program. */
  publishKey: operation(object({ ...who, publicKey: string, fingerprint: string }), (on, input) => {
    const { publicKey, fingerprint } = input
    setPersonKey(on.world, thePerson(on, input.userId), { publicKey, fingerprint })
    return { published: true }
  }),
  block: operation(object({ ...who, botId: integer }), (on, input) => {
    thePerson(on, input.userId).blocked.add(theBot(on, input.botId).id)
    return { blocked: true }
  }),
  unblock: operation(object({ ...who, botId: integer }), (on, input) => {
    thePerson(on, input.userId).blocked.delete(input.botId)
    return { blocked: false }
  }),
  /** Leaves every group, takes the key away, and cannot be written to or resolved any more. */
  closeAccount: operation(object(who), (on, { userId }) => {
    const person = thePerson(on, userId)
    person.gone = true
    person.key = null
    for (const chat of on.world.chats.values()) {
      if (chat.kind !== 'private') leave(on.world, chat, userId)
    }
    return { gone: true }
  }),
  /** Another handle; the one before still resolves to the new one until somebody takes it. */
  renamePerson: operation(object({ ...who, username: string }), (on, { userId, username }) => {
    const person = thePerson(on, userId)
    claimHandle(on.world, username, { account: userId })
    person.username = username
    return { id: userId, username }
  }),
  /** The commands that the person's phone offers in a chat. */
  commandsFor: operation(object({ ...who, chatId: integer, botId: integer }), (on, input) =>
    commandsFor(on.world, {
      bot: theBot(on, input.botId),
      chat: theChat(on, input.chatId),
      userId: input.userId,
    }),
  ),
}

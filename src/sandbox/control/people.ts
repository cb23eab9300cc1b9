import { z } from 'zod'
import { publishedKey, setPersonKey } from '../rules/keys.ts'
import { leave } from '../rules/memberships.ts'
import { commandsFor } from '../rules/commands.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { accountId, botId, chatId, personId, text, textOrNull } from './fields.ts'
import {
  ControlError,
  operation,
  requireBot,
  requireChat,
  requirePerson,
  requirePresentPerson,
} from './operation.ts'
import { Account, done, PublishedCertificate, ShownCommand, PersonEntry } from './results.ts'

const who = { userId: personId }

export const PEOPLE = {
  addPerson: operation(
    'A new person, without a key until a phone makes one.',
    z.strictObject({
      username: text,
      firstName: text.optional(),
      lastName: textOrNull.optional(),
    }),
    Account,
    ({ world }, { username, firstName, lastName }) => {
      requireFreeHandle(world, username)
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
    z.object({ published: done }),
    (context, { userId, ...key }) => {
      setPersonKey(context.world, requirePresentPerson(context, userId), key)
      return { published: true } as const
    },
  ),
  certificate: operation(
    'Gives the certificate that a person or a bot published; null when there is none.',
    z.strictObject({ userId: accountId }),
    PublishedCertificate.nullable(),
    ({ world }, { userId }) => {
      if (!world.people.has(userId) && !world.bots.has(userId)) {
        throw new ControlError(`nobody has the id ${userId}`)
      }
      return publishedKey(world, userId)
    },
  ),
  block: operation(
    'Blocks a bot.',
    z.strictObject({ ...who, botId }),
    z.object({ blocked: done }),
    (context, input) => {
      const person = requirePerson(context, input.userId)
      const { id } = requireBot(context, input.botId)
      if (!person.blocked.includes(id)) person.blocked = [...person.blocked, id]
      return { blocked: true } as const
    },
  ),
  unblock: operation(
    'Unblocks a bot.',
    z.strictObject({ ...who, botId }),
    z.object({ blocked: z.literal(false) }),
    (context, input) => {
      const person = requirePerson(context, input.userId)
      person.blocked = person.blocked.filter((id) => id !== input.botId)
      return { blocked: false } as const
    },
  ),
  closeAccount: operation(
    'Closes the account: the person leaves every group, loses the key, and can neither be written ' +
      'to nor resolved any more.',
    z.strictObject(who),
    z.object({ gone: done }),
    (context, { userId }) => {
      const person = requirePerson(context, userId)
      person.gone = true
      person.key = null
      for (const chat of context.world.chats.values()) {
        if (chat.kind !== 'private') leave(context.world, chat, userId)
      }
      return { gone: true } as const
    },
  ),
  people: operation(
    'Every person, with the fingerprint of their key.',
    z.strictObject({}),
    z.array(PersonEntry),
    ({ world, phones }) =>
      [...world.people.values()].map(({ id, username, firstName, lastName, key, gone }) => {
        const names = { username, firstName, lastName }
        const fingerprint = key?.fingerprint ?? null
        return { id, ...names, fingerprint, hasPhone: phones.has(id), gone }
      }),
  ),
  commandsFor: operation(
    'The commands that the person’s phone offers in a chat.',
    z.strictObject({ ...who, chatId, botId }),
    z.array(ShownCommand),
    (context, input) =>
      commandsFor(context.world, {
        bot: requireBot(context, input.botId),
        chat: requireChat(context, input.chatId),
        userId: input.userId,
      }),
  ),
}

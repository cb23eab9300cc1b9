import { z } from 'zod'
import { publishedKey, setKey } from '../rules/keys.ts'
import { leave } from '../rules/memberships.ts'
import { commandsFor } from '../rules/commands.ts'
import { claimHandle, requireFreeHandle } from './handles.ts'
import { accountId, botId, chatId, personId, personNames, text } from './fields.ts'
import { action, ControlError, operation } from './operation.ts'
import { Account, PublishedCertificate, ShownCommand, PersonEntry } from './results.ts'

const who = { userId: personId }
const withBot = z.strictObject({ ...who, botId })

export const PEOPLE = {
  addPerson: operation(
    'A new person, without a key until a phone makes one.',
    z.strictObject({ username: text, ...personNames }),
    Account,
    ({ world }, { username, firstName = username, lastName = null }) => {
      requireFreeHandle(world, username)
      const id = world.nextId('person')
      claimHandle(world, username, { account: id })
      const fresh = { key: null, gone: false, blocked: [] }
      world.people.set(id, { id, username, firstName, lastName, ...fresh })
      return { id, username }
    },
  ),
  publishKey: action(
    'Publishes a certificate for a person whose phone is some other program.',
    z.strictObject({ ...who, publicKey: text, fingerprint: text }),
    { published: true },
    ({ world, find }, { userId, ...key }) => setKey(world, find.presentPerson(userId), key),
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
  block: action('Blocks a bot.', withBot, { blocked: true }, ({ find }, input) => {
    const person = find.person(input.userId)
    const { id } = find.bot(input.botId)
    if (!person.blocked.includes(id)) person.blocked = [...person.blocked, id]
  }),
  unblock: action('Unblocks a bot.', withBot, { blocked: false }, ({ find }, input) => {
    const person = find.person(input.userId)
    person.blocked = person.blocked.filter((id) => id !== input.botId)
  }),
  closeAccount: action(
    'Closes the account: the person leaves every group, loses the key, and can neither be written ' +
      'to nor resolved any more.',
    z.strictObject(who),
    { gone: true },
    ({ world, find }, { userId }) => {
      const person = find.person(userId)
      person.gone = true
      person.key = null
      for (const chat of world.chats.values()) {
        if (chat.kind !== 'private') leave(world, chat, userId)
      }
    },
  ),
  people: operation(
    'Every person, with the fingerprint of their key.',
    z.strictObject({}),
    z.array(PersonEntry),
    ({ world, phones }) =>
      Array.from(world.people.values(), (person) => {
        const fingerprint = person.key?.fingerprint ?? null
        return PersonEntry.parse({ ...person, fingerprint, hasPhone: phones.has(person.id) })
      }),
  ),
  commandsFor: operation(
    'The commands that the person’s phone offers in a chat.',
    z.strictObject({ ...who, chatId, botId }),
    z.array(ShownCommand),
    ({ world, find }, { userId, chatId: chat, botId: bot }) =>
      commandsFor(world, { bot: find.bot(bot), chat: find.chat(chat), userId }),
  ),
}

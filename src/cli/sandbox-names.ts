import { nearestName } from '../config/problems.ts'
import { OperatorError, usageError } from '../errors.ts'
import type { Control } from '../sandbox/control/table.ts'

type SandboxPerson = Awaited<ReturnType<Control['people']>>[number]
type SandboxChat = Awaited<ReturnType<Control['chats']>>[number]

/** The name of a person's private chat with the only bot. */
const PRIVATE_CHAT = 'dm'

/** Who and what there is in a sandbox's world, by the names that people use. */
export type SandboxNames = Awaited<ReturnType<typeof readNames>>

/** Asks a sandbox. */
export async function readNames(control: Control) {
  const [people, bots, chats] = await Promise.all([
    control.people(),
    control.bots(),
    control.chats(),
  ])
  /** The name of a chat, as `chatOf` accepts it. */
  const nameOf = ({ id, kind, name, username, title, members }: SandboxChat): string => {
    if (kind !== 'private') return name ?? username ?? title ?? String(id)
    const bot = bots.find((one) => members.includes(one.id))
    return name ?? bot?.username ?? String(id)
  }
  /**
   * A person by handle, with or without its @, or id.
   * @throws OperatorError `usage` that names the people there are
   */
  const person = (written: string): SandboxPerson => {
    const found = byHandle(people, written)
    if (found !== undefined) return found
    const handles = people.map(({ username }) => username)
    throw unknown('person', written, handles)
  }
  /**
   * A chat that a person can write into: by its name in the seed, its handle, title or id. The handle
   * of a bot is the private chat with it, and `dm` the one with the only bot.
   * @returns the chat, or the bot with which the person has no private chat yet
   * @throws OperatorError `usage` that names the chats of the person
   */
  const chatOf = ({ id, username }: SandboxPerson, written: string) => {
    const own = chats.filter(({ members }) => members.includes(id))
    const chat = named(own, written)
    if (chat !== undefined) return { chat }
    const isOnly = written === PRIVATE_CHAT && bots.length === 1
    const bot = isOnly ? bots[0] : byHandle(bots, written)
    if (bot !== undefined) {
      const known = own.find(({ kind, members }) => kind === 'private' && members.includes(bot.id))
      return known === undefined ? { bot } : { chat: known }
    }
    const other = named(chats, written)
    const names = own.map(nameOf)
    if (other === undefined) throw unknown('chat', written, names)
    throw usageError(`${username} is not in ${written}`, chooseFrom(names))
  }

  /** The name of a chat among all others, or its id. */
  const chatName = (id: number): string => {
    const chat = chats.find((one) => one.id === id)
    if (chat === undefined) return String(id)
    if (chat.kind !== 'private' || chat.name !== null) return nameOf(chat)
    const member = people.find((one) => chat.members.includes(one.id))
    return `${member?.username ?? ''} and ${nameOf(chat)}`
  }
  const accounts = [...people, ...bots]
  return {
    people,
    chats,
    person,
    chatOf,
    nameOf,
    chatName,
    /** The handle of a person or bot, or the id. */
    accountName: (id: number) => accounts.find((one) => one.id === id)?.username ?? String(id),
    /** Whether a person, bot or chat has the id. */
    has: (id: number) => [...accounts, ...chats].some((one) => one.id === id),
  }
}

function byHandle<A extends { id: number; username: string }>(
  accounts: readonly A[],
  written: string,
): A | undefined {
  const handle = written.replace(/^@/, '').toLowerCase()
  return accounts.find(({ id, username }) => {
    return username.toLowerCase() === handle || String(id) === written
  })
}

function named(chats: readonly SandboxChat[], written: string): SandboxChat | undefined {
  const name = written.replace(/^@/, '').toLowerCase()
  return (
    chats.find((chat) => chat.name === written || String(chat.id) === written) ??
    chats.find((chat) => chat.username?.toLowerCase() === name) ??
    chats.find((chat) => chat.title?.toLowerCase() === name)
  )
}

function unknown(what: 'person' | 'chat', written: string, names: string[]): OperatorError {
  const nearest = nearestName(written, names)
  const meant = nearest === undefined ? '' : `, did you mean ${nearest}?`
  return usageError(`no ${what} is called ${written}${meant}`, chooseFrom(names))
}

const chooseFrom = (names: string[]): string =>
  names.length === 0 ? 'there is none yet' : `there are ${names.join(', ')}`

import { isObject } from '../../api/common.ts'
import type { ReferenceKind } from '../control/fields.ts'
import { SERVICE_HANDLE } from '../control/handles.ts'
import { FaultInput, faultProblem } from '../faults/table.ts'
import { SeedError, toSeedProblems, type SeedPath, type SeedProblem } from './problem.ts'
import { parseDurationMs, Seed } from './schema.ts'
import { keysAt, referencesAt } from './walk.ts'

type RawFields = Record<string, unknown>

const NEEDING_A_PHONE: readonly string[] = ['write', 'sendMedia', 'newKey']
const SCOPES = ['default', 'private', 'groups', 'groupAdmins']

const fields = (value: unknown): RawFields => (isObject(value) ? value : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const agoMs = ({ ago }: RawFields): number => parseDurationMs(typeof ago === 'string' ? ago : '0s')
const statusOf = (member: unknown): unknown => (isObject(member) ? member['status'] : member)

function mayPost(member: unknown): boolean {
  const { rights } = fields(member)
  const status = statusOf(member)
  return (
    status === 'owner' ||
    (status === 'admin' && (rights === undefined || list(rights).includes('postMessages')))
  )
}

/**
 * Checks a parsed seed file and fills in all defaults.
 * @throws SeedError with everything that is wrong
 */
export function readSeed(raw: unknown): Seed {
  const parsed = Seed.safeParse(raw)
  const shape = parsed.success ? [] : toSeedProblems(parsed.error, (path) => keysAt(Seed, path))
  const known = new Set(shape.map(({ path }) => path.join('.')))
  const { problems } = new ContradictionFinder(fields(raw))
  const all = [...shape, ...problems.filter(({ path }) => !known.has(path.join('.')))]
  if (parsed.success && all.length === 0) return parsed.data
  throw new SeedError(all)
}

/**
 * Finds problems of a seed beyond its shape: unknown names, duplicate handles, messages that
 * nobody could have written. Accepts any value, also of the wrong shape, so that all problems are
 * reported at once.
 */
class ContradictionFinder {
  readonly problems: SeedProblem[] = []
  readonly #people: RawFields
  readonly #bots: RawFields
  readonly #chats: RawFields
  readonly #steps: RawFields[]

  constructor(seed: RawFields) {
    this.#people = fields(seed['people'])
    this.#bots = fields(seed['bots'])
    this.#chats = fields(seed['chats'])
    this.#steps = list(seed['steps']).map(fields)
    this.#handles()
    for (const { kind, name, path } of referencesAt(Seed, seed)) this.#reference(kind, name, path)
    for (const [name, chat] of Object.entries(this.#chats)) {
      const room = fields(chat)
      if (room['kind'] === 'private') this.#private(name, room)
      else this.#room(room, ['chats', name])
      this.#history(room, ['chats', name, 'history'])
    }
    for (const field of ['schedule', 'steps']) {
      for (const [index, step] of list(seed[field]).entries()) this.#step(step, [field, index])
    }
    for (const [index, fault] of list(seed['faults']).entries()) {
      const name = FaultInput.shape.name.safeParse(fields(fault)['name']).data
      const problem = name === undefined ? null : faultProblem(name, fields(fault))
      if (problem !== null) this.#add(['faults', index], problem)
    }
  }

  #add(path: SeedPath, message: string, candidates?: readonly string[]): void {
    this.problems.push({ path, message, ...(candidates === undefined ? {} : { candidates }) })
  }

  /** People, bots and chats share one name space. */
  #handles(): void {
    const taken = new Map([[SERVICE_HANDLE, 'the service itself']])
    const take = (handle: unknown, path: SeedPath): void => {
      if (typeof handle !== 'string') return
      const holder = taken.get(handle.toLowerCase())
      if (holder === undefined) taken.set(handle.toLowerCase(), path.join('.'))
      else this.#add(path, `the handle is taken by ${holder}`)
    }
    for (const name of Object.keys(this.#people)) take(name, ['people', name])
    for (const name of Object.keys(this.#bots)) take(name, ['bots', name])
    for (const [name, chat] of Object.entries(this.#chats)) {
      take(fields(chat)['username'], ['chats', name, 'username'])
    }
  }

  /** Checks that a name is known. */
  #reference(kind: ReferenceKind, name: string, path: SeedPath): void {
    if (kind === 'scope') {
      const chat = /^chat:(.*)$/.exec(name)?.[1]
      if (chat !== undefined) this.#reference('chat', chat, path)
      else if (!SCOPES.includes(name)) {
        this.#add(path, `expected ${SCOPES.join(', ')} or chat:NAME`, SCOPES)
      }
    } else if (kind === 'message') {
      const author = /^last by (.+)$/.exec(name)?.[1]
      if (author !== undefined) this.#reference('account', author, path)
    } else {
      const known = {
        person: [this.#people],
        bot: [this.#bots],
        account: [this.#people, this.#bots],
        chat: [this.#chats],
        step: this.#steps.slice(0, Number(path[1])).map(({ as }) => ({ [String(as)]: as })),
      }[kind].flatMap(Object.keys)
      if (!known.includes(name)) this.#add(path, `no ${kind} ${name}`, known)
    }
  }

  #private(name: string, { person, bot }: RawFields): void {
    const twin = Object.entries(this.#chats).find(([, other]) => {
      const { kind, ...members } = fields(other)
      return kind === 'private' && members['person'] === person && members['bot'] === bot
    })
    if (twin === undefined || twin[0] === name) return
    this.#add(['chats', name], `the two have a private chat already: chats.${twin[0]}`)
  }

  #room(room: RawFields, path: SeedPath): void {
    const members = Object.entries(fields(room['members']))
    for (const [handle, member] of members) {
      const at = [...path, 'members', handle]
      if (fields(this.#bots[handle])['allowGroups'] === false) {
        this.#add(at, 'its owner does not let it be added to groups')
      }
      const { status, rights, restrictedFor } = fields(member)
      if (rights !== undefined && status !== 'admin') {
        this.#add([...at, 'rights'], 'rights are for the status admin')
      }
      if (restrictedFor !== undefined && status !== 'restricted') {
        this.#add([...at, 'restrictedFor'], 'expected the status restricted beside it')
      }
    }
    const owners = members.filter(([, member]) => statusOf(member) === 'owner')
    if (owners.length > 1) this.#add([...path, 'members'], 'expected one owner at most')
  }

  #history(chat: RawFields, at: SeedPath): void {
    const { kind, person, bot, mode } = chat
    const seats = fields(chat['members'])
    const members = kind === 'private' ? [person, bot] : Object.keys(seats)
    const isSealed =
      kind === 'private' ? fields(this.#bots[String(bot)])['key'] !== undefined : mode !== 'open'
    const messages = list(chat['history']).map(fields)
    for (const [index, message] of messages.entries()) {
      const { from, replyTo, markup } = message
      const path = [...at, index]
      if (typeof from !== 'string' || !members.includes(from)) {
        this.#add([...path, 'from'], 'expected somebody in this chat', members.map(String))
        continue
      }
      if (kind === 'channel' && !mayPost(seats[from])) {
        this.#add([...path, 'from'], 'expected somebody who may post in this channel')
      }
      const isBot = Object.hasOwn(this.#bots, from)
      if (isSealed && isBot) {
        const problem = 'a bot seals for itself: a seed can hold its messages in open chats only'
        this.#add(path, problem)
      }
      if (isSealed && !isBot && !this.#hasPhone(from)) {
        this.#add(path, `${from} has no phone to seal with`)
      }
      if (markup !== undefined && !isBot) this.#add([...path, 'markup'], 'buttons are for bots')
      if (typeof replyTo === 'number' && replyTo > index) {
        this.#add([...path, 'replyTo'], 'expected one of the messages above')
      }
      if (agoMs(message) > agoMs(messages[index - 1] ?? message)) {
        this.#add([...path, 'ago'], 'expected the oldest first')
      }
    }
  }

  #hasPhone(person: string): boolean {
    const { key = 'phone' } = fields(this.#people[person])
    return typeof key === 'string' && key !== 'none'
  }

  #step(step: unknown, at: SeedPath): void {
    for (const action of NEEDING_A_PHONE) {
      const { userId } = fields(fields(step)[action])
      const isKnown = typeof userId === 'string' && Object.hasOwn(this.#people, userId)
      if (isKnown && !this.#hasPhone(userId)) {
        this.#add([...at, action, 'userId'], 'expected somebody with a phone; `post` needs none')
      }
    }
  }
}

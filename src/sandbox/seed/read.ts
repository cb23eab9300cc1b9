import { isObject } from '../../api/common.ts'
import type { ReferenceKind } from '../control/fields.ts'
import { SERVICE_HANDLE } from '../control/handles.ts'
import { FaultInput, faultProblem } from '../faults/table.ts'
import { SeedError, toSeedProblems, type SeedPath, type SeedProblem } from './problem.ts'
import { Count, parseDurationMs, Seed } from './schema.ts'
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
  const written = Seed.safeParse(raw)
  const parsed = written.success ? Seed.safeParse(withEachPerson(fields(raw))) : written
  const shape = parsed.success ? [] : toSeedProblems(parsed.error, (path) => keysAt(Seed, path))
  const known = new Set(shape.map(({ path }) => path.join('.')))
  const problems = contradictionsIn(fields(raw))
  const all = [...shape, ...problems.filter(({ path }) => !known.has(path.join('.')))]
  if (parsed.success && all.length === 0) return parsed.data
  throw new SeedError(all)
}

/** The seed with an entry for each person of a `count`, also among members. The last entry counts. */
function withEachPerson(seed: RawFields): RawFields {
  const people = fields(seed['people'])
  const withEach = (record: unknown): RawFields => {
    const entries = Object.entries(fields(record)).flatMap(([name, value]) => {
      const { success, data } = Count.safeParse(fields(people[name])['count'])
      if (!success) return [[name, value]]
      return Array.from({ length: data }, (_, index) => [`${name}_${index + 1}`, value])
    })
    return Object.fromEntries(entries) as RawFields
  }
  const chats = Object.entries(fields(seed['chats'])).map(([name, chat]) => {
    const { members } = fields(chat)
    return [name, isObject(members) ? { ...fields(chat), members: withEach(members) } : chat]
  })
  return { ...seed, people: withEach(people), chats: Object.fromEntries(chats) }
}

/**
 * Finds problems of a seed beyond its shape: unknown names, duplicate handles, messages that
 * nobody could have written. Accepts any value, also of the wrong shape, so that all problems are
 * reported at once.
 */
function contradictionsIn(raw: RawFields): SeedProblem[] {
  const problems: SeedProblem[] = []
  const seed = withEachPerson(raw)
  const people = fields(seed['people'])
  const bots = fields(seed['bots'])
  const chats = fields(seed['chats'])
  const steps = list(seed['steps']).map(fields)

  function add(path: SeedPath, message: string, candidates?: readonly string[]): void {
    problems.push({ path, message, ...(candidates === undefined ? {} : { candidates }) })
  }

  /** People, bots and chats share one name space. */
  function findHandles(): void {
    const taken = new Map([[SERVICE_HANDLE, 'the service itself']])
    const take = (handle: unknown, path: SeedPath): void => {
      if (typeof handle !== 'string') return
      const holder = taken.get(handle.toLowerCase())
      if (holder === undefined) taken.set(handle.toLowerCase(), path.join('.'))
      else add(path, `the handle is taken by ${holder}`)
    }
    for (const name of Object.keys(people)) take(name, ['people', name])
    for (const name of Object.keys(bots)) take(name, ['bots', name])
    for (const [name, chat] of Object.entries(chats)) {
      take(fields(chat)['username'], ['chats', name, 'username'])
    }
  }

  /** Checks that a name is known. */
  function findUnknown(kind: ReferenceKind, name: string, path: SeedPath): void {
    if (kind === 'scope') {
      const chat = /^chat:(.*)$/.exec(name)?.[1]
      if (chat !== undefined) findUnknown('chat', chat, path)
      else if (!SCOPES.includes(name)) {
        add(path, `expected ${SCOPES.join(', ')} or chat:NAME`, SCOPES)
      }
    } else if (kind === 'message') {
      const author = /^last by (.+)$/.exec(name)?.[1]
      if (author !== undefined) findUnknown('account', author, path)
    } else {
      const known = {
        person: [people],
        bot: [bots],
        account: [people, bots],
        chat: [chats],
        step: steps.slice(0, Number(path[1])).map(({ as }) => ({ [String(as)]: as })),
      }[kind]
      const isKnown = known.some((names) => Object.hasOwn(names, name))
      if (!isKnown) add(path, `no ${kind} ${name}`, known.flatMap(Object.keys))
    }
  }

  function findTwin(name: string, { person, bot }: RawFields): void {
    const twin = Object.entries(chats).find(([, other]) => {
      const { kind, ...members } = fields(other)
      return kind === 'private' && members['person'] === person && members['bot'] === bot
    })
    if (twin === undefined || twin[0] === name) return
    add(['chats', name], `the two have a private chat already: chats.${twin[0]}`)
  }

  function findInRoom(room: RawFields, path: SeedPath): void {
    const members = Object.entries(fields(room['members']))
    for (const [handle, member] of members) {
      const at = [...path, 'members', handle]
      if (fields(bots[handle])['allowGroups'] === false) {
        add(at, 'its owner does not let it be added to groups')
      }
      const { status, rights, restrictedFor } = fields(member)
      if (rights !== undefined && status !== 'admin') {
        add([...at, 'rights'], 'rights are for the status admin')
      }
      if (restrictedFor !== undefined && status !== 'restricted') {
        add([...at, 'restrictedFor'], 'expected the status restricted beside it')
      }
    }
    const owners = members.filter(([, member]) => statusOf(member) === 'owner')
    if (owners.length > 1) add([...path, 'members'], 'expected one owner at most')
  }

  function findInHistory(chat: RawFields, at: SeedPath): void {
    const { kind, person, bot, mode } = chat
    const seats = fields(chat['members'])
    const members = kind === 'private' ? [person, bot] : Object.keys(seats)
    const isSealed =
      kind === 'private' ? fields(bots[String(bot)])['key'] !== undefined : mode !== 'open'
    const messages = list(chat['history']).map(fields)
    for (const [index, message] of messages.entries()) {
      const { from, replyTo, markup } = message
      const path = [...at, index]
      if (typeof from !== 'string' || !members.includes(from)) {
        add([...path, 'from'], 'expected somebody in this chat', members.map(String))
        continue
      }
      if (kind === 'channel' && !mayPost(seats[from])) {
        add([...path, 'from'], 'expected somebody who may post in this channel')
      }
      const isBot = Object.hasOwn(bots, from)
      if (isSealed && isBot) {
        const problem = 'a bot seals for itself: a seed can hold its messages in open chats only'
        add(path, problem)
      }
      if (isSealed && !isBot && !hasPhone(from)) add(path, `${from} has no phone to seal with`)
      if (markup !== undefined && !isBot) add([...path, 'markup'], 'buttons are for bots')
      if (typeof replyTo === 'number' && replyTo > index) {
        add([...path, 'replyTo'], 'expected one of the messages above')
      }
      if (agoMs(message) > agoMs(messages[index - 1] ?? message)) {
        add([...path, 'ago'], 'expected the oldest first')
      }
    }
  }

  function hasPhone(person: string): boolean {
    const { key = 'phone' } = fields(people[person])
    return typeof key === 'string' && key !== 'none'
  }

  function findInStep(step: unknown, at: SeedPath): void {
    for (const action of NEEDING_A_PHONE) {
      const { userId } = fields(fields(step)[action])
      const isKnown = typeof userId === 'string' && Object.hasOwn(people, userId)
      if (isKnown && !hasPhone(userId)) {
        add([...at, action, 'userId'], 'expected somebody with a phone; `post` needs none')
      }
    }
  }

  findHandles()
  for (const { kind, name, path } of referencesAt(Seed, seed)) findUnknown(kind, name, path)
  for (const [name, chat] of Object.entries(chats)) {
    const room = fields(chat)
    if (room['kind'] === 'private') findTwin(name, room)
    else findInRoom(fields(fields(raw['chats'])[name]), ['chats', name])
    findInHistory(room, ['chats', name, 'history'])
  }
  for (const field of ['schedule', 'steps']) {
    for (const [index, step] of list(seed[field]).entries()) findInStep(step, [field, index])
  }
  for (const [index, fault] of list(seed['faults']).entries()) {
    const name = FaultInput.shape.name.safeParse(fields(fault)['name']).data
    const problem = name === undefined ? null : faultProblem(name, fields(fault))
    if (problem !== null) add(['faults', index], problem)
  }
  return problems
}

import { isObject } from '../../api/common.ts'
import type { ReferenceKind } from '../control/fields.ts'
import { SERVICE_HANDLE } from '../control/handles.ts'
import { parseDurationMs } from './schema.ts'
import { ACTIONS, actionInput, referencesIn, type ActionName } from './actions.ts'
import type { SeedProblem } from './problem.ts'
import { FaultInput, faultProblem } from '../faults/table.ts'

type RawFields = Record<string, unknown>
type Path = SeedProblem['path']

const NEEDING_A_PHONE: readonly string[] = ['write', 'sendMedia', 'newKey']
const SCOPES = ['default', 'private', 'groups', 'groupAdmins']

const agoOf = ({ ago }: RawFields): string => (typeof ago === 'string' ? ago : '0s')
const fields = (value: unknown): RawFields => (isObject(value) ? value : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

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
 * Finds what is wrong with a seed beyond its shape: unknown names, duplicate handles, messages that
 * nobody could have written. Takes any value, also of the wrong shape, so that all problems are
 * reported at once.
 */
export function findContradictions(raw: unknown): SeedProblem[] {
  return new Checker(fields(raw)).problems
}

class Checker {
  readonly problems: SeedProblem[] = []
  readonly #people: RawFields
  readonly #bots: RawFields
  readonly #chats: RawFields

  constructor(seed: RawFields) {
    this.#people = fields(seed['people'])
    this.#bots = fields(seed['bots'])
    this.#chats = fields(seed['chats'])
    this.#handles()
    for (const [name, person] of Object.entries(this.#people)) {
      for (const [index, bot] of list(fields(person)['blocks']).entries()) {
        this.#name(bot, 'bot', ['people', name, 'blocks', index])
      }
    }
    for (const name of Object.keys(this.#bots)) this.#scopes(name)
    for (const name of Object.keys(this.#chats)) this.#chat(name)
    for (const field of ['schedule', 'happenings']) {
      for (const [index, step] of list(seed[field]).entries()) this.#step(step, [field, index])
    }
    for (const [index, fault] of list(seed['faults']).entries()) {
      this.#input(fields(fault), referencesIn(FaultInput), ['faults', index])
      this.#fault(fields(fault), ['faults', index])
    }
  }

  #addProblem(path: Path, message: string, candidates?: readonly string[]): void {
    this.problems.push({ path, message, ...(candidates === undefined ? {} : { candidates }) })
  }

  #fault(fault: RawFields, path: Path): void {
    const name = FaultInput.shape.name.safeParse(fault['name']).data
    const problem = name === undefined ? null : faultProblem(name, fault)
    if (problem !== null) this.#addProblem(path, problem)
  }

  /** People, bots and chats share one name space. */
  #handles(): void {
    const rooms = Object.entries(this.#chats).map(([name, chat]): [unknown, Path] => [
      fields(chat)['username'],
      ['chats', name, 'username'],
    ])
    const accounts = [
      ...Object.keys(this.#people).map((name): [unknown, Path] => [name, ['people', name]]),
      ...Object.keys(this.#bots).map((name): [unknown, Path] => [name, ['bots', name]]),
    ]
    const taken = new Map<string, string>([[SERVICE_HANDLE, 'the service itself']])
    for (const [handle, path] of [...accounts, ...rooms]) {
      if (typeof handle !== 'string') continue
      const holder = taken.get(handle.toLowerCase())
      if (holder === undefined) taken.set(handle.toLowerCase(), path.join('.'))
      else this.#addProblem(path, `the handle is taken by ${holder}`)
    }
  }

  #scopes(bot: string): void {
    for (const scope of Object.keys(fields(fields(this.#bots[bot])['commands']))) {
      this.#name(scope, 'scope', ['bots', bot, 'commands', scope])
    }
  }

  #chat(name: string): void {
    const chat = fields(this.#chats[name])
    const path = ['chats', name]
    if (chat['kind'] === 'private') this.#private(chat, path)
    else this.#room(chat, path)
    for (const [index, message] of list(chat['history']).map(fields).entries()) {
      this.#message(message, { chat, index, path: [...path, 'history', index] })
    }
  }

  #private(chat: RawFields, path: Path): void {
    this.#name(chat['person'], 'person', [...path, 'person'])
    this.#name(chat['bot'], 'bot', [...path, 'bot'])
    const twin = Object.entries(this.#chats).find(([, other]) => {
      const { kind, person, bot } = fields(other)
      return kind === 'private' && person === chat['person'] && bot === chat['bot']
    })
    if (twin !== undefined && twin[0] !== path[1]) {
      this.#addProblem(path, `the two have a private chat already: chats.${twin[0]}`)
    }
  }

  #room(chat: RawFields, path: Path): void {
    const members = Object.entries(fields(chat['members']))
    for (const [member] of members) {
      const at = [...path, 'members', member]
      this.#name(member, 'account', at)
      if (fields(this.#bots[member])['allowGroups'] === false) {
        this.#addProblem(at, 'its owner does not let it be added to groups')
      }
    }
    for (const [handle, member] of members) {
      if (!isObject(member)) continue
      this.#seat(member, [...path, 'members', handle])
    }
    const owners = members.filter(([, member]) => statusOf(member) === 'owner')
    if (owners.length > 1) this.#addProblem([...path, 'members'], 'expected one owner at most')
  }

  #seat({ status, rights, restrictedFor }: RawFields, path: Path): void {
    if (rights !== undefined && status !== 'admin') {
      this.#addProblem([...path, 'rights'], 'rights are for the status admin')
    }
    if (restrictedFor !== undefined && status !== 'restricted') {
      this.#addProblem([...path, 'restrictedFor'], 'expected the status restricted beside it')
    }
  }

  #message(
    message: RawFields,
    { chat, index, path }: { chat: RawFields; index: number; path: Path },
  ): void {
    const { from, replyTo, markup } = message
    const members =
      chat['kind'] === 'private'
        ? [chat['person'], chat['bot']]
        : Object.keys(fields(chat['members']))
    if (typeof from !== 'string' || !members.includes(from)) {
      this.#addProblem([...path, 'from'], 'expected somebody in this chat', members.map(String))
      return
    }
    if (chat['kind'] === 'channel' && !mayPost(fields(chat['members'])[from])) {
      this.#addProblem([...path, 'from'], 'expected somebody who may post in this channel')
    }
    const isBot = Object.hasOwn(this.#bots, from)
    if (this.#isSealed(chat) && isBot) {
      this.#addProblem(
        path,
        'a bot seals for itself: a seed can hold its messages in open chats only',
      )
    }
    if (this.#isSealed(chat) && !isBot && !this.#hasPhone(from)) {
      this.#addProblem(path, `${from} has no phone to seal with`)
    }
    if (markup !== undefined && !isBot)
      this.#addProblem([...path, 'markup'], 'buttons are for bots')
    if (typeof replyTo === 'number' && replyTo > index) {
      this.#addProblem([...path, 'replyTo'], 'expected one of the messages above')
    }
    const above = fields(list(chat['history'])[index - 1])
    if (index > 0 && parseDurationMs(agoOf(message)) > parseDurationMs(agoOf(above))) {
      this.#addProblem([...path, 'ago'], 'expected the oldest first')
    }
  }

  #isSealed(chat: RawFields): boolean {
    if (chat['kind'] !== 'private') return chat['mode'] !== 'open'
    return fields(this.#bots[String(chat['bot'])])['key'] !== undefined
  }

  #hasPhone(person: string): boolean {
    const { key = 'phone' } = fields(this.#people[person])
    return typeof key === 'string' && key !== 'none'
  }

  #step(step: unknown, at: Path): void {
    for (const [action, input] of Object.entries(fields(step))) {
      if (!ACTIONS.some((known) => known === action)) continue
      const path = [...at, action]
      this.#input(fields(input), referencesIn(actionInput(action as ActionName)), path)
      const { userId } = fields(input)
      const isKnown = typeof userId === 'string' && Object.hasOwn(this.#people, userId)
      if (isKnown && NEEDING_A_PHONE.includes(action) && !this.#hasPhone(userId)) {
        this.#addProblem([...path, 'userId'], 'expected somebody with a phone; `post` needs none')
      }
    }
  }

  #input(input: RawFields, references: Map<string, ReferenceKind>, path: Path): void {
    for (const [field, kind] of references) {
      const value = input[field]
      if (value === undefined) continue
      if (!Array.isArray(value)) this.#name(value, kind, [...path, field])
      else value.forEach((one, index) => this.#name(one, kind, [...path, field, index]))
    }
  }

  /** Checks that a name is known. The schema reports what is no text. */
  #name(name: unknown, kind: ReferenceKind, path: Path): void {
    if (typeof name !== 'string') return
    if (kind === 'scope') return this.#scope(name, path)
    const bare = kind === 'message' ? /^last by (.+)$/.exec(name)?.[1] : name
    if (bare === undefined) return
    const known = this.#names(kind)
    if (!known.includes(bare))
      this.#addProblem(path, `no ${kind === 'message' ? 'account' : kind} ${bare}`, known)
  }

  #scope(scope: string, path: Path): void {
    const chat = /^chat:(.*)$/.exec(scope)?.[1]
    if (chat !== undefined) return this.#name(chat, 'chat', path)
    if (SCOPES.includes(scope)) return
    this.#addProblem(path, `expected ${SCOPES.join(', ')} or chat:NAME`, SCOPES)
  }

  #names(kind: ReferenceKind): string[] {
    const people = kind === 'bot' || kind === 'chat' ? [] : Object.keys(this.#people)
    const bots = kind === 'person' || kind === 'chat' ? [] : Object.keys(this.#bots)
    return kind === 'chat' ? Object.keys(this.#chats) : [...people, ...bots]
  }
}

import type { z } from 'zod'
import { FaultInput } from '../faults/table.ts'
import type { LiveWorld } from '../hosted-world.ts'
import { newToken } from '../rules/bots.ts'
import { trueMode } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import { RIGHTS } from '../state.ts'
import type { WorldOptions } from '../world.ts'
import { ACTIONS, actionInput } from './actions.ts'
import { readSeed } from './read.ts'
import { parseDurationMs, type Seed, type SeedBot, type SeedInput } from './schema.ts'
import type { SeedMessage, SeedPerson, SeedRoom } from './schema.ts'
import { replaceReferences } from './walk.ts'

/** Checks a seed, and gives what makes a world of it. @throws SeedError with everything that is wrong */
export function prepareSeed(input: SeedInput) {
  const seed = readSeed(input)
  return {
    /** The clock that the world begins with: the oldest message of the history is as old as it should be. */
    clockFor: ({ clock = seed.clock?.mode ?? 'running', startMs }: WorldOptions) => ({
      clock,
      startMs: startMs ?? beginningMs(seed) - oldestMs(seed),
    }),
    /**
     * Applies the seed to an empty world: accounts and keys, chats, history, then the state at the
     * beginning. Adds its steps to the schedule, which is not started here.
     */
    apply: (live: LiveWorld) => new SeedApplication(live, seed).run(),
  }
}

function oldestMs({ chats }: Seed): number {
  const messages = Object.values(chats).flatMap(({ history }) => history)
  return Math.max(0, ...messages.map(({ ago }) => parseDurationMs(ago)))
}

function beginningMs({ clock }: Seed): number {
  return clock?.at === undefined ? Date.now() : Date.parse(clock.at)
}

class SeedApplication {
  readonly #live: LiveWorld
  readonly #seed: Seed
  readonly #beginsMs: number

  constructor(live: LiveWorld, seed: Seed) {
    this.#live = live
    this.#seed = seed
    this.#beginsMs = live.world.clock.now() + oldestMs(seed)
  }

  async run(): Promise<void> {
    const { people, bots, chats, schedule } = this.#seed
    for (const [username, { firstName, lastName }] of Object.entries(people)) {
      await this.#live.control.addPerson({ username, firstName, lastName })
    }
    for (const [handle, bot] of Object.entries(bots)) await this.#addBot(handle, bot)
    await Promise.all(
      Object.entries(people).map(([handle, { key }]) => this.#addKey(this.#account(handle), key)),
    )
    for (const [name, chat] of Object.entries(chats)) await this.#addChat(name, chat)
    await this.#writeHistory()
    await this.#advanceTo(this.#beginsMs)
    await this.#setInitialState()
    for (const { at, ...actions } of schedule) {
      const action = ACTIONS.find((name) => actions[name] !== undefined)
      if (action === undefined) continue
      const input = this.#resolve(actionInput(action), { ...actions[action] })
      this.#live.schedule.add({ atMs: this.#beginsMs + parseDurationMs(at), action, input })
    }
  }

  async #advanceTo(atMs: number): Promise<void> {
    const { world } = this.#live
    await world.advance(Math.max(atMs - world.clock.now(), 0))
  }

  async #addBot(username: string, bot: SeedBot): Promise<void> {
    const { key, tokenSecret, paused: _later, commands: _too, ...profile } = bot
    const { id } = await this.#live.control.addBot({ username, ...profile })
    const added = this.#live.world.bots.get(id)
    if (added !== undefined && tokenSecret !== undefined) added.token = newToken(id, tokenSecret)
    if (key !== undefined) await this.#live.control.setBotKey({ botId: id, ...key })
  }

  async #addKey(userId: number, key: SeedPerson['key']): Promise<void> {
    if (key === 'none') return
    if (typeof key === 'object') await this.#live.control.publishKey({ userId, ...key })
    else await this.#live.phones.of(userId, key === 'phone' ? undefined : key)
  }

  /** Makes a chat with its members, none of them restricted yet. */
  async #addChat(name: string, chat: Seed['chats'][string]): Promise<void> {
    const { control } = this.#live
    if (chat.kind === 'private') {
      const members = { userId: this.#account(chat.person), botId: this.#account(chat.bot) }
      await control.addPrivateChat({ ...members, name })
      return
    }
    const { kind, mode, members, history: _later, ...settings } = chat
    const { id: chatId } = await control.addRoom({
      kind,
      historyVisible: mode === 'open',
      members: Object.keys(members).map((handle) => this.#account(handle)),
      ...settings,
      name,
      title: settings.title ?? name,
    })
    for (const [handle, { status, rights, title = null }] of membershipsOf(chat)) {
      await control.setMembership({
        chatId,
        userId: this.#account(handle),
        status: status === 'restricted' ? 'member' : status,
        rights: rights?.reduce((bits, right) => bits | RIGHTS[right], 0),
        title,
      })
    }
  }

  /** Posts the history of every chat, each message at its time. Bots get updates as usual. */
  async #writeHistory(): Promise<void> {
    const history = Object.entries(this.#seed.chats).flatMap(([name, chat]) => {
      const earlierIds: number[] = []
      return chat.history.map((message) => ({ chatId: this.#chat(name), message, earlierIds }))
    })
    for (const { chatId, message, earlierIds } of history.toSorted(
      (a, b) => parseDurationMs(b.message.ago) - parseDurationMs(a.message.ago),
    )) {
      await this.#advanceTo(this.#beginsMs - parseDurationMs(message.ago))
      earlierIds.push(await this.#write(chatId, message, earlierIds))
    }
  }

  /** @param earlierIds of the chat's history so far. Gives the message id. */
  async #write(chatId: number, message: SeedMessage, earlierIds: number[]): Promise<number> {
    const { world, find, phones } = this.#live
    const { text, markup = null } = message
    const fromId = this.#account(message.from)
    const replyTo = message.replyTo === undefined ? undefined : earlierIds[message.replyTo - 1]
    const chat = find.chat(chatId)
    if (!world.bots.has(fromId) && trueMode(world, chat) === 'protected') {
      return await (await phones.of(fromId)).write(chatId, text, { replyTo })
    }
    return post(world, { chat, fromId, text, replyTo, markup }).id
  }

  /**
   * Sets restrictions, blocks, closed accounts, commands, pauses and faults, which would prevent parts
   * of the history.
   */
  async #setInitialState(): Promise<void> {
    const { people, bots, chats, faults } = this.#seed
    const { control } = this.#live
    for (const [name, chat] of Object.entries(chats)) {
      if (chat.kind !== 'private') await this.#restrictMembers(this.#chat(name), chat)
    }
    for (const [handle, { blocks, gone }] of Object.entries(people)) {
      const userId = this.#account(handle)
      for (const bot of blocks) await control.block({ userId, botId: this.#account(bot) })
      if (gone) await control.closeAccount({ userId })
    }
    for (const [handle, { commands, paused }] of Object.entries(bots)) {
      const botId = this.#account(handle)
      for (const [scope, list] of Object.entries(commands)) {
        await control.setCommands({ botId, scope: this.#scope(scope), commands: list })
      }
      if (paused) await control.pause({ botId })
    }
    for (const fault of faults) {
      await control.fault(FaultInput.parse(this.#resolve(FaultInput, fault)))
    }
  }

  /** Restricts the members of a chat that are restricted from the beginning. */
  async #restrictMembers(chatId: number, room: SeedRoom): Promise<void> {
    for (const [handle, { status, restrictedFor }] of membershipsOf(room)) {
      if (status !== 'restricted') continue
      const userId = this.#account(handle)
      const restrictedUntil =
        restrictedFor === undefined ? null : this.#beginsMs + parseDurationMs(restrictedFor)
      await this.#live.control.setMembership({ chatId, userId, status, restrictedUntil })
    }
  }

  /** The id of an account. @throws Error when there is none, which a checked seed does not contain */
  #account(name: string): number {
    const owner = this.#live.world.handles.get(name.toLowerCase())
    if (owner === undefined || 'chat' in owner) throw new Error(`nobody is called ${name}`)
    return owner.account
  }

  /** The id of a chat by its name in the seed. @throws Error as `#account` does */
  #chat(name: string): number {
    const chat = [...this.#live.world.chats.values()].find((one) => one.name === name)
    if (chat === undefined) throw new Error(`no chat is called ${name}`)
    return chat.id
  }

  /** Gives `chat:ID` for `chat:NAME`; other scopes as they are. */
  #scope(scope: string): string {
    const chat = /^chat:(.*)$/.exec(scope)?.[1]
    return chat === undefined ? scope : `chat:${this.#chat(chat)}`
  }

  /** Replaces the names in the input of an operation by ids. @param schema of the input */
  #resolve(schema: z.ZodType, input: Record<string, unknown>): Record<string, unknown> {
    return replaceReferences(schema, input, ({ kind, name }) => {
      if (kind === 'chat') return this.#chat(name)
      if (kind === 'scope') return this.#scope(name)
      if (kind !== 'message') return this.#account(name)
      const author = /^last by (.+)$/.exec(name)?.[1]
      return author === undefined ? name : `last by ${this.#account(author)}`
    })
  }
}

type SeedMembership = Exclude<SeedRoom['members'][string], string>

function membershipsOf({ members }: SeedRoom): [string, SeedMembership][] {
  return Object.entries(members).map(([handle, member]) => [
    handle,
    typeof member === 'string' ? { status: member } : member,
  ])
}

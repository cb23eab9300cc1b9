import type { z } from 'zod'
import type { ControlContext } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import { FaultInput } from '../faults/table.ts'
import { newToken } from '../rules/bots.ts'
import { trueMode } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import { RIGHTS } from '../state.ts'
import type { WorldOptions } from '../world.ts'
import { ACTIONS, actionInput } from './actions.ts'
import { readSeed } from './read.ts'
import { parseDurationMs, type Seed, type SeedInput } from './schema.ts'
import { replaceReferences } from './walk.ts'

/** Checks a seed, and gives what makes a world of it. @throws SeedError with everything that is wrong */
export function prepareSeed(input: SeedInput) {
  const seed = readSeed(input)
  return {
    /** The clock that the world begins with: the oldest message of the history is as old as it should be. */
    clockFor: ({ clock = seed.clock?.mode ?? 'running', startMs }: WorldOptions) => ({
      clock,
      startMs: startMs ?? Date.parse(seed.clock?.at ?? new Date().toISOString()) - oldestMs(seed),
    }),
    /**
     * Applies the seed to an empty world: accounts and keys, chats, history, then the state at the
     * beginning.
     * @returns the steps of its schedule
     */
    apply: (live: SeededWorld) => applySeed(live, seed),
  }
}

type SeededWorld = ControlContext & { control: Control }
type SeedChat = Seed['chats'][string]
type SeedRoom = Exclude<SeedChat, { kind: 'private' }>

function oldestMs({ chats }: Seed): number {
  const messages = Object.values(chats).flatMap(({ history }) => history)
  return Math.max(0, ...messages.map(({ ago }) => parseDurationMs(ago)))
}

async function applySeed({ world, control, find, phones }: SeededWorld, seed: Seed) {
  const { people, bots, chats, schedule, faults } = seed
  const beginsMs = world.clock.now() + oldestMs(seed)
  // Those of the command line count more.
  world.limits.set({ ...seed.limits, ...Object.fromEntries(world.limits.given) })

  async function advanceTo(atMs: number): Promise<void> {
    await world.advance(Math.max(atMs - world.clock.now(), 0))
  }

  async function addBot(username: string, bot: Seed['bots'][string]): Promise<void> {
    const { key, tokenSecret, paused: _later, commands: _too, ...profile } = bot
    const { id } = await control.addBot({ username, ...profile })
    const added = world.bots.get(id)
    if (added !== undefined && tokenSecret !== undefined) added.token = newToken(id, tokenSecret)
    if (key !== undefined) await control.setBotKey({ botId: id, ...key })
  }

  /** The phones of many people are made on first use: each opens every message that it receives. */
  async function addKey(userId: number, { key, count }: Seed['people'][string]): Promise<void> {
    if (key === 'none') return
    if (typeof key === 'object') await control.publishKey({ userId, ...key })
    else
      await phones[count === undefined ? 'of' : 'prepare'](
        userId,
        key === 'phone' ? undefined : key,
      )
  }

  /** Makes a chat with its members, none of them restricted yet. */
  async function addChat(name: string, chat: SeedChat): Promise<void> {
    if (chat.kind === 'private') {
      const members = { userId: idOf(chat.person), botId: idOf(chat.bot) }
      await control.addPrivateChat({ ...members, name })
      return
    }
    const { kind, mode, members, history: _later, ...settings } = chat
    const { id: chatId } = await control.addRoom({
      kind,
      historyVisible: mode === 'open',
      members: Object.keys(members).map((handle) => idOf(handle)),
      ...settings,
      name,
      title: settings.title ?? name,
    })
    for (const [handle, { status, rights, title = null }] of membershipsOf(chat)) {
      await control.setMembership({
        chatId,
        userId: idOf(handle),
        status: status === 'restricted' ? 'member' : status,
        rights: rights?.reduce((bits, right) => bits | RIGHTS[right], 0),
        title,
      })
    }
  }

  /** Posts the history of every chat, each message at its time. Bots get updates as usual. */
  async function writeHistory(): Promise<void> {
    /** Of the last message of each entry. */
    const ids = new Map<object, number>()
    const history = Object.entries(chats).flatMap(([name, { history: entries }]) =>
      entries.flatMap((message) => {
        const quoted = entries[(message.replyTo ?? 0) - 1] ?? {}
        const one = { chatId: chatIdOf(name), message, quoted }
        return Array.from({ length: message.times }, () => one)
      }),
    )
    for (const { chatId, message, quoted } of history.toSorted(
      (a, b) => parseDurationMs(b.message.ago) - parseDurationMs(a.message.ago),
    )) {
      await advanceTo(beginsMs - parseDurationMs(message.ago))
      ids.set(message, await writeMessage(chatId, message, ids.get(quoted)))
    }
  }

  /** Gives the message id. @param replyTo that of the quoted message */
  async function writeMessage(
    chatId: number,
    { from, text: once, length = 0, markup }: SeedChat['history'][number],
    replyTo: number | undefined,
  ): Promise<number> {
    const text = once.padEnd(length, once)
    const fromId = idOf(from)
    const chat = find.chat(chatId)
    if (!world.bots.has(fromId) && trueMode(world, chat) === 'protected') {
      return await (await phones.of(fromId)).write(chatId, text, { replyTo })
    }
    return post(world, { chat, fromId, text, replyTo, markup: markup ?? null }).id
  }

  /**
   * Sets restrictions, blocks, closed accounts, commands, pauses and faults, which would prevent parts
   * of the history.
   */
  async function setInitialState(): Promise<void> {
    for (const [name, chat] of Object.entries(chats)) {
      if (chat.kind === 'private') continue
      for (const [handle, { status, restrictedFor }] of membershipsOf(chat)) {
        if (status !== 'restricted') continue
        const about = { chatId: chatIdOf(name), userId: idOf(handle), status }
        const restrictedUntil = restrictedFor ? beginsMs + parseDurationMs(restrictedFor) : null
        await control.setMembership({ ...about, restrictedUntil })
      }
    }
    for (const [handle, { blocks, gone }] of Object.entries(people)) {
      const userId = idOf(handle)
      for (const bot of blocks) await control.block({ userId, botId: idOf(bot) })
      if (gone) await control.closeAccount({ userId })
    }
    for (const [handle, { commands, paused }] of Object.entries(bots)) {
      const botId = idOf(handle)
      for (const [scope, list] of Object.entries(commands)) {
        await control.setCommands({ botId, scope: scopeOf(scope), commands: list })
      }
      if (paused) await control.pause({ botId })
    }
    for (const fault of faults) {
      await control.fault(FaultInput.parse(resolve(FaultInput, fault)))
    }
  }

  /** The id of an account. @throws Error when there is none, which a checked seed does not contain */
  function idOf(name: string): number {
    const owner = world.handles.get(name.toLowerCase())
    if (owner === undefined || 'chat' in owner) throw new Error(`nobody is called ${name}`)
    return owner.account
  }

  /** The id of a chat by its name in the seed. @throws Error as `idOf` does */
  function chatIdOf(name: string): number {
    const chat = [...world.chats.values()].find((one) => one.name === name)
    if (chat === undefined) throw new Error(`no chat is called ${name}`)
    return chat.id
  }

  /** Gives `chat:ID` for `chat:NAME`; other scopes as they are. */
  function scopeOf(scope: string): string {
    const chat = /^chat:(.*)$/.exec(scope)?.[1]
    return chat === undefined ? scope : `chat:${chatIdOf(chat)}`
  }

  /** Replaces the names in the input of an operation by ids. @param schema of the input */
  function resolve(schema: z.ZodType, input: Record<string, unknown>): Record<string, unknown> {
    return replaceReferences(schema, input, ({ kind, name }) => {
      if (kind === 'chat') return chatIdOf(name)
      if (kind === 'scope') return scopeOf(name)
      if (kind !== 'message') return idOf(name)
      const author = /^last by (.+)$/.exec(name)?.[1]
      return author === undefined ? name : `last by ${idOf(author)}`
    })
  }

  for (const [username, { firstName, lastName }] of Object.entries(people)) {
    await control.addPerson({ username, firstName, lastName })
  }
  for (const [handle, bot] of Object.entries(bots)) await addBot(handle, bot)
  await Promise.all(Object.entries(people).map(([handle, one]) => addKey(idOf(handle), one)))
  for (const [name, chat] of Object.entries(chats)) await addChat(name, chat)
  await writeHistory()
  await advanceTo(beginsMs)
  await setInitialState()
  return schedule.flatMap(({ at, ...actions }) => {
    const action = ACTIONS.find((name) => actions[name] !== undefined)
    if (action === undefined) return []
    const input = resolve(actionInput(action), { ...actions[action] })
    return { atMs: beginsMs + parseDurationMs(at), action, input }
  })
}

type SeedMembership = Exclude<SeedRoom['members'][string], string>

const membershipsOf = ({ members }: SeedRoom): [string, SeedMembership][] =>
  Object.entries(members).map(([handle, member]) => [
    handle,
    typeof member === 'string' ? { status: member } : member,
  ])

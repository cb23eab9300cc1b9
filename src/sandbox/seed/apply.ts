import { FaultInput } from '../faults/table.ts'
import type { ControlContext } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import { newToken } from '../rules/bots.ts'
import { trueMode } from '../rules/mode.ts'
import { post } from '../rules/post.ts'
import { RIGHTS } from '../state.ts'
import { ACTIONS, actionInput } from './actions.ts'
import { SeedIds } from './ids.ts'
import type { Schedule } from './schedule.ts'
import { parseDurationMs, type Seed, type SeedBot, type SeedMessage } from './schema.ts'
import type { SeedPerson, SeedRoom } from './schema.ts'

/** The time to set the clock to, so that the oldest message of the history is as old as it should be. */
export function clockStartMs(seed: Seed): number {
  const ages = Object.values(seed.chats).flatMap(({ history }) =>
    history.map(({ ago }) => parseDurationMs(ago)),
  )
  return beginningMs(seed) - Math.max(0, ...ages)
}

function beginningMs({ clock }: Seed): number {
  return clock?.at === undefined ? Date.now() : Date.parse(clock.at)
}

/**
 * Applies a seed to an empty world: accounts and keys, chats, history, then the state at the
 * beginning. Adds the seed's steps to the schedule, which is not started here.
 */
export async function applySeed(
  context: ControlContext & { schedule: Schedule },
  control: Control,
  seed: Seed,
): Promise<void> {
  await new SeedApplication(context, control, seed).run()
}

class SeedApplication {
  readonly #context: ControlContext & { schedule: Schedule }
  readonly #control: Control
  readonly #seed: Seed
  readonly #ids = new SeedIds()
  readonly #beginsMs: number

  constructor(context: ControlContext & { schedule: Schedule }, control: Control, seed: Seed) {
    this.#context = context
    this.#control = control
    this.#seed = seed
    this.#beginsMs = context.world.clock.now() + beginningMs(seed) - clockStartMs(seed)
  }

  async run(): Promise<void> {
    const { people, bots, chats, schedule, happenings } = this.#seed
    const ids = this.#ids
    for (const [username, { firstName, lastName }] of Object.entries(people)) {
      const { id } = await this.#control.addPerson({ username, firstName, lastName })
      ids.accounts.set(username, id)
    }
    for (const [handle, bot] of Object.entries(bots)) await this.#addBot(handle, bot)
    await Promise.all(
      Object.entries(people).map(([handle, { key }]) => this.#addKey(ids.account(handle), key)),
    )
    for (const [name, chat] of Object.entries(chats)) {
      ids.chats.set(name, await this.#addChat(name, chat))
    }
    await this.#writeHistory()
    await this.#advanceTo(this.#beginsMs)
    await this.#setInitialState()
    for (const { at, ...actions } of [...schedule, ...happenings]) {
      const action = ACTIONS.find((name) => actions[name] !== undefined)
      if (action === undefined) continue
      const input = ids.resolve(actionInput(action), { ...actions[action] })
      this.#context.schedule.add({ atMs: this.#beginsMs + parseDurationMs(at), action, input })
    }
  }

  async #advanceTo(atMs: number): Promise<void> {
    const { world } = this.#context
    await world.advance(Math.max(atMs - world.clock.now(), 0))
  }

  async #addBot(username: string, bot: SeedBot): Promise<void> {
    const { key, tokenSecret, paused: _later, commands: _too, ...profile } = bot
    const { id } = await this.#control.addBot({ username, ...profile })
    const added = this.#context.world.bots.get(id)
    if (added !== undefined && tokenSecret !== undefined) added.token = newToken(id, tokenSecret)
    if (key !== undefined) await this.#control.setBotKey({ botId: id, ...key })
    this.#ids.accounts.set(username, id)
  }

  async #addKey(userId: number, key: SeedPerson['key']): Promise<void> {
    if (key === 'none') return
    if (typeof key === 'object') await this.#control.publishKey({ userId, ...key })
    else await this.#context.phones.of(userId, key === 'phone' ? undefined : key)
  }

  /** Makes a chat with its members, none of them restricted yet. Gives its id. */
  async #addChat(name: string, chat: Seed['chats'][string]): Promise<number> {
    const ids = this.#ids
    if (chat.kind === 'private') {
      const members = { userId: ids.account(chat.person), botId: ids.account(chat.bot) }
      return (await this.#control.addPrivateChat({ ...members, name })).id
    }
    const { kind, mode, members, history: _later, ...settings } = chat
    const { id: chatId } = await this.#control.addRoom({
      kind,
      historyVisible: mode === 'open',
      members: Object.keys(members).map((handle) => ids.account(handle)),
      ...settings,
      name,
      title: settings.title ?? name,
    })
    for (const [handle, { status, rights, title = null }] of membershipsOf(chat)) {
      await this.#control.setMembership({
        chatId,
        userId: ids.account(handle),
        status: status === 'restricted' ? 'member' : status,
        rights: rights?.reduce((bits, right) => bits | RIGHTS[right], 0),
        title,
      })
    }
    return chatId
  }

  /** Posts the history of every chat, each message at its time. Bots get updates as usual. */
  async #writeHistory(): Promise<void> {
    const history = Object.entries(this.#seed.chats).flatMap(([name, chat]) => {
      const earlierIds: number[] = []
      return chat.history.map((message) => ({ chatId: this.#ids.chat(name), message, earlierIds }))
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
    const { world, find, phones } = this.#context
    const { text, markup = null } = message
    const fromId = this.#ids.account(message.from)
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
    const control = this.#control
    const ids = this.#ids
    for (const [name, chat] of Object.entries(chats)) {
      if (chat.kind !== 'private') await this.#restrictMembers(ids.chat(name), chat)
    }
    for (const [handle, { blocks, gone }] of Object.entries(people)) {
      const userId = ids.account(handle)
      for (const bot of blocks) await control.block({ userId, botId: ids.account(bot) })
      if (gone) await control.closeAccount({ userId })
    }
    for (const [handle, { commands, paused }] of Object.entries(bots)) {
      const botId = ids.account(handle)
      for (const [scope, list] of Object.entries(commands)) {
        await control.setCommands({ botId, scope: ids.scope(scope), commands: list })
      }
      if (paused) await control.pause({ botId })
    }
    for (const fault of faults) {
      await control.fault(FaultInput.parse(ids.resolve(FaultInput, fault)))
    }
  }

  /** Restricts the members of a chat that are restricted from the beginning. */
  async #restrictMembers(chatId: number, room: SeedRoom): Promise<void> {
    for (const [handle, { status, restrictedFor }] of membershipsOf(room)) {
      if (status !== 'restricted') continue
      const userId = this.#ids.account(handle)
      const restrictedUntil =
        restrictedFor === undefined ? null : this.#beginsMs + parseDurationMs(restrictedFor)
      await this.#control.setMembership({ chatId, userId, status, restrictedUntil })
    }
  }
}

type SeedMembership = Exclude<SeedRoom['members'][string], string>

function membershipsOf({ members }: SeedRoom): [string, SeedMembership][] {
  return Object.entries(members).map(([handle, member]) => [
    handle,
    typeof member === 'string' ? { status: member } : member,
  ])
}

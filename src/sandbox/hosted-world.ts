import { Mutex } from '../util/scheduling.ts'
import { finderIn } from './control/find.ts'
import type { WorldHost, WorldList } from './control/hosting.ts'
import { ControlError, type StepError } from './control/operation.ts'
import { bindControl, type Control } from './control/table.ts'
import { EventLog } from './events/log.ts'
import type { ActiveFault } from './faults/faults.ts'
import type { RecordRow } from './persistence/persistence.ts'
import { phonesOf, type SharedEngine } from './phone/phones.ts'
import { resumeTyping } from './rules/typing.ts'
import { scheduleOf } from './seed/schedule.ts'
import type { SeedInput } from './seed/schema.ts'
import { startDelivering } from './webhook/delivery-loop.ts'
import { openWorld, successorOf, type World, type WorldOptions } from './world.ts'

/** How a world begins. */
export interface HostedWorldOptions extends WorldOptions {
  /**
   * `home` (default): the default world, see `Home`. `empty`: a world with nobody in it. Or a seed.
   * Ignored when `data` holds a world.
   */
  world?: 'home' | 'empty' | SeedInput | undefined
  /** `all`: the phones of the default world's people are made at the start. */
  phones?: 'when-needed' | 'all'
  /** Called for each step of a seed's schedule that fails. */
  onStepError?: (error: StepError) => void
}

/** A world as it was at some time. */
interface Snapshot {
  rows: readonly RecordRow[]
  atMs: number
  /** Faults to set when it is restored. */
  faults: readonly ActiveFault[]
}

interface HostedWorldParts {
  name: string
  options: HostedWorldOptions
  engine: SharedEngine
  worlds: WorldList
}

/** A world that goes on under its name across restores, and its snapshots. */
export class HostedWorld implements WorldHost, AsyncDisposable {
  readonly name: string
  /** False when a file held it already. */
  readonly isNew: boolean
  /** All operations, on the world as it is when they are called. */
  readonly control: Control
  readonly events = new EventLog()
  readonly #end = new AbortController()
  readonly ended = this.#end.signal
  readonly #parts: HostedWorldParts
  readonly #snapshots = new Map<string, Snapshot>()
  /** Restores and the end run one after the other. */
  readonly #replacing = new Mutex()
  #live: LiveWorld
  #beginning: Snapshot = { rows: [], atMs: 0, faults: [] }
  #nextSnapshot = 1

  private constructor(parts: HostedWorldParts, world: World) {
    this.name = parts.name
    this.isNew = world.isNew
    this.#parts = parts
    this.#live = bringToLife(world, this, parts)
    this.control = bindControl(() => this.#live)
  }

  /**
   * Opens a world, or makes it. Nothing begins before `begin`.
   * @throws OperatorError when the file of `data` cannot be used; SeedError
   */
  static async open(parts: HostedWorldParts): Promise<HostedWorld> {
    const { options } = parts
    // What applies a seed is imported only here, so that other sandboxes start faster.
    const seed =
      typeof options.world === 'object'
        ? (await import('./seed/apply.ts')).prepareSeed(options.world)
        : null
    const world = await openWorld({ ...options, ...seed?.clockFor(options) })
    const hosted = new HostedWorld(parts, world)
    try {
      const live = hosted.#live
      if (world.isNew && seed !== null) (await seed.apply(live)).forEach(live.schedule.add)
      else if (world.isNew && options.world !== 'empty') {
        const home = await createDefaultWorld(live.control)
        live.homes.set('home', home)
        if (options.phones === 'all') {
          await Promise.all([home.alice, home.bob].map(({ id }) => live.phones.of(id)))
        }
      }
      await live.phones.restore()
      await world.persistence.start()
      hosted.#beginning = hosted.#take(world.faults.list())
      return hosted
    } catch (error) {
      await hosted[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Ends every call and delivery, for good. */
  endCalls(): void {
    this.#end.abort()
    this.#live.end()
  }

  /** The world as it is now. */
  get live(): LiveWorld {
    return this.#live
  }

  get world(): World {
    return this.#live.world
  }

  /** Lets deliveries and the schedule begin. */
  begin(): void {
    this.#live.begin((error) => this.#parts.options.onStepError?.(error))
  }

  get snapshots(): readonly string[] {
    return [...this.#snapshots.keys()]
  }

  snapshot(name: string = this.#freeName()): string {
    this.#snapshots.delete(name)
    this.#snapshots.set(name, this.#take([]))
    return name
  }

  removeSnapshot(name: string): void {
    if (!this.#snapshots.delete(name)) throw noSnapshot(name)
  }

  async restore(name: string): Promise<void> {
    const snapshot = this.#snapshots.get(name)
    if (snapshot === undefined) throw noSnapshot(name)
    await this.#replacing.run(() => this.#replace(snapshot))
  }

  async reset(): Promise<void> {
    await this.#replacing.run(() => this.#replace(this.#beginning))
  }

  #take(faults: readonly ActiveFault[]): Snapshot {
    const { persistence, clock } = this.world
    return { rows: persistence.rows(), atMs: clock.now(), faults }
  }

  #freeName(): string {
    const name = `snapshot-${this.#nextSnapshot++}`
    return this.#snapshots.has(name) ? this.#freeName() : name
  }

  /** Builds the other world beside this one, stores it, and switches to it in one step. */
  async #replace({ rows, atMs, faults }: Snapshot): Promise<void> {
    const before = this.#live
    if (before.world.closing.signal.aborted) throw new ControlError('the world is closed')
    const { options } = this.#parts
    const world = successorOf(before.world, rows, options)
    const next = bringToLife(world, this, this.#parts)
    try {
      // A running clock has the real time: scheduled steps keep their distance from it.
      next.schedule.postpone(world.clock.now() - atMs)
      for (const { id: _, name, ...how } of faults) world.faults.set(name, how)
      await next.phones.restore()
      await world.persistence.start()
    } catch (error) {
      next.end()
      throw error
    }
    this.#live = next
    before.end()
    this.events.append(world.clock.now(), { kind: 'restored' })
    this.begin()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#replacing.run(async () => {
      this.endCalls()
      await this.world.persistence[Symbol.asyncDispose]()
    })
  }
}

const noSnapshot = (name: string): ControlError =>
  new ControlError(`there is no snapshot ${name}; \`snapshots\` lists them`)

/**
 * A world from its start, or a restore, until the next restore: its state never reaches the next
 * world. So a call that was under way can change only the former world.
 */
export type LiveWorld = ReturnType<typeof bringToLife>

/** Makes what goes on in a world. Nothing begins before `begin`. */
function bringToLife(world: World, host: WorldHost, { worlds, engine }: HostedWorldParts) {
  const { events } = host
  const phones = phonesOf(world, engine)
  const schedule = scheduleOf(world)
  world.onEvent((body) => {
    if (!world.closing.signal.aborted) events.append(world.clock.now(), body)
  })
  const context = { world, find: finderIn(world), host, worlds, phones, schedule, events }
  /** All operations on this world. */
  const control = bindControl(() => context)
  /** Ids and token of the default world, if it is one; under `home`. */
  const homes = world.persistence.map<string, Home>('home')
  return {
    ...context,
    control,
    homes,

    /** Starts deliveries and the schedule, and lets typing indicators end. @param onStepError called for each step that fails */
    begin(onStepError: (error: StepError) => void): void {
      for (const bot of world.bots.values()) if (bot.webhook !== null) startDelivering(world, bot)
      resumeTyping(world)
      // oxlint-disable-next-line typescript/no-floating-promises -- each failed step goes to onStepError
      void schedule.run(control, onStepError)
    },

    /** Ends polls, deliveries and the schedule. */
    end: () => world.closing.abort(),
  }
}

/** The accounts and chats of the default world. */
export type Home = Awaited<ReturnType<typeof createDefaultWorld>>

/** Fills an empty world: one bot, two people, a private chat, and one group of each mode. */
async function createDefaultWorld(control: Control) {
  const alice = await control.addPerson({ username: 'alice', firstName: 'Alice' })
  const bob = await control.addPerson({ username: 'bob', firstName: 'Bob' })
  const bot = await control.addBot({ username: 'echo_bot', name: 'Echo' })
  const members = [alice.id, bob.id, bot.id]
  const dm = await control.addPrivateChat({ userId: alice.id, botId: bot.id, name: 'dm' })
  const square = { kind: 'group', name: 'square', title: 'Market square', members } as const
  const backroom = { kind: 'group', name: 'backroom', title: 'Back room', members } as const
  const { id: readableGroup } = await control.addRoom({ ...square, historyVisible: true })
  const { id: encryptedGroup } = await control.addRoom(backroom)
  return {
    bot,
    alice,
    bob,
    /** Alice with the bot; named `dm`. */
    privateChat: dm.id,
    /** Alice, bob and the bot; open history; named `square`. */
    readableGroup,
    /** Alice, bob and the bot; named `backroom`. */
    encryptedGroup,
  }
}

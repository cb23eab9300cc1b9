import { Finder } from './control/find.ts'
import type { WorldHost, WorldList } from './control/hosting.ts'
import type { ControlContext, StepError } from './control/operation.ts'
import { bindControl, type Control } from './control/table.ts'
import type { Home } from './default-world.ts'
import type { EventBody } from './events/event.ts'
import type { EventLog } from './events/log.ts'
import { Phones, type SharedEngine } from './phone/phones.ts'
import { resumeTyping } from './rules/typing.ts'
import { Schedule } from './seed/schedule.ts'
import { startDelivering } from './webhook/delivery-loop.ts'
import type { World } from './world.ts'

/**
 * A world from its start, or a restore, until the next restore: its state never reaches the next
 * world. So a call that was under way can change only the former world.
 */
export class LiveWorld implements ControlContext {
  readonly world: World
  readonly find: Finder
  readonly host: WorldHost
  readonly worlds: WorldList
  readonly phones: Phones
  readonly schedule: Schedule
  readonly events: EventLog
  /** All operations on this world. */
  readonly control: Control
  readonly #homes: Map<string, Home>

  constructor(world: World, parts: { host: WorldHost; worlds: WorldList; engine: SharedEngine }) {
    this.world = world
    this.find = new Finder(world)
    this.host = parts.host
    this.worlds = parts.worlds
    this.phones = new Phones(world, parts.engine)
    this.schedule = new Schedule(world)
    this.events = parts.host.events
    this.#recordEvents()
    this.control = bindControl(() => this)
    this.#homes = world.persistence.map('home')
  }

  /** Records in the log what happens from now on until the world is closed. */
  #recordEvents(): void {
    const { clock, closing, transcript, faults } = this.world
    const append = (body: EventBody): void => {
      if (!closing.signal.aborted) this.events.append(clock.now(), body)
    }
    this.world.onEvent(append)
    transcript.onCall(({ phase, call: { n, by, method, path, status } }) =>
      append({ kind: 'call', phase, n, by, method, path, status }),
    )
    faults.onStrike(({ fault: { id: faultId, name }, route = null, botId = null }) =>
      append({ kind: 'fault', faultId, name, route, botId }),
    )
  }

  /** Ids and token of the default world, if it is one. */
  get home(): Home | undefined {
    return this.#homes.get('home')
  }

  set home(home: Home) {
    this.#homes.set('home', home)
  }

  /** Starts deliveries and the schedule, and lets typing indicators end. @param onStepError called for each step that fails */
  begin(onStepError: (error: StepError) => void): void {
    for (const bot of this.world.bots.values()) {
      if (bot.webhook !== null) startDelivering(this.world, bot)
    }
    resumeTyping(this.world)
    this.schedule.start(this.control, onStepError)
  }

  /** Ends polls, deliveries and the schedule. */
  end(): void {
    this.world.closing.abort()
  }
}

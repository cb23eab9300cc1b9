import { createControlListener } from './control/listener.ts'
import type { ControlContext, StepError } from './control/operation.ts'
import { bindControl, type Control } from './control/table.ts'
import { createDefaultWorld, type Home } from './default-world.ts'
import type { FaultName, FaultOptions } from './faults/table.ts'
import { listen } from './http/listener.ts'
import type { ResponseRewrite } from './http/response.ts'
import { createService } from './http/service.ts'
import { openWorld, type WorldOptions } from './open-world.ts'
import { plainKind } from './persistence/persistence.ts'
import type { Phone } from './phone/phone.ts'
import { Phones } from './phone/phones.ts'
import { modeOf } from './rules/mode.ts'
import { toMishap, type Mishap } from './seed/former-names.ts'
import { Schedule } from './seed/schedule.ts'
import type { SeedInput } from './seed/schema.ts'
import type { Transcript } from './transcript.ts'
import { startDelivering } from './webhook/delivery-loop.ts'

export type { Home } from './default-world.ts'

/** Options of a sandbox. By default it is as strict as the spec. */
export interface SandboxOptions extends WorldOptions {
  /** Port of the API, and of the control listener; any free one by default. */
  port?: number
  controlPort?: number
  /**
   * `home` (default): the default world, see `Home`. `empty`: a world with nobody in it. Or a seed.
   * Ignored when `data` holds a world.
   */
  world?: 'home' | 'empty' | SeedInput
  /** Called for each step of a seed's schedule that fails. */
  onStepError?: (error: StepError) => void
  /** Former name of `onStepError`. */
  onMishap?: (mishap: Mishap) => void
}

/** A running sandbox. Disposing it closes both listeners and ends all polls and deliveries. */
export interface Sandbox extends AsyncDisposable {
  /** Base URL of the API, without `/bot/v1`. */
  readonly url: string
  readonly controlUrl: string
  /** False when `data` held a world already. */
  readonly isNew: boolean
  /** The accounts and chats of the default world. @throws Error in any other world */
  readonly home: Home
  /** First token of the default world's bot. */
  readonly token: string
  readonly bots: { id: number; username: string; token: string }[]
  readonly people: { id: number; username: string }[]
  readonly chats: { id: number; kind: string; mode: string }[]
  /** All operations of the control listener, to call in this process. */
  readonly control: Control
  readonly transcript: Transcript
  /** A person's phone. Making it generates and publishes the person's key. */
  phone(userId: number): Promise<Phone>
  /** Sets a fault by name. Gives its number, for `clearFaults`. */
  fault(name: FaultName, options?: FaultOptions): number
  clearFaults(id?: number): void
  /** Lets a function change every response, once the call is handled, until the returned one is called. */
  onAnswer(rewrite: ResponseRewrite): () => void
  now(): number
  /**
   * Moves the clock forward by milliseconds. What falls due on the way happens at its time, one after
   * the other.
   * @throws RangeError unless `ms` is an integer of at least 0
   */
  advance(ms: number): Promise<void>
  /** Resolves when every step of a seed's schedule that is due by now is done. */
  caughtUp(): Promise<void>
}

/**
 * Starts a sandbox on 127.0.0.1.
 * @throws OperatorError when the file of `data` cannot be used; SeedError with everything that is
 *   wrong with a seed; an error of node:net when a port is in use
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  await using stack = new AsyncDisposableStack()
  const seed = typeof options.world === 'object' ? await loadSeed(options.world) : null
  const opened = await openWorld({ ...seed?.clock, ...options })
  const world = stack.adopt(opened, ({ persistence }) => persistence[Symbol.asyncDispose]())
  const phones = stack.use(new Phones(world))
  const schedule = new Schedule(world)
  const context = { world, phones, schedule }
  const control = bindControl(context)
  const homes = world.persistence.map<string, Home>(plainKind('home'))
  if (world.isNew && seed !== null) await seed.apply(context, control)
  else if (world.isNew && options.world !== 'empty') {
    homes.set('home', await createDefaultWorld(control))
  }
  const home = homes.get('home')
  await phones.restore()
  await world.persistence.start()
  const rewrites = new Set<ResponseRewrite>()
  const service = stack.adopt(createService(world, rewrites), (app) => app.close())
  const controlListener = stack.adopt(createControlListener(control), (app) => app.close())
  stack.defer(() => world.closing.abort())
  const url = await listen(service, options.port ?? 0)
  const controlUrl = await listen(controlListener, options.controlPort ?? 0)
  for (const bot of world.bots.values()) if (bot.webhook !== null) startDelivering(world, bot)

  schedule.start(control, (error) => {
    options.onStepError?.(error)
    options.onMishap?.(toMishap(error))
  })

  const running = stack.move()
  const sandbox: Sandbox = {
    url,
    controlUrl,
    control,
    transcript: world.transcript,
    isNew: world.isNew,
    get home() {
      if (home === undefined) throw new Error('this sandbox has no home')
      return home
    },
    get token() {
      return sandbox.home.bot.token
    },
    get bots() {
      return [...world.bots.values()].map(({ id, username, token }) => ({
        id,
        username,
        token: token ?? '',
      }))
    },
    get people() {
      return [...world.people.values()].map(({ id, username }) => ({ id, username }))
    },
    get chats() {
      return [...world.chats.values()].map((chat) => ({
        id: chat.id,
        kind: chat.kind,
        mode: modeOf(world, chat),
      }))
    },
    phone: (userId) => phones.of(userId),
    fault: (name, faultOptions) => world.faults.set(name, faultOptions),
    clearFaults: (id) => world.faults.clear(id),
    onAnswer: (rewrite) => {
      rewrites.add(rewrite)
      return () => rewrites.delete(rewrite)
    },
    now: () => world.clock.now(),
    advance: (ms) => world.advance(ms),
    caughtUp: () => schedule.caughtUp(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  return sandbox
}

/** Checks a seed. Imports what applies it only here, so that other sandboxes start faster. */
async function loadSeed(input: SeedInput) {
  const [{ readSeed }, { clockStartMs, applySeed }] = await Promise.all([
    import('./seed/read.ts'),
    import('./seed/apply.ts'),
  ])
  const seed = readSeed(input)
  return {
    clock: { clock: seed.clock?.mode ?? 'running', startMs: clockStartMs(seed) },
    apply: (context: ControlContext & { schedule: Schedule }, control: Control) =>
      applySeed(context, control, seed),
  }
}

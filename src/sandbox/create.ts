import { createControlListener } from './control/listener.ts'
import type { ControlContext } from './control/operation.ts'
import { bindControl, type Control } from './control/table.ts'
import type { FaultName, FaultOptions } from './faults/table.ts'
import { plainKind } from './persistence/persistence.ts'
import { createDefaultWorld, type Home } from './default-world.ts'
import type { ResponseRewrite } from './http/response.ts'
import { listen } from './http/listener.ts'
import { createService } from './http/service.ts'
import { openWorld, type WorldOptions } from './open-world.ts'
import { Phones } from './phone/phones.ts'
import type { Phone } from './phone/phone.ts'
import { modeOf } from './rules/mode.ts'
import type { Transcript } from './transcript.ts'
import type { SeedInput } from './seed/schema.ts'
import { Schedule, type StepError } from './seed/schedule.ts'
import { startDelivering } from './webhook/delivery-loop.ts'

export type { Home } from './default-world.ts'

/** How a sandbox is to be. Everything has a default; the defaults are as strict as the spec. */
export interface SandboxOptions extends WorldOptions {
  /** Port of the API, and of the control listener; any free one by default. */
  port?: number
  controlPort?: number
  /**
   * `home` (default): see `Home`. `empty`: nobody yet. A seed: whatever it says. What `data` holds
   * goes before all of these.
   */
  world?: 'home' | 'empty' | SeedInput
  /** Told of each thing in a seed's script that could not happen. */
  onMishap?: (mishap: StepError) => void
}

/** A running sandbox. Disposing closes both listeners and ends every poll and delivery. */
export interface Sandbox extends AsyncDisposable {
  /** Base url of the API, without `/bot/v1`. */
  readonly url: string
  readonly controlUrl: string
  /** False when `data` held a world already. */
  readonly isNew: boolean
  /** Who lives in a `home` world. @throws Error in any other */
  readonly home: Home
  /** Token of the home's bot, as it was first issued. */
  readonly token: string
  readonly bots: { id: number; username: string; token: string }[]
  readonly people: { id: number; username: string }[]
  readonly chats: { id: number; kind: string; mode: string }[]
  /** Every operation of the control listener, in this process. */
  readonly control: Control
  readonly transcript: Transcript
  /** A person's phone; making it makes and publishes the person's key. */
  phone(userId: number): Promise<Phone>
  /** Sets a fault by name; gives its number, for `clearFaults`. */
  fault(name: FaultName, options?: FaultOptions): number
  clearFaults(id?: number): void
  /** Lets a function change every answer after the deed; ends when the returned one is called. */
  onAnswer(rewrite: ResponseRewrite): () => void
  now(): number
  /** Moves the clock forward by milliseconds. */
  advance(ms: number): void
  /** Resolves when everything of a seed's script that is due by now has happened. */
  caughtUp(): Promise<void>
}

/**
 * Starts a sandbox on 127.0.0.1.
 * @throws OperatorError when the file of `data` cannot be taken; SeedError with everything that is
 *   wrong with a seed; an error of node:net when a port is in use
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  await using stack = new AsyncDisposableStack()
  const seed = typeof options.world === 'object' ? await sown(options.world) : null
  const opened = await openWorld({ ...seed?.clock, ...options })
  const world = stack.adopt(opened, ({ persistence }) => persistence[Symbol.asyncDispose]())
  const phones = stack.use(new Phones(world))
  const story = new Schedule(world)
  const on = { world, phones, story }
  const control = bindControl(on)
  const homes = world.persistence.map<string, Home>(plainKind('home'))
  if (world.isNew && seed !== null) await seed.applySeed(on, control)
  else if (world.isNew && options.world !== 'empty')
    homes.set('home', await createDefaultWorld(control))
  const home = homes.get('home')
  await phones.restore()
  await world.persistence.start()
  const rewrites = new Set<ResponseRewrite>()
  const service = stack.adopt(createService(world, rewrites), (app) => app.close())
  const backstage = stack.adopt(createControlListener(control), (app) => app.close())
  stack.defer(() => world.closing.abort())
  const url = await listen(service, options.port ?? 0)
  const controlUrl = await listen(backstage, options.controlPort ?? 0)
  for (const bot of world.bots.values()) if (bot.webhook !== null) startDelivering(world, bot)

  story.start(control, options.onMishap ?? (() => undefined))

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
    caughtUp: () => story.caughtUp(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  return sandbox
}

/** A seed that is fit to be planted. Seeds are loaded only for who has one. */
async function sown(input: SeedInput) {
  const [{ readSeed }, { clockStartMs, applySeed }] = await Promise.all([
    import('./seed/read.ts'),
    import('./seed/apply.ts'),
  ])
  const seed = readSeed(input)
  return {
    clock: { clock: seed.clock?.mode ?? 'running', startMs: clockStartMs(seed) },
    applySeed: (on: ControlContext, control: Control) => applySeed(on, control, seed),
  }
}

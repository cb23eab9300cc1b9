import { createControlListener } from './control/routes.ts'
import type { Control } from './control/table.ts'
import type { SandboxEvent } from './events/event.ts'
import type { FaultName, FaultOptions } from './faults/table.ts'
import type { Home, HostedWorldOptions } from './hosted-world.ts'
import { knownHosts, listen, LOOPBACK, type SandboxAddress } from './http/address.ts'
import { addressWithToken, controlTokenFor, entryPath } from './http/control-token.ts'
import { createService } from './http/service.ts'
import type { BotTraffic } from './page/bot-traffic.ts'
import type { PageSidecar } from './page/sidecar.ts'
import type { Phone } from './phone/phone.ts'
import { SharedEngine } from './phone/phones.ts'
import type { Transcript } from './transcript.ts'
import { createWorlds, MAIN } from './worlds.ts'

export type { Home } from './hosted-world.ts'

/** Options of a sandbox. By default it is as strict as the spec. */
export interface SandboxOptions extends HostedWorldOptions, SandboxAddress {
  /** Port of the API, and of the control listener; any free one by default. */
  port?: number
  controlPort?: number
  /**
   * What callers of the control and of the page must present, 32 to 128 of A-Z, a-z, 0-9, "_" and
   * "-". By default a new one on any address but loopback, and none there.
   */
  controlToken?: string | undefined
}

/** Where the page is served, and what it shows. */
export interface PageOptions extends SandboxAddress {
  /** Any free one by default. */
  port?: number | undefined
  /** The exchanges of bot and sidecar, where the sidecar runs in this process. */
  botTraffic?: BotTraffic
  /** The sidecar itself, where it runs in this process. */
  sidecar?: PageSidecar
}

/** A page that is served. Disposing it closes its listener; so does the end of the sandbox. */
export interface Page extends AsyncDisposable {
  /** The address to open: without a trailing slash, or `/?token=` and the token, which it needs. */
  readonly url: string
}

/** A running sandbox. Disposing it closes both listeners and ends all polls and deliveries. */
export interface Sandbox extends AsyncDisposable {
  /** Base URL of the API, without `/bot/v1`. */
  readonly url: string
  /** With the token as its password, where it needs one; `createControlClient` accepts it as it is. */
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
  /** Of the world as it is now; get it again after `reset` and `restore`. */
  readonly transcript: Transcript
  /**
   * What happens from now on, or after an event's id, one by one until the sandbox closes; also
   * across `reset` and `restore`. Waits for the next event.
   * @throws RangeError when events were missed: the newest 10 000 are held
   */
  events(after?: number): AsyncIterableIterator<SandboxEvent>
  /**
   * A person's phone. Making it generates and publishes the person's key. After `reset` and
   * `restore` the world has other phones, with the keys and inboxes of then.
   */
  phone(userId: number): Promise<Phone>
  /** Sets a fault by name. Gives its number, for `clearFaults`. */
  fault(name: FaultName, options?: FaultOptions): number
  clearFaults(id?: number): void
  /**
   * Serves the page on which one plays with the sandbox's own world in a browser, on 127.0.0.1
   * unless `host` names another address.
   * @throws an error of node:net when the port is in use
   */
  startPage(options?: PageOptions): Promise<Page>
  now(): number
  /**
   * Moves the clock forward by milliseconds. What falls due on the way happens at its time, one after
   * the other.
   * @throws RangeError unless `ms` is an integer of at least 0
   */
  advance(ms: number): Promise<void>
  /** Keeps the world as it is. Gives the snapshot's name; one of the same name is replaced. */
  snapshot(name?: string): string
  /**
   * Puts the world back as it was at a snapshot: once this resolves, nothing that was under way
   * before can change it. @throws ControlError when there is no such snapshot
   */
  restore(name: string): Promise<void>
  /** Puts the world back as it was when the sandbox was ready. */
  reset(): Promise<void>
}

/**
 * Starts a sandbox on 127.0.0.1, unless `host` names another address.
 * @throws OperatorError when the file of `data` or `controlToken` cannot be used; SeedError with everything that is
 *   wrong with a seed; an error of node:net when a port is in use
 */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  await using stack = new AsyncDisposableStack()
  const { port = 0, controlPort = 0, controlToken } = options
  const token = controlTokenFor(options.host ?? LOOPBACK, controlToken)
  const engine = stack.use(new SharedEngine())
  const worlds = stack.use(createWorlds(engine))
  const main = await worlds.open(MAIN, options)
  const access = { knownHosts: knownHosts(options) }
  const guarded = { ...access, token }
  const { find } = worlds
  const service = stack.use(createService(find, access))
  const controlListener = stack.use(createControlListener(find, guarded))
  stack.defer(() => worlds.endCalls())
  const url = await listen(service, { ...options, port })
  const controlAddress = await listen(controlListener, { ...options, port: controlPort })
  const controlUrl = addressWithToken(controlAddress, token)
  Object.assign(worlds.urls, { url, controlUrl })
  main.begin()

  const running = stack.move()
  const sandbox: Sandbox = {
    url,
    controlUrl,
    control: main.control,
    isNew: main.isNew,
    get transcript() {
      return main.world.transcript
    },
    get home() {
      const home = main.live.homes.get('home')
      if (home === undefined) throw new Error('this sandbox has no home')
      return home
    },
    get token() {
      return sandbox.home.bot.token
    },
    get bots() {
      return worlds.describe(main).bots
    },
    get people() {
      return worlds.describe(main).people
    },
    get chats() {
      return worlds.describe(main).chats
    },
    events: (after = main.events.last) => main.events.follow(after, main.ended),
    phone: (userId) => main.live.phones.of(userId),
    fault: (name, faultOptions) => main.world.faults.set(name, faultOptions),
    clearFaults: (id) => main.world.faults.clear(id),
    startPage: async (page = {}) => {
      const { createPageListener } = await import('./page/listener.ts')
      const { botTraffic = null, sidecar = null, port: pagePort = 0, ...address } = page
      const pageToken = token ?? controlTokenFor(address.host ?? LOOPBACK)
      const guard = { knownHosts: knownHosts(address), token: pageToken }
      const app = running.use(createPageListener(find, { botTraffic, sidecar, ...guard }))
      try {
        const pageUrl = await listen(app, { ...address, port: pagePort })
        const entry = pageToken === null ? '' : entryPath(pageToken)
        return { url: pageUrl + entry, [Symbol.asyncDispose]: () => app.close() }
      } catch (error) {
        await app.close()
        throw error
      }
    },
    now: () => main.world.clock.now(),
    advance: (ms) => main.world.advance(ms),
    snapshot: (name) => main.snapshot(name),
    restore: (name) => main.restore(name),
    reset: () => main.reset(),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
  return sandbox
}

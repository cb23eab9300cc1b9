import { lookup } from 'node:dns/promises'
import { Clock } from './clock.ts'
import { createControlListener } from './control/listener.ts'
import { bindControl, type Control } from './control/table.ts'
import { Faults } from './faults/faults.ts'
import type { FaultName, FaultOptions } from './faults/table.ts'
import { moveIn, type Home } from './home.ts'
import type { Rewrite } from './http/answer.ts'
import { listen } from './http/listener.ts'
import { createService } from './http/service.ts'
import { Phones } from './phone-book.ts'
import type { Phone } from './phone.ts'
import { modeOf } from './rules/mode.ts'
import { Transcript } from './transcript.ts'
import { World, type WorldRules } from './world.ts'

/** How a sandbox is to be. Everything has a default; the defaults are as strict as the spec. */
export interface SandboxOptions {
  /** Port of the API, and of the control listener; any free one by default. */
  port?: number
  controlPort?: number
  /** `home` (default): see `Home`. `empty`: nobody yet. */
  world?: 'home' | 'empty'
  /** `running` (default) goes with real time; `still` moves by `advance` alone. */
  clock?: 'running' | 'still'
  /** What the clock says at first, ms since epoch; the real time by default. */
  startMs?: number
  /** `off`: no rate windows. For benchmarks. */
  rates?: WorldRules['rates']
  /** `local`: webhooks may be http and at any address. For bots on this machine. */
  webhooks?: WorldRules['webhooks']
  /** Stands in for DNS when a webhook's host is resolved. */
  resolveHost?: WorldRules['resolveHost']
  /** How many of the newest calls the transcript keeps; 10 000 by default, 0 for none. */
  transcriptCalls?: number
}

/** A running sandbox. Disposing closes both listeners and ends every poll and delivery. */
export interface Sandbox extends AsyncDisposable {
  /** Base url of the API, without `/bot/v1`. */
  readonly url: string
  readonly controlUrl: string
  /** Who lives in a `home` world. @throws Error in an `empty` one */
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
  onAnswer(rewrite: Rewrite): () => void
  now(): number
  /** Moves the clock forward by milliseconds. */
  advance(ms: number): void
}

/** Starts a sandbox on 127.0.0.1. */
export async function createSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const world = makeWorld(options)
  const phones = new Phones(world)
  const control = bindControl({ world, phones })
  const rewrites = new Set<Rewrite>()
  const service = createService(world, rewrites)
  const backstage = createControlListener({ world, phones })
  const home = options.world === 'empty' ? null : await moveIn(control)
  const url = await listen(service, options.port ?? 0)
  const controlUrl = await listen(backstage, options.controlPort ?? 0).catch(
    async (error: unknown) => {
      await service.close()
      throw error
    },
  )

  const sandbox: Sandbox = {
    url,
    controlUrl,
    control,
    transcript: world.transcript,
    get home() {
      if (home === null) throw new Error('this sandbox was started empty')
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
    advance: (ms) => world.clock.advance(ms),
    async [Symbol.asyncDispose]() {
      world.closing.abort()
      await Promise.all([service.close(), backstage.close()])
      await phones[Symbol.asyncDispose]()
    },
  }
  return sandbox
}

function makeWorld(options: SandboxOptions): World {
  return new World({
    clock: new Clock({ mode: options.clock ?? 'running', startMs: options.startMs }),
    rules: {
      rates: options.rates ?? 'spec',
      webhooks: options.webhooks ?? 'public',
      resolveHost: options.resolveHost ?? resolveByDns,
    },
    transcript: new Transcript(options.transcriptCalls ?? 10_000),
    faults: new Faults(),
  })
}

async function resolveByDns(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

import { join } from 'node:path'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/create.ts'
import { whyNot, type Case, type Need } from '../case.ts'
import { Client, type Inspect } from '../client.ts'
import type { Driver } from '../driver.ts'
import type { Stage, Way } from '../stage.ts'
import { stageOf } from './control-stage.ts'
import { Faithful } from './faithful.ts'
import { HOST_NAMES } from './host-names.ts'
import { okFields } from '../expect.ts'
import { limitsIn } from '../limits.ts'
import { checkLaw, exact, lawful } from './lawful.ts'
import { SandboxClock } from './sandbox-clock.ts'
import { checkSecrecy } from './secret.ts'
import { startSidecarInProcess, type RunningSidecar } from './sidecar.ts'
import { sweep } from './sweep.ts'

const EVERYTHING: ReadonlySet<Need> = new Set<Need>([
  'private chat',
  'group',
  'people',
  'rooms',
  'owner',
  'clock',
  'host names',
])

/** Longer than the answer of a receiver in a case; some never answer. */
const RECEIVER_PATIENCE_MS = 500

const resolveHost = (host: string): Promise<string[]> => Promise.resolve(HOST_NAMES[host] ?? [])

interface Scene {
  stage: Stage
  sweep: () => Promise<unknown>
}

interface DriverOptions {
  limits?: SandboxOptions['limits']
  lies?: Record<string, unknown>
  folder?: string
  storeUrl?: () => Promise<string>
}

/** The ways whose service is the sandbox, each scene made when first needed. */
export class SandboxDriver implements Driver {
  readonly way: Way
  readonly #stack = new AsyncDisposableStack()
  readonly #scenes = new Map<'public' | 'local', Promise<Scene>>()
  readonly #faithful: Faithful[] = []
  readonly #limits: SandboxOptions['limits']
  readonly #lies: Record<string, unknown> | undefined
  readonly #folder: string | undefined
  readonly #storeUrl: (() => Promise<string>) | undefined

  /**
   * @param o `limits` of the service that differ from the specification's; `lies` in their place in
   *   `/me`. `folder` where its sandboxes keep their worlds, in files; in memory when absent.
   *   `storeUrl`: the database that holds the store of its sidecars; a folder when absent
   */
  constructor(way: 'direct' | 'protected' | 'open', o: DriverOptions = {}) {
    this.way = way
    this.#limits = o.limits
    this.#lies = o.lies
    this.#folder = o.folder
    this.#storeUrl = o.storeUrl
  }

  /** Answers that were found to be the service’s own, byte for byte. */
  get compared(): number {
    return this.#faithful.reduce((sum, { compared }) => sum + compared, 0)
  }

  whyNot(one: Case): string | null {
    if (this.#lies !== undefined && one.proves.includes('limits-in-me')) return 'one limit is a lie'
    return whyNot(one, this.way, EVERYTHING)
  }

  async play(one: Case): Promise<void> {
    const webhooks = one.webhooks ?? 'public'
    const scene = this.#scenes.get(webhooks) ?? this.#set(webhooks)
    this.#scenes.set(webhooks, scene)
    const { stage, sweep: tidy } = await scene
    await tidy()
    await one.run(stage)
  }

  async #set(webhooks: 'public' | 'local'): Promise<Scene> {
    const sandbox = this.#stack.use(
      await createSandbox({
        ...(this.#folder !== undefined && { data: join(this.#folder, `${webhooks}.world`) }),
        clock: 'still',
        limits: this.#limits,
        webhooks,
        receiverPatienceMs: RECEIVER_PATIENCE_MS,
        resolveHost,
      }),
    )
    const lie = () => this.#lies && sandbox.fault('claim-limits', { limits: this.#lies })
    lie()
    const clock = new SandboxClock(sandbox)
    await Promise.all([sandbox.home.alice, sandbox.home.bob].map(({ id }) => sandbox.phone(id)))
    const sidecar = this.way === 'direct' ? null : await this.#sidecar(sandbox, clock)
    let { token } = sandbox
    const clientOf = (base: string, tokenNow: () => string, inspect: Inspect): Client =>
      this.#stack.use(new Client({ base, token: tokenNow, inspect }))
    const past = clientOf(sandbox.url, () => token, lawful)
    const bot = clientOf(sidecar?.url ?? sandbox.url, () => token, this.#inspect(sandbox))
    const handOver = async (issued: string): Promise<void> => {
      await sidecar?.writeToken(issued)
      token = issued
    }
    const stage = stageOf({
      way: this.way,
      limits: limitsIn(okFields(await past.get('/me'))),
      control: sandbox.control,
      home: sandbox.home,
      bot,
      past,
      clientOf: (other) => clientOf(sandbox.url, () => other, lawful),
      handOver,
      now: () => sandbox.now(),
      advance: (ms) => clock.advance(ms),
    })
    const { control } = sandbox
    return { stage, sweep: () => sweep({ control, sidecar, stage, handOver }).then(lie) }
  }

  async #sidecar(sandbox: Sandbox, clock: SandboxClock): Promise<RunningSidecar> {
    const { url: upstream, token } = sandbox
    const parts = { clock, resolveHost }
    const publish = this.way === 'protected'
    const storeUrl = await this.#storeUrl?.()
    return this.#stack.use(
      await startSidecarInProcess({ upstream, token, publish, parts, storeUrl }),
    )
  }

  #inspect(sandbox: Sandbox): Inspect {
    if (this.way === 'direct') return exact
    const faithful = new Faithful({ sandbox, translates: this.way === 'protected' })
    this.#faithful.push(faithful)
    return async (call, make) => {
      const mark = faithful.mark()
      const answer = await make()
      checkLaw(call, answer)
      faithful.check(call, answer, mark)
      if (this.way === 'protected') checkSecrecy(sandbox, call, answer)
      return answer
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#scenes.values())
    await this.#stack.disposeAsync()
  }
}

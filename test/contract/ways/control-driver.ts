import { createControlClient } from '../../../src/sandbox/control/table.ts'
import { whyNot, type Case, type Need } from '../case.ts'
import { Client } from '../client.ts'
import type { Driver } from '../driver.ts'
import type { Stage, Way } from '../stage.ts'
import { stageOf } from './control-stage.ts'
import { makeHome } from './home.ts'
import { okFields } from '../expect.ts'
import { limitsIn } from '../limits.ts'
import { lawful } from './lawful.ts'
import { sweep } from './sweep.ts'

export interface ControlDriverOptions {
  /** Base URL of the implementation, without `/bot/v1`. */
  url: string
  /** Where it offers the operations of the sandbox's control. */
  controlUrl: string
  /** It accepts webhooks over http and at any address. */
  localWebhooks: boolean
  /** The names of host-names.ts resolve for it as they should. */
  hostNames: boolean
}

const NEEDS: readonly Need[] = ['private chat', 'group', 'people', 'rooms', 'owner', 'clock']

/** An implementation that offers the control: every case, with people and a bot made for it. */
export class ControlDriver implements Driver {
  readonly way: Way = 'direct'
  readonly #stack: AsyncDisposableStack
  readonly #stage: Stage
  readonly #sweep: () => Promise<void>
  readonly #has: ReadonlySet<Need>
  readonly #localWebhooks: boolean

  private constructor(
    { localWebhooks, hostNames }: ControlDriverOptions,
    made: { stack: AsyncDisposableStack; stage: Stage; sweep: () => Promise<void> },
  ) {
    this.#localWebhooks = localWebhooks
    this.#has = new Set<Need>(hostNames ? [...NEEDS, 'host names'] : NEEDS)
    this.#stack = made.stack
    this.#stage = made.stage
    this.#sweep = made.sweep
  }

  /** Stops the clock of the service until it is disposed of. @throws ControlError */
  static async create(options: ControlDriverOptions): Promise<ControlDriver> {
    await using stack = new AsyncDisposableStack()
    const control = createControlClient(options.controlUrl)
    const { mode } = await control.now()
    stack.defer(async () => void (await control.setClock({ mode })))
    let { now } = await control.setClock({ mode: 'still' })
    const home = await makeHome(control)
    let { token } = home.bot
    const clients = stack.use(new DisposableStack())
    const clientOf = (tokenNow: () => string): Client =>
      clients.use(new Client({ base: options.url, token: tokenNow, inspect: lawful }))
    const bot = clientOf(() => token)
    const handOver = (issued: string): Promise<void> => {
      token = issued
      return Promise.resolve()
    }
    const stage = stageOf({
      way: 'direct',
      limits: limitsIn(okFields(await bot.get('/me'))),
      control,
      home,
      bot,
      past: bot,
      clientOf: (other) => clientOf(() => other),
      handOver,
      now: () => now,
      advance: async (ms) => {
        now = (await control.advance({ ms })).now
      },
    })
    const tidy = (): Promise<void> => sweep({ control, sidecar: null, stage, handOver })
    const running = stack.move()
    return new ControlDriver(options, { stack: running, stage, sweep: tidy })
  }

  whyNot(one: Case): string | null {
    if (one.webhooks === 'local' && !this.#localWebhooks) {
      return 'needs a service that takes webhooks on this machine: --local-webhooks'
    }
    return whyNot(one, this.way, this.#has)
  }

  async play(one: Case): Promise<void> {
    await this.#sweep()
    await one.run(this.#stage)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync()
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { whyNot, type Case, type Need } from '../case.ts'
import { Client, type Inspect } from '../client.ts'
import type { Driver } from '../driver.ts'
import { okFields } from '../expect.ts'
import { limitsIn } from '../limits.ts'
import type { PerWay, Stage, Way } from '../stage.ts'
import { checkLaw } from './lawful.ts'
import { findChats, type LiveChats } from './live-chats.ts'
import { words } from './words.ts'

/** A 429 is waited out this often; no window of the specification is longer than a minute. */
const PATIENCE = 3
const LONGEST_WAIT_S = 60

export interface LiveOptions {
  /** Base url, without `/bot/v1`. */
  url: string
  token: string
  /** Chats that the suite may write into, beside those that waiting updates name. */
  chats: readonly number[]
}

/** A service that one has nothing of but its address and a token. */
export class LiveDriver implements Driver {
  readonly way: Way = 'live'
  readonly #bot: Client
  readonly #stage: Stage
  readonly #has: ReadonlySet<Need>

  private constructor(bot: Client, stage: Stage, chats: LiveChats) {
    this.#bot = bot
    this.#stage = stage
    this.#has = new Set<Need>([
      ...(chats.private === undefined ? [] : (['private chat'] as const)),
      ...(chats.group === undefined ? [] : (['group'] as const)),
    ])
  }

  /** Asks who the bot is and what chats it has. @throws when the service does not know the token */
  static async create({ url, token, chats }: LiveOptions): Promise<LiveDriver> {
    const bot = new Client({ base: url, token: () => token, inspect: patient })
    const me = okFields(await bot.get('/me'))
    const found = await findChats(bot, chats)
    return new LiveDriver(bot, liveStage(bot, me, found), found)
  }

  whyNot(one: Case): string | null {
    return whyNot(one, this.way, this.#has)
  }

  async play(one: Case): Promise<void> {
    await one.run(this.#stage)
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#bot[Symbol.dispose]()
    return Promise.resolve()
  }
}

/** Checks every answer, and waits after a 429. */
const patient: Inspect = async (call, make) => {
  for (let turn = 1; ; turn++) {
    const answer = await make()
    checkLaw(call, answer)
    const seconds = Number(answer.header('retry-after') ?? 0)
    if (answer.status !== 429 || turn > PATIENCE || seconds > LONGEST_WAIT_S) return answer
    await pause(seconds * 1000)
  }
}

/** The means of cases without further needs; every other property throws. */
function liveStage(bot: Client, me: Record<string, unknown>, chats: LiveChats): Stage {
  // The address may be that of a sidecar, whose answers have `postern`.
  const way: Way = 'postern' in me ? 'protected' : 'live'
  const has: Partial<Stage> = {
    way,
    limits: limitsIn(me),
    me: { id: Number(me['id']), username: String(me['username']) },
    bot,
    past: bot,
    per: <T>(expected: PerWay<T>) => (way in expected ? expected[way]! : expected.service),
    words,
    privateChat: () => Promise.resolve(theChat(chats.private)),
    group: () => Promise.resolve(theChat(chats.group)),
    now: () => Date.now(),
  }
  return new Proxy(has, {
    get: (target, name) => {
      if (name in target) return Reflect.get(target, name)
      throw new Error(`a live account has no ${String(name)} for a case to use`)
    },
  }) as Stage
}

function theChat(id: number | undefined): number {
  if (id === undefined) throw new Error('the account has no such chat')
  return id
}

/**
 * How long a bot with a webhook waits for an update when the sidecar that delivers is stopped in its
 * tracks (SIGSTOP), and what the sidecars ask of the database meanwhile.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { callAt } from '../support/bot-call.ts'
import { Random } from '../support/faults-random.ts'
import { untilReady } from '../support/sidecar-process.ts'
import { Fleet, type Replica } from './fleet.ts'
import { newHistory } from './history.ts'
import { PERSON_CANARY } from './bot.ts'
import { People } from './people.ts'
import { Service } from './service.ts'

const IDLE_MS = 20_000
/** Within so long every sidecar has learned of a webhook that another one has set, ms. */
const LEARNED_MS = 12_000
/** Who does not deliver within this time is not the one whose turn it is, ms. */
const SOON_MS = 1500
const READY_MS = 60_000
const CALM_MS = 1500
const SECRET = 'takeover-secret-4711'

/** Prints a line for each round, and what was asked while nothing happened. */
export async function measureTakeover(rounds: number, print: (line: string) => void) {
  const random = new Random(1)
  const history = newHistory(1)
  await using service = await Service.start()
  const people = await People.settle(service, { history, random: random.fork() })
  await using fleet = await Fleet.settle({
    upstreamUrl: service.url,
    token: service.home.bot.token,
    history,
    cacheSeconds: 60,
    leavingFactor: 1,
    random: random.fork(),
    count: 2,
  })
  await fleet.start()
  await Promise.all(fleet.replicas.map(ready))
  await using ear = await Ear.listen()
  await setWebhook(fleet, ear.url)
  const write = (): Promise<string> =>
    people.surelyWrite(service.home.alice.id, people.chats.aliceWithBot)
  await pause(LEARNED_MS)
  await ear.heard(await write())
  const took: number[] = []
  while (took.length < rounds) {
    const ms = await stopAndWrite(fleet.replicas[random.between(0, 1)] as Replica, ear, write)
    if (ms === null) continue
    took.push(ms)
    print(`round ${took.length}: delivered by the other after ${(ms / 1000).toFixed(2)} s`)
  }
  const before = fleet.statements()
  await pause(IDLE_MS)
  const each = (fleet.statements() - before) / fleet.replicas.length / (IDLE_MS / 1000)
  print(`longest: ${(Math.max(...took) / 1000).toFixed(2)} s`)
  print(`delivered twice, by the one that woke: ${ear.repeats}`)
  print(`idle: ${each.toFixed(1)} transactions a second of each sidecar, on average of the two`)
}

/** @returns ms until the other has delivered; null when the one that was stopped has not delivered */
async function stopAndWrite(
  { keeper }: Replica,
  ear: Ear,
  write: () => Promise<string>,
): Promise<number | null> {
  // what is under way when it is stopped may come twice
  await pause(CALM_MS)
  keeper.pause()
  const stoppedAtMs = performance.now()
  const canary = await write()
  const atMs = await ear.heard(canary)
  keeper.resume()
  await ready({ keeper })
  const ms = atMs - stoppedAtMs
  return ms < SOON_MS ? null : ms
}

const ready = ({ keeper }: Pick<Replica, 'keeper'>): Promise<void> =>
  untilReady(keeper.admin ?? '', READY_MS)

async function setWebhook(fleet: Fleet, url: string): Promise<void> {
  const call = { method: 'POST', path: '/webhook', body: { url, secret: SECRET } }
  const { status, text } = await callAt(fleet.bot ?? '', fleet.clientToken, call)
  if (status !== 200) throw new Error(`the webhook was not set: ${text}`)
}

/** A bot that hears and says nothing. */
class Ear implements AsyncDisposable {
  readonly #server: Server
  readonly #heardAtMs = new Map<string, number>()
  #deliveries = 0

  private constructor() {
    this.#server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
      request.on('end', () => {
        const [canary] = PERSON_CANARY.exec(body) ?? []
        if (canary === undefined) return response.end()
        this.#deliveries += 1
        this.#heardAtMs.set(canary, this.#heardAtMs.get(canary) ?? performance.now())
        return response.end()
      })
    })
  }

  /** Deliveries of what was heard before. */
  get repeats(): number {
    return this.#deliveries - this.#heardAtMs.size
  }

  static async listen(): Promise<Ear> {
    const ear = new Ear()
    await new Promise<void>((resolve) => void ear.#server.listen(0, '127.0.0.1', resolve))
    return ear
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`
  }

  /** When a message was heard, once it is. */
  async heard(canary: string): Promise<number> {
    for (;;) {
      const atMs = this.#heardAtMs.get(canary)
      if (atMs !== undefined) return atMs
      await pause(10)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

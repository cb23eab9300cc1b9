/** A TCP proxy that spoils connections, and keeps every byte that went towards the service. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './faults-random.ts'

/** What is done to connections while it is on. Times in ms. */
export type Toxic =
  /** Every piece waits, each way. */
  | { kind: 'latency'; ms: number; jitterMs: number }
  /** Pieces arrive in slices. */
  | { kind: 'slicer'; bytes: number; delayMs: number }
  /** Pieces are swallowed and the connection stays. */
  | { kind: 'half-open' }
  /** The same, and neither end ever learns of it: what was swallowed makes a connection dead for good. */
  | { kind: 'black-hole' }
  /** One piece of an answer in so many is cut in half and the connection with it. */
  | { kind: 'cut'; oneIn: number; how: 'end' | 'reset' }

export interface Proxy extends AsyncDisposable {
  /** Stands in for the service's base URL. */
  readonly url: string
  /** Turns a toxic on, for old and new connections. @returns turns it off */
  poison(toxic: Toxic): () => void
  /** Ends every connection there is. */
  cutAll(how: 'end' | 'reset'): void
  /** Refuses connections, as a service that is being restarted does. */
  down(): Promise<void>
  up(): Promise<void>
  /** Every byte that went towards the service, one buffer a connection. */
  sent(): Buffer[]
}

interface Pair {
  bot: Socket
  service: Socket
  sent: Buffer[]
  isDead: boolean
}

/**
 * Starts a proxy before a service.
 * @param target its base URL, plain http, asked for with each connection; null refuses it
 */
export async function startProxy(
  target: string | (() => string | null),
  random: Random,
): Promise<Proxy> {
  const proxy = new SpoilingProxy(typeof target === 'string' ? () => target : target, random)
  await proxy.up()
  return proxy
}

class SpoilingProxy implements Proxy {
  readonly #target: () => string | null
  readonly #random: Random
  readonly #toxics = new Set<Toxic>()
  readonly #pairs = new Set<Pair>()
  readonly #sent: Buffer[][] = []
  #server: Server | null = null
  #port = 0

  constructor(target: () => string | null, random: Random) {
    this.#target = target
    this.#random = random
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  poison(toxic: Toxic): () => void {
    this.#toxics.add(toxic)
    return () => {
      this.#toxics.delete(toxic)
      // what was swallowed never comes: such a connection is of no use to anybody
      if (toxic.kind === 'half-open') this.cutAll('reset')
    }
  }

  cutAll(how: 'end' | 'reset'): void {
    for (const pair of this.#pairs) close(pair, how)
  }

  async down(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    const closed = once(server, 'close')
    server.close()
    this.cutAll('reset')
    await closed
  }

  async up(): Promise<void> {
    if (this.#server !== null) return
    const server = createServer((socket) => this.#accept(socket))
    this.#server = server
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
  }

  sent(): Buffer[] {
    return this.#sent.map((chunks) => Buffer.concat(chunks))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down()
  }

  #accept(bot: Socket): void {
    const target = this.#target()
    if (target === null) return void bot.on('error', () => {}).resetAndDestroy()
    const { hostname: host, port } = new URL(target)
    const service = connect({ host, port: Number(port) })
    const pair: Pair = { bot, service, sent: [], isDead: false }
    this.#pairs.add(pair)
    this.#sent.push(pair.sent)
    for (const socket of [bot, service]) {
      socket.setNoDelay(true)
      socket.on('error', () => close(pair, 'reset'))
      socket.on('close', () => {
        this.#pairs.delete(pair)
        close(pair, 'end')
      })
    }
    void this.#carry(pair, bot, service)
    void this.#carry(pair, service, bot)
  }

  async #carry(pair: Pair, from: Socket, to: Socket): Promise<void> {
    try {
      for await (const piece of from as AsyncIterable<Buffer>) {
        if (to === pair.service) pair.sent.push(piece)
        if (!(await this.#deliver(pair, piece, to))) return
      }
      if (!pair.isDead && !this.#has('half-open')) to.end()
    } catch {
      close(pair, 'reset')
    }
  }

  /** Gives false when nothing more is to be carried. */
  async #deliver(pair: Pair, piece: Buffer, to: Socket): Promise<boolean> {
    if (this.#has('black-hole')) pair.isDead = true
    if (pair.isDead) return true
    let slices = [piece]
    for (const toxic of this.#toxics) {
      if (toxic.kind === 'half-open') return true
      if (toxic.kind === 'latency') await pause(toxic.ms + this.#random.between(0, toxic.jitterMs))
      if (toxic.kind === 'slicer') slices = sliced(piece, toxic.bytes)
      if (toxic.kind === 'cut' && to === pair.bot && this.#random.oneIn(toxic.oneIn)) {
        to.write(piece.subarray(0, piece.length >> 1))
        close(pair, toxic.how)
        return false
      }
    }
    for (const slice of slices) {
      if (to.destroyed) return false
      if (!to.write(slice)) await Promise.race([once(to, 'drain'), once(to, 'close')])
      const slicer = this.#find('slicer')
      if (slices.length > 1 && slicer !== undefined) await pause(slicer.delayMs)
    }
    return true
  }

  #has(kind: Toxic['kind']): boolean {
    return this.#find(kind) !== undefined
  }

  #find<K extends Toxic['kind']>(kind: K): Extract<Toxic, { kind: K }> | undefined {
    const all = [...this.#toxics]
    return all.find((toxic): toxic is Extract<Toxic, { kind: K }> => toxic.kind === kind)
  }
}

function close({ bot, service }: Pair, how: 'end' | 'reset'): void {
  for (const socket of [bot, service]) {
    if (socket.destroyed) continue
    if (how === 'reset') socket.resetAndDestroy()
    else socket.destroySoon()
  }
}

function sliced(piece: Buffer, bytes: number): Buffer[] {
  const slices: Buffer[] = []
  for (let at = 0; at < piece.length; at += bytes) slices.push(piece.subarray(at, at + bytes))
  return slices
}

/** Stands between a sidecar and its database: the connections of one sidecar can be cut or frozen. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOCKET } from '../support/postgres.ts'

/** As a query of the simple protocol ends. */
const COMMIT = 'commit\0'

interface Way {
  isDead: boolean
  isCommitting: boolean
}

/** A server by the folder of its socket. */
export interface Place {
  folder: string
}

export class Relay implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'pg-relay-'))
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #to: Place
  #isFrozen = false
  #isDown = false
  /** What is carried now, and on these connections ever after, is swallowed. */
  #isBlackHole = false
  #isLosingCommits = false
  #delayMs = 0

  private constructor(to: Place) {
    this.#to = to
    this.#server = createServer((sidecar) => {
      if (this.#isDown) sidecar.destroy()
      else this.#carry(sidecar, connect(join(this.#to.folder, SOCKET)))
    })
  }

  static async start(to: Place): Promise<Relay> {
    const relay = new Relay(to)
    await new Promise<void>((resolve) => {
      relay.#server.listen(join(relay.#folder, SOCKET), resolve)
    })
    return relay
  }

  /** What a sidecar is given as `store.url`. */
  get url(): string {
    return `postgres://postern@/postgres?host=${encodeURIComponent(this.#folder)}`
  }

  /** Leads to another database from now on, as an address that follows the primary. */
  leadTo(to: Place): void {
    this.leadNewTo(to)
    this.cut()
  }

  /** The same for new connections alone. */
  leadNewTo(to: Place): void {
    this.#to = to
  }

  /** Ends every connection; new ones are taken. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends every connection and takes none, until `up`. */
  down(): void {
    this.#isDown = true
    this.cut()
  }

  up(): void {
    this.#isDown = false
  }

  /** Lets nothing through, and nobody know it, as a network does that loses every packet. */
  freeze(): void {
    this.#isFrozen = true
    for (const socket of this.#sockets) socket.pause()
  }

  thaw(): void {
    this.#isFrozen = false
    for (const socket of this.#sockets) socket.resume()
  }

  /** Swallows everything from now on, new connections too; those that lost something stay dead. */
  blackHole(isOn: boolean): void {
    this.#isBlackHole = isOn
  }

  /** Lets each commit through, and cuts the connection in place of its answer. */
  loseCommits(isOn: boolean): void {
    this.#isLosingCommits = isOn
  }

  /** Everything takes so long on its way from now on, ms. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #carry(sidecar: Socket, database: Socket): void {
    const way: Way = { isDead: false, isCommitting: false }
    this.#join(sidecar, database, (piece) => {
      way.isCommitting ||= this.#isLosingCommits && piece.includes(COMMIT)
      return this.#passes(way)
    })
    this.#join(database, sidecar, () => {
      if (way.isCommitting) sidecar.destroy()
      return this.#passes(way)
    })
  }

  #passes(way: Way): boolean {
    way.isDead ||= this.#isBlackHole
    return !way.isDead
  }

  #join(from: Socket, to: Socket, passes: (piece: Buffer) => boolean): void {
    this.#sockets.add(from)
    let [latestMs, waiting] = [0, 0]
    from.on('data', (piece: Buffer) => {
      if (!passes(piece)) return
      const dueMs = Math.max(latestMs, performance.now() + this.#delayMs)
      latestMs = dueMs
      // nothing overtakes what waits
      if (dueMs <= performance.now() && waiting === 0) {
        to.write(piece)
        return
      }
      waiting += 1
      setTimeout(() => {
        waiting -= 1
        to.write(piece)
      }, dueMs - performance.now())
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#sockets.delete(from)
      to.destroy()
    })
    if (this.#isFrozen) from.pause()
  }
}

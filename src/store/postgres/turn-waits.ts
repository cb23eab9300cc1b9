/**
 * Waits for turns that other processes have, for all stores of a process together; and the division of
 * turns among processes, each of which asks for some of another's while it has fewer.
 */
import { randomUUID } from 'node:crypto'
import type { TurnName } from '../store.ts'
import { nextCall } from '../../util/listeners.ts'
import type { Session } from './session.ts'
import { IS_READ_ONLY, lockName, turnsOf, LIVING, NOTIFIED, THIS_PROCESS } from './schema.ts'

/** The parts of the server that turns need. */
export interface TurnServer {
  readonly session: Session
  ask<Row extends Record<string, unknown>>(text: string, parameters?: unknown[]): Promise<Row[]>
}

interface Wait {
  name: string
  /** The holder of the turn; null until that is known. */
  process: number | null
  end: () => void
}

/** How long a turn that was given back for one process is left to that one. */
const HEIR_MS = 1000
/** A notification: `HEIR NAME` of a turn that was given back, `?HEIR NAME` of one that is asked for. */
const NOTE = /^(\??)(\S*) (.+)$/s

export class TurnWaits {
  readonly #server: TurnServer
  readonly #id = randomUUID()
  readonly #waits = new Set<Wait>()
  /** The turns of this process, by name. */
  readonly #offers = new Map<string, (heir: string) => void>()

  constructor(server: TurnServer) {
    this.#server = server
    server.session.onNotified((note) => this.#noted(NOTE.exec(note) ?? []))
    // nobody notifies a new session yet, and its database may be another
    server.session.onLost(() => this.#end(() => true))
  }

  /** Resolves once nobody may have a turn: it was given back, its process died, or the signal aborts. */
  async untilFree(schema: string, name: TurnName, signal: AbortSignal): Promise<void> {
    await nextCall((end) => {
      const wait: Wait = { name: lockName(schema, name), process: null, end }
      this.#waits.add(wait)
      void this.#want(schema, name).then(
        (process) => (process === null ? end() : (wait.process = process)),
        end,
      )
      return () => void this.#waits.delete(wait)
    }, signal)
  }

  /**
   * Counts a turn as one of this process.
   * @param onAsked called when another process, which has fewer, asks for it
   * @returns ends that
   */
  offer(name: string, onAsked: (heir: string) => void): () => void {
    this.#offers.set(name, onAsked)
    return () => void this.#offers.delete(name)
  }

  /** Whether another process has a turn, or has asked for it in vain. @throws as `ask` does */
  async isWanted(schema: string, name: TurnName): Promise<boolean> {
    const text = `SELECT wanted OR process <> ${THIS_PROCESS} AND process IN (${LIVING}) AS wanted
      FROM ${turnsOf(schema)} WHERE name = $1`
    const [turn] = await this.#server.ask<{ wanted: boolean }>(text, [name])
    return turn?.wanted === true
  }

  /** The query of each beat: which of the processes live that somebody waits for. @throws as `ask` does */
  async ask(): Promise<void> {
    const processes = new Set([...this.#waits].map(({ process }) => process))
    processes.delete(null)
    if (processes.size === 0) return void (await this.#server.session.query('SELECT 1'))
    const text = `SELECT process, ${IS_READ_ONLY} FROM unnest($1::bigint[]) AS process
      WHERE process NOT IN (${LIVING})`
    const dead = await this.#server.ask<{ process: number }>(text, [[...processes]])
    for (const { process } of dead) this.#end((wait) => wait.process === process)
    const notes = this.#missing().map(({ name }) => `?${this.#id} ${name}`)
    if (notes.length === 0) return
    await this.#server.ask(
      `SELECT pg_notify('${NOTIFIED}', note) FROM unnest($1::text[]) AS note`,
      [notes],
    )
  }

  /** Half of the turns that this process has too few, of the process that has most. */
  #missing(): Wait[] {
    const holders = Map.groupBy(this.#waits, ({ process }) => process)
    holders.delete(null)
    const [most = []] = [...holders.values()].toSorted((a, b) => b.length - a.length)
    const own = this.#offers.size
    const share = Math.floor((own + this.#waits.size) / (holders.size + 1))
    return most.slice(0, Math.max(0, Math.ceil((share - own) / 2)))
  }

  #noted([, isAsked, heir = '', name = '']: readonly string[]): void {
    if (isAsked === '?') return heir === this.#id ? undefined : this.#offers.get(name)?.(heir)
    const isOver = (wait: Wait): boolean => wait.name === name
    if (heir === '' || heir === this.#id) this.#end(isOver)
    else setTimeout(() => this.#end(isOver), HEIR_MS).unref()
  }

  /** Has this process notified when the turn is given back. @returns its holder; null: nobody */
  async #want(schema: string, name: TurnName): Promise<number | null> {
    const text = `UPDATE ${turnsOf(schema)} SET wanted = true
      WHERE name = $1 AND process <> ${THIS_PROCESS}
      RETURNING process, set_config('synchronous_commit', 'off', true)`
    const [turn] = await this.#server.ask<{ process: number }>(text, [name])
    return turn?.process ?? null
  }

  #end(isOver: (wait: Wait) => boolean): void {
    for (const wait of this.#waits) if (isOver(wait)) wait.end()
  }
}

/** Parts of a sidecar that keep what is called, for tests of `src/wiring` alone. */

type Listener = ((event: unknown) => void) | Record<string, (event: unknown) => void>

const JSON_OF_INFINITY = (_key: string, value: unknown): unknown =>
  value === Infinity ? 'Infinity' : value

/** Plays parts: a method `onX` keeps its listener for `fire`, and every other call is a line. */
export class PlayedParts {
  #calls: string[] = []
  readonly #listeners = new Map<string, Set<Listener>>()
  /** What calls give, by part and method. */
  readonly results = new Map<string, () => unknown>()

  /** Makes a part. @param fields properties and methods that are not played */
  part(name: string, fields: object = {}): never {
    return new Proxy(fields, {
      get: (own, key) => {
        if (typeof key === 'symbol' || key in own || key === 'then') {
          return Reflect.get(own, key) as unknown
        }
        const path = `${name}.${key}`
        if (/^on[A-Z]/.test(key)) return (listener: Listener) => this.#listen(path, listener)
        return (...args: unknown[]) => this.#call(path, args)
      },
    }) as never
  }

  /** What was called since the last time. */
  calls(): string[] {
    const calls = this.#calls
    this.#calls = []
    return calls
  }

  /** An event happens. @returns what is called then, at the latest once all else had its turn */
  async fire(path: string, event?: unknown): Promise<string[]> {
    this.calls()
    const [, part = path, kind] = /^(\w+\.on\w+) (\w+)$/.exec(path) ?? []
    for (const listener of this.#listeners.get(part) ?? []) {
      if (typeof listener === 'function') listener(event)
      else listener[kind ?? '']?.(event)
    }
    await new Promise(setImmediate)
    return this.calls()
  }

  #listen(path: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(path) ?? new Set()
    this.#listeners.set(path, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  #call(path: string, args: unknown[]): unknown {
    this.#calls.push([path, ...args.map((arg) => JSON.stringify(arg, JSON_OF_INFINITY))].join(' '))
    return (this.results.get(path) ?? (() => Promise.resolve()))()
  }
}

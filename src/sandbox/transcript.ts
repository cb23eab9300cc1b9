/** One call that the service received, or one message that a phone handed in. */
export interface TranscriptCall {
  /** Grows by one. */
  n: number
  /** The sandbox's time. */
  at: number
  by: 'api' | 'phone' | 'webhook'
  method: string
  /** With its query, as it stood on the request line. */
  path: string
  /** As they came, names and values in turn. */
  headers: readonly string[]
  /** Every byte of the body that was received. */
  body: string
  /** 0 while unanswered, or when the connection was cut instead. */
  status: number
  /** The answer's body, as it was made; a fault may have kept it from leaving. */
  answer: string
}

/** A call that is still under way. */
export class CallRecorder {
  readonly n: number
  readonly at: number
  readonly by: TranscriptCall['by']
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly #chunks: Buffer[] = []
  readonly #done: () => void
  status = 0
  answer = ''

  /** @param done called once it is answered */
  constructor(
    call: Pick<TranscriptCall, 'n' | 'at' | 'by' | 'method' | 'path' | 'headers'>,
    done: () => void,
  ) {
    this.#done = done
    this.n = call.n
    this.at = call.at
    this.by = call.by
    this.method = call.method
    this.path = call.path
    this.headers = call.headers
  }

  received(chunk: Buffer | string): void {
    this.#chunks.push(Buffer.from(chunk))
  }

  answered(status: number, body: string): void {
    this.status = status
    this.answer = body
    this.#done()
  }

  get body(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }

  toJSON(): TranscriptCall {
    const { n, at, by, method, path, headers, body, status, answer } = this
    return { n, at, by, method, path, headers, body, status, answer }
  }
}

/**
 * What the service saw: every byte that it was sent and that it answered, call by call, so that
 * one can search it for words that should never have been there. Has the newest `maxCalls`.
 */
export class Transcript {
  readonly #maxCalls: number
  /** Answered calls by number, from an earlier run too. */
  readonly #kept: Map<number, TranscriptCall> | null
  /** By number: those of this run, and what is known of those before. */
  readonly #calls: Map<number, CallRecorder | TranscriptCall>
  #next: number

  /** @param kept where answered calls are written down, with those of an earlier run */
  constructor(maxCalls: number, kept: Map<number, TranscriptCall> | null = null) {
    this.#maxCalls = maxCalls
    this.#kept = kept
    this.#calls = new Map([...(kept ?? [])].sort(([a], [b]) => a - b))
    this.#next = ([...this.#calls.keys()].at(-1) ?? 0) + 1
  }

  /** Notes that a call came in. */
  open(call: Pick<TranscriptCall, 'at' | 'by' | 'method' | 'path' | 'headers'>): CallRecorder {
    const record = new CallRecorder({ ...call, n: this.#next++ }, () => {
      if (this.#calls.has(record.n)) this.#kept?.set(record.n, record.toJSON())
    })
    if (this.#maxCalls === 0) return record
    this.#calls.set(record.n, record)
    for (const n of this.#calls.keys()) {
      if (this.#calls.size <= this.#maxCalls) break
      this.#calls.delete(n)
      this.#kept?.delete(n)
    }
    return record
  }

  /** Calls in order; `after` leaves out those up to that number. */
  list(after = 0): TranscriptCall[] {
    const newer = [...this.#calls.values()].filter((call) => call.n > after)
    return newer.map((call) => (call instanceof CallRecorder ? call.toJSON() : call))
  }

  /**
   * Calls in which `words` stand anywhere: path (also percent-decoded), headers, body or answer,
   * as they are or as JSON or base64 would spell them.
   */
  search(words: string): TranscriptCall[] {
    const spellings = [words, JSON.stringify(words).slice(1, -1), base64Core(words)]
    return this.list().filter((call) => {
      const seen = [call.path, decoded(call.path), ...call.headers, call.body, call.answer]
      return seen.some((text) => spellings.some((spelling) => text.includes(spelling)))
    })
  }

  clear(): void {
    this.#calls.clear()
    this.#kept?.clear()
  }
}

/** Base64 of the words, without the last group that depends on what follows. */
function base64Core(words: string): string {
  const whole = Buffer.from(words).toString('base64').replace(/=+$/, '')
  return whole.length < 12 ? words : whole.slice(0, -2)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

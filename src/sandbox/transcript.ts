import type { z } from 'zod'
import type { RecordedCall } from './control/results.ts'
import { resultOr } from '../errors.ts'
import type { EventBody } from './events/event.ts'

/** A call that the service received or made to a webhook, or a message that a phone sent. */
export type TranscriptCall = z.output<typeof RecordedCall>

/** Records a call while it is in progress. */
export interface CallRecorder {
  received(chunk: Buffer | string): void
  answered(status: number, body: string, headers?: readonly string[]): void
}

/**
 * Everything that the service received and answered, call by call, so that one can search it for
 * text that the service must never see. Holds the newest `maxCalls`.
 */
export type Transcript = ReturnType<typeof createTranscript>

/**
 * @param stored where answered calls are stored, with those of earlier runs, by number
 * @param emit called when a call begins and when it is answered
 */
export function createTranscript(
  stored: Map<number, TranscriptCall>,
  emit: (event: EventBody) => void,
  maxCalls = 10_000,
) {
  /** By number: calls of this run and of earlier ones. */
  const calls = new Map([...stored].sort(([a], [b]) => a - b))
  let next = ([...calls.keys()].at(-1) ?? 0) + 1

  const emitCall = (phase: 'received' | 'answered', call: TranscriptCall): void => {
    const { n, by, method, path, status } = call
    emit({ kind: 'call', phase, n, by, method, path, status })
  }

  /** Calls in order; with `after`, only those with greater numbers. */
  const list = (after = 0): TranscriptCall[] => {
    const newer = [...calls.values()].filter(({ n }) => n > after)
    return newer.map((call) => ({ ...call }))
  }

  return {
    list,

    /** Begins to record a call. */
    open: (
      call: Pick<TranscriptCall, 'at' | 'by' | 'method' | 'path' | 'headers'>,
    ): CallRecorder => {
      const chunks: Buffer[] = []
      const startedMs = performance.now()
      const record: TranscriptCall = {
        n: next++,
        ...call,
        get body() {
          return Buffer.concat(chunks).toString('utf8')
        },
        status: 0,
        answer: '',
      }
      calls.set(record.n, record)
      for (const n of calls.keys()) {
        if (calls.size <= maxCalls) break
        calls.delete(n)
        stored.delete(n)
      }
      emitCall('received', record)
      return {
        received: (chunk) => void chunks.push(Buffer.from(chunk)),
        answered: (status, answer, answerHeaders = []) => {
          const ms = Math.round(performance.now() - startedMs)
          Object.assign(record, { status, answer, answerHeaders, ms })
          if (calls.has(record.n)) stored.set(record.n, record)
          emitCall('answered', record)
        },
      }
    },

    /** Whether a call with a number above `after` was answered. */
    hasAnswered: (after: number): boolean =>
      [...calls.values()].some(({ n, status }) => n > after && status !== 0),

    /**
     * Calls that contain `text` in the path (also percent-decoded), headers, body or response: as
     * it is, or encoded in JSON or base64.
     */
    search: (text: string): TranscriptCall[] => {
      const encodings = [text, JSON.stringify(text).slice(1, -1), base64Core(text)]
      return list().filter((call) => {
        const decoded = resultOr(() => decodeURIComponent(call.path), call.path)
        const parts = [call.path, decoded, ...call.headers, call.body, call.answer]
        return parts.some((part) => encodings.some((encoding) => part.includes(encoding)))
      })
    },

    clear: (): void => {
      calls.clear()
      stored.clear()
    },
  }
}

/** Base64 of a text, without the last characters, which depend on what follows. */
function base64Core(text: string): string {
  const whole = Buffer.from(text).toString('base64').replace(/=+$/, '')
  return whole.length < 12 ? text : whole.slice(0, -2)
}

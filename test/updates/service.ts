/** A service whose queue says what a test wants it to say; everything else is as plain as can be. */
import { createServer, type ServerResponse } from 'node:http'
import { listening } from '../support/listening.ts'

/** A poll as it came. */
export interface AskedPoll {
  offset: number | null
  limit: number
  timeout: number
}

export interface ScriptedService {
  url: string
  polls: AskedPoll[]
  /** Offsets of the short polls by which setting and stopping end. */
  confirmations: number[]
  /** What the next polls are answered with; a poll beyond waits until there is something. */
  answers: Answering[]
}

/** A list of updates, or whatever else is to be written. */
export type Answering = object[] | ((response: ServerResponse, poll: AskedPoll) => void)

/** An update of a message; nobody needs to open it. */
export const message = (updateId: number, date = 1_700_000_000_000 + updateId) => ({
  updateId,
  kind: 'message',
  message: {
    id: updateId,
    chat: { id: 7, kind: 'group' },
    date,
    kind: 'user',
    text: `w${updateId}`,
  },
})

/** Writes a refusal in the service's envelope. */
export function refuse(
  response: ServerResponse,
  error: { status: number; code: string; [extra: string]: unknown },
  headers: Record<string, string> = {},
): void {
  response.writeHead(error.status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ ok: false, error: { message: 'no', ...error } }))
}

/** Opens it; it ends with the test. */
export async function openService(): Promise<ScriptedService> {
  const polls: AskedPoll[] = []
  const answers: Answering[] = []
  const confirmations: number[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://service')
    if (pathname !== '/bot/v1/updates') return respond(response, RESULTS[pathname] ?? {})
    const number = (name: string) => Number(searchParams.get(name) ?? 0)
    const offset = searchParams.has('offset') ? number('offset') : null
    const poll = { offset, limit: number('limit'), timeout: number('timeout') }
    if (poll.limit === 1 && poll.timeout === 0) {
      if (poll.offset !== null) confirmations.push(poll.offset)
      return respond(response, [])
    }
    polls.push(poll)
    const answer = answers.shift()
    if (answer === undefined) return
    if (typeof answer === 'function') answer(response, poll)
    else respond(response, answer)
  })
  return { url: await listening(server), polls, answers, confirmations }
}

const RESULTS: Record<string, object> = {
  '/bot/v1/me': { id: 1, mode: 'open', fingerprint: null, status: 'active' },
  '/bot/v1/webhook': { url: null, pending: 0 },
}

function respond(response: ServerResponse, result: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ok: true, result }))
}

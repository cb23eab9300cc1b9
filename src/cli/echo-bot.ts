import { setTimeout as pause } from 'node:timers/promises'

/** What the bot does with a message it can read. */
export interface EchoedMessage {
  chatId: number
  text: string
  answer: string
}

const RETRY_MS = 1000

/**
 * An ordinary bot: it speaks HTTP and JSON to one address, repeats what it reads, and knows
 * nothing of keys. Runs until `signal` is aborted. It continues after every refusal.
 * @throws Error when its token is not valid
 */
export async function runEchoBot(o: {
  url: string
  token: string
  signal: AbortSignal
  onMessage: (message: EchoedMessage) => void
}): Promise<void> {
  const headers = { authorization: `Bearer ${o.token}`, 'content-type': 'application/json' }
  const call = async (path: string, init: RequestInit = {}): Promise<EchoUpdate[]> => {
    const answer = await fetch(`${o.url}/bot/v1${path}`, { headers, signal: o.signal, ...init })
    if (answer.status === 429) {
      await pause(Number(answer.headers.get('retry-after')) * 1000, undefined, o)
      return await call(path, init)
    }
    const { ok, result, error } = (await answer.json()) as EchoAnswer
    if (ok) return result
    if (error.code === 'unauthorized') throw new Error(error.code)
    // A refused message is not repeated; the queue is polled again after a pause.
    if (init.method === undefined) await pause(RETRY_MS, undefined, o)
    return []
  }
  let offset = 0
  while (!o.signal.aborted) {
    for (const { updateId, message } of await call(`/updates?timeout=50&offset=${offset}`)) {
      offset = updateId + 1
      if (message?.text === undefined) continue
      const { chat, id: replyTo, text } = message
      const answer = `you said: ${text}`
      o.onMessage({ chatId: chat.id, text, answer })
      const body = JSON.stringify({ chatId: chat.id, text: answer, replyTo })
      await call('/messages', { method: 'POST', body })
    }
  }
}

interface EchoUpdate {
  updateId: number
  message?: { id: number; chat: { id: number }; text?: string }
}

interface EchoAnswer {
  ok: boolean
  result: EchoUpdate[]
  error: { code: string }
}

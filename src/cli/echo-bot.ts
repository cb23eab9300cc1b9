import { setTimeout as pause } from 'node:timers/promises'

/** What the bot does with a message it can read. */
export interface EchoedMessage {
  chatId: number
  text: string
  answer: string
}

/**
 * An ordinary bot: it speaks HTTP and JSON to one address, repeats what it reads, and knows
 * nothing of keys. Runs until `signal` is aborted.
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
    if (!ok) throw new Error(error.code)
    return result
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

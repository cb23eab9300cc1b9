/** Calls as a bot makes them, by plain HTTP. */
import type { Json } from './double-wire.ts'

/** What the bot gets for one call; an answer that is no JSON counts as no success. */
export interface Called {
  status: number
  headers: Headers
  text: string
  json: Json
}

export interface BotCall {
  method: string
  /** Below the prefix, which is `/bot/v1` unless another is given. */
  path: string
  prefix?: string
  /** Written as JSON, unless it is a string. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

/** Makes a call with a token. @param base a URL without `/bot/v1` */
export async function callAt(
  base: string,
  token: string,
  { method, path, prefix = '/bot/v1', body, headers, signal }: BotCall,
): Promise<Called> {
  const response = await fetch(base + prefix + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  return await calledOf(response)
}

/** An answer, read to its end. */
export async function calledOf(response: Response): Promise<Called> {
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : { ok: false } }
}

import { no } from '../failure.ts'

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i

/**
 * Reads a request body. Gives undefined when it is empty.
 * @throws ServiceNo `bad_request`: another content type, not UTF-8, or not JSON
 */
export function readJson(body: Buffer, contentType: string | undefined): unknown {
  if (body.length === 0) return undefined
  if (!JSON_TYPE.test(contentType ?? '')) {
    throw no('bad_request', 'Content-Type: must be application/json')
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    throw no('bad_request', 'the body is not JSON')
  }
}

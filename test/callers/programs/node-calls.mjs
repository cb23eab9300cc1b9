/** Reads the list of calls from stdin and writes the answers of `make` as JSON to stdout, for clients of Node. */
import { json } from 'node:stream/consumers'

/** @param make (method, url, body or undefined, headers) gives [status, content type, text] */
export async function answerCalls(make) {
  const { base, token, calls } = await json(process.stdin)
  const answers = []
  for (const { method, path, body } of calls) {
    const headers = { Authorization: `Bearer ${token}` }
    const value = body === undefined ? undefined : JSON.parse(body)
    const [status, type, text] = await make(method, base + path, value, headers)
    answers.push({ status, type: type ?? null, body: text })
  }
  process.stdout.write(JSON.stringify(answers))
}

/** As most people write a call by `fetch`. */
export const byFetch = (fetch) => async (method, url, body, headers) => {
  const more = body !== undefined && {
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answer = await fetch(url, { method, headers, ...more })
  return [answer.status, answer.headers.get('content-type'), await answer.text()]
}

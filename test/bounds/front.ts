/** Stands before a sandbox, hands everything on, and answers what it is told to by itself. */
import { once } from 'node:events'
import { createServer, request as call, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers a request in the service's place; by `GET /updates` and the like, below the prefix. */
export type Instead = (response: ServerResponse) => void

export interface Front extends AsyncDisposable {
  readonly url: string
  /** By method and path without a query, as `GET /me`; looked at anew for every request. */
  readonly instead: Map<string, Instead>
}

/** Starts it before a sandbox's base URL. */
export async function startFront(sandboxUrl: string): Promise<Front> {
  const instead = new Map<string, Instead>()
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/bot\/v1/, '').replace(/\?.*$/, '')
    const own = instead.get(`${request.method} ${path}`)
    response.on('error', () => {})
    if (own === undefined) handOn(sandboxUrl, request, response)
    else {
      request.resume()
      own(response)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    instead,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function handOn(sandboxUrl: string, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request
  const onward = call(sandboxUrl + (url ?? ''), { method: method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

/** A JSON answer of exactly this text. */
export function answering(text: string): Instead {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(text)
  }
}

/** An answer that begins well and goes on for so many bytes, in chunks, without a length. */
export function endless(bytes: number): Instead {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = Buffer.alloc(65_536, 0x20)
    let left = bytes
    const more = (): void => {
      while (left > 0 && !response.destroyed) {
        left -= piece.length
        if (!response.write(piece)) {
          response.once('drain', more)
          return
        }
      }
      if (!response.destroyed) response.end('{"ok":true,"result":[]}')
    }
    more()
  }
}

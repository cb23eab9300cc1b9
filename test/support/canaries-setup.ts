/**
 * Loaded before every test file: listens to what the file's own client says and hears over HTTP
 * (undici's diagnostics channels, which also `fetch` tells), and searches every log of the file
 * when all else is over.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, expect, TestRunner } from 'vitest'
import { Canaries, setCanaries } from './canaries.ts'
import { onNotInstalled } from './programs.ts'

onNotInstalled((reason) => TestRunner.getCurrentTest()?.context.skip(reason))

const canaries = new Canaries()
setCanaries(canaries)

/** A file that is sent or fetched is nobody's words, and is not kept. */
const MAX_BODY_BYTES = 2 ** 20

class Body {
  #chunks: Uint8Array[] = []
  #bytes = 0

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_BODY_BYTES) this.#chunks = []
    else this.#chunks.push(chunk)
  }

  joined(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}

const bodies = new Map<object, { sent: Body; received: Body }>()

function bodyOf(request: object): { sent: Body; received: Body } {
  const body = bodies.get(request) ?? { sent: new Body(), received: new Body() }
  bodies.set(request, body)
  return body
}

const heard = {
  'undici:request:bodyChunkSent': (message: unknown) => {
    const { request, chunk } = message as { request: object; chunk: Uint8Array | string }
    bodyOf(request).sent.push(Buffer.from(chunk as string))
  },
  'undici:request:bodyChunkReceived': (message: unknown) => {
    const { request, chunk } = message as { request: object; chunk: Uint8Array }
    bodyOf(request).received.push(Buffer.from(chunk))
  },
}
for (const [channel, listen] of Object.entries(heard)) subscribe(channel, listen)

/** Every body that went either way so far. */
export function collected(): Buffer[] {
  return [...bodies.values()].flatMap(({ sent, received }) => [sent.joined(), received.joined()])
}

// the first hook that is registered is the last one that runs: by then every process has ended
afterAll(() => {
  for (const [channel, listen] of Object.entries(heard)) unsubscribe(channel, listen)
  for (const body of collected()) canaries.body(body)
  expect(canaries.findings(), 'no secret and nobody’s words are in any log').toEqual([])
})

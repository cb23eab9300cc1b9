import { readFileSync, readdirSync } from 'node:fs'
import { readPrivateKey } from 'openpgp'
import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/create.ts'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { readVector } from './format.ts'

/** The vectors through the whole engine, threads and all: natively, and by the library alone. */
const natively = createEngine()
const library = createEngine({ engine: 'library' })
afterAll(() => Promise.all([natively, library].map((engine) => engine[Symbol.asyncDispose]())))

const here = new URL('./', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, here), 'utf8')
const namesIn = (folder: string): string[] => readdirSync(new URL(`${folder}/`, here)).toSorted()

const ring = new Map<string, Promise<UnlockedKey>>()
async function unlock(name: string): Promise<UnlockedKey> {
  return unlockedFrom(await readPrivateKey({ armoredKey: read(`keys/${name}.secret.asc`) }))
}
function unlocked(name: string): Promise<UnlockedKey> {
  const kept = ring.get(name) ?? unlock(name)
  ring.set(name, kept)
  return kept
}

test.each(namesIn('messages'))(
  'the native engine and the library open message vector %s alike',
  async (name) => {
    const { fields, body } = readVector(read(`messages/${name}`))
    const field = new Map(fields)
    const reader = (field.get('reader') ?? '')
      .split(' ')
      .filter((word) => !['', 'none'].includes(word))
    const keys = await Promise.all(reader.map(unlocked))
    const opened = await natively.open(body, keys)
    // What crossed a thread is no Buffer any more.
    expect(structuredClone(opened)).toEqual(await library.open(body, keys))
    expect(opened.outcome).toBe(field.get('outcome'))
    if (opened.outcome !== 'opened') return
    const nowMs = Date.parse(field.get('now') ?? '')
    for (const signer of [field.get('signer') ?? '', 'bot', 'mallory']) {
      const certificate = read(`keys/${signer}.asc`)
      const results = await natively.verify(opened.signed, certificate, nowMs)
      expect(results, signer).toEqual(await library.verify(opened.signed, certificate, nowMs))
    }
  },
)

test.each(namesIn('certificates'))(
  'the native engine and the library judge certificate vector %s alike',
  async (name) => {
    const { fields, body } = readVector(read(`certificates/${name}`))
    const known = new Map(fields).get('known')
    const earlier =
      known === undefined ? undefined : readVector(read(`certificates/${known}.txt`)).body
    const { notBeforeMs: since, ...judged } = await natively.judge(body, earlier)
    const { notBeforeMs, ...expected } = await library.judge(body, earlier)
    expect(judged).toEqual(expected)
    if (judged.unusable === null) expect(since).toBeLessThanOrEqual(Date.now())
    else expect(since).toBe(notBeforeMs)
  },
)

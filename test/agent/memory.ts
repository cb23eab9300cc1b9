/** The memory of a process of ours, as root or its parent reads it, and what is in it. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { packetsOf, isSecret } from '../../src/openpgp/format/packets.ts'
import { readPublicKey } from '../../src/openpgp/crypto/public-key.ts'
import { hash } from 'node:crypto'
import { has } from '../support/lacks.ts'

const PIECE = 4 * 1024 * 1024
/** No needle is longer. */
const OVERLAP = 256

/** Whether the memory of another process can be read here. */
export const canReadMemory = has(
  process.platform === 'linux' && process.getuid?.() === 0,
  'the memory of a process is read by root alone: the search for secret numbers is skipped',
)

/** What is written, readable and not a file: heaps, stacks, and what V8 maps. */
function* regionsOf(pid: number): Generator<[number, number]> {
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, start = '', end = '', rights = ''] = /^(\w+)-(\w+) (\S+)/.exec(line) ?? []
    if (rights.startsWith('rw') && !line.includes('[vvar]')) {
      yield [Number.parseInt(start, 16), Number.parseInt(end, 16)]
    }
  }
}

/** Names of the needles that the memory of a process holds anywhere. */
export function findInMemory(pid: number, needles: ReadonlyMap<string, Buffer>): string[] {
  const found = new Set<string>()
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const piece = Buffer.alloc(PIECE + OVERLAP)
  try {
    for (const [start, end] of regionsOf(pid)) {
      for (let at = start; at < end; at += PIECE) {
        const read = readAt(memory, piece, { at, length: Math.min(piece.length, end - at) })
        const bytes = piece.subarray(0, read)
        for (const [name, needle] of needles) if (bytes.includes(needle)) found.add(name)
      }
    }
  } finally {
    closeSync(memory)
    piece.fill(0)
  }
  return [...found].toSorted()
}

function readAt(memory: number, into: Buffer, { at, length }: { at: number; length: number }) {
  try {
    return readSync(memory, into, 0, length, at)
  } catch {
    // unmapped meanwhile
    return 0
  }
}

/** Every form in which a secret number of an unlocked key might lie in memory, by name. */
export function secretForms(name: string, bytes: Uint8Array): Map<string, Buffer> {
  const forms = new Map<string, Buffer>()
  let count = 0
  for (const { tag, body } of packetsOf(bytes)) {
    if (!isSecret(tag)) continue
    const start = (readPublicKey(body)?.read ?? 0) + 1
    // an integer of two bytes of length, and a checksum of two (RFC 9580, 5.5.3)
    const number = Buffer.from(body.subarray(start + 2, -2))
    const key = `${name} ${count++}`
    const clamped = Buffer.from(hash('sha512', number, 'buffer').subarray(0, 32))
    clamped[0] = (clamped[0] ?? 0) & 248
    clamped[31] = ((clamped[31] ?? 0) & 127) | 64
    for (const [form, value] of Object.entries({
      number,
      reversed: number.toReversed(),
      expanded: clamped,
      hex: Buffer.from(number.toString('hex')),
      base64: Buffer.from(number.toString('base64').slice(0, 40)),
      wide: Buffer.from(number.toString('hex'), 'utf16le'),
    })) {
      forms.set(`${key} ${form}`, Buffer.from(value))
    }
  }
  return forms
}

/** A text as strings of JavaScript and as bytes. */
export function textForms(name: string, text: string): Map<string, Buffer> {
  return new Map([
    [`${name} utf8`, Buffer.from(text)],
    [`${name} utf16`, Buffer.from(text, 'utf16le')],
  ])
}

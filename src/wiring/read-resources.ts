/** Reads what will run out, for warnings and metrics. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Settings } from '../config/settings.ts'
import type { ResourceLevels } from '../observe/expiry-warning.ts'
import { freeBytesOf } from '../store/disk.ts'
import type { Core } from './core.ts'

/** An old key that opened something within this time is needed still: updates wait for 72 hours. */
const NEEDED_MS = 3 * 86_400_000
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Makes the reader; the certificates of `upstream.caFile` are read once, as calls know them.
 * @param o `isOfSeveral`: what several bots have in common is looked at elsewhere (`readMachine`)
 * @returns reads how things are now
 */
export function createResourceReader(
  { dataDir, upstream: { caFile } }: Settings,
  { keyring, keyUsage }: Pick<Core, 'keyring' | 'keyUsage'>,
  { isOfSeveral }: { isOfSeveral: boolean } = { isOfSeveral: false },
): () => Promise<ResourceLevels> {
  const authorityEndsMs = caFile === undefined ? Infinity : firstEndMs(readFileSync(caFile, 'utf8'))
  return async () => {
    const sinceMs = Date.now() - NEEDED_MS
    const needed = keyring.all.filter(
      ({ state, fingerprint }) =>
        state === 'retired' && (keyUsage.of(fingerprint).lastAtMs ?? 0) > sinceMs,
    )
    return {
      keyEndsMs: keyring.active?.endsMs ?? Infinity,
      authorityEndsMs,
      neededKeyEndsMs: Math.min(...needed.map((key) => keyring.opensUntilMs(key))),
      ...(isOfSeveral ? ELSEWHERE : await readMachine(dataDir)),
    }
  }
}

const ELSEWHERE = { diskFreeBytes: null, memoryUsed: null }

/** What the process has left of disk and memory. */
export async function readMachine(
  dataDir: string,
): Promise<Pick<ResourceLevels, 'diskFreeBytes' | 'memoryUsed'>> {
  return {
    diskFreeBytes: await freeBytesOf(dataDir).catch(() => null),
    memoryUsed: memoryUsed(),
  }
}

/**
 * When the first of the authorities in a PEM file ends, ms since the epoch; Infinity without any. One
 * that is there twice, by its subject, ends with the later.
 */
export function firstEndMs(pem: string): number {
  const ends = new Map<string, number>()
  for (const one of pem.match(PEM) ?? []) {
    const { subject, validTo } = new X509Certificate(one)
    ends.set(subject, Math.max(ends.get(subject) ?? 0, Date.parse(validTo)))
  }
  return Math.min(...ends.values())
}

/** The larger part of what the process may have: of the machine's or container's memory, or of the heap. */
function memoryUsed(): number {
  const limit = process.constrainedMemory()
  const whole = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const heap = getHeapStatistics()
  return Math.max(process.memoryUsage.rss() / whole, heap.used_heap_size / heap.heap_size_limit)
}

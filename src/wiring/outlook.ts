/** Reads what will run out, for warnings and metrics. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import type { Settings } from '../config/settings.ts'
import type { Outlook } from '../observe/foresight.ts'
import { freeBytesOf } from '../store/disk.ts'
import type { Core } from './core.ts'

/** An old key that opened something within this time is needed still: updates wait for 72 hours. */
const NEEDED_MS = 3 * 86_400_000
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * Makes the reader; the certificates of `upstream.caFile` are read once, as calls know them.
 * @returns reads how things are now
 */
export function createOutlook(
  { dataDir, upstream: { caFile } }: Settings,
  { keyring, keyUsage }: Pick<Core, 'keyring' | 'keyUsage'>,
): () => Promise<Outlook> {
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
      diskFreeBytes: await freeBytesOf(dataDir).catch(() => null),
      memoryUsed: memoryUsed(),
    }
  }
}

/** When the first of the certificates in a PEM file ends, ms since the epoch; Infinity without any. */
export function firstEndMs(pem: string): number {
  const ends = (pem.match(PEM) ?? []).map((one) => Date.parse(new X509Certificate(one).validTo))
  return Math.min(...ends)
}

/** The larger part of what the process may have: of the machine's or container's memory, or of the heap. */
function memoryUsed(): number {
  const limit = process.constrainedMemory()
  const whole = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const heap = getHeapStatistics()
  return Math.max(process.memoryUsage.rss() / whole, heap.used_heap_size / heap.heap_size_limit)
}

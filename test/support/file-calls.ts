/** What code of this process asks of `node:fs`, in order. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'
import { vi } from 'vitest'

/** A call: its name, the file's own name, and the bytes where some are written. */
export interface FileCall {
  name: string
  file: string
  bytes?: Buffer
}

/**
 * Lists the calls that open, write, make durable, rename and close, while `work` runs.
 * @param failing a call that fails instead, with EIO
 */
export function fileCalls(work: () => void, failing?: string): FileCall[] {
  const calls: FileCall[] = []
  const names = new Map<unknown, string>()
  const fileOf = (target: unknown): string =>
    names.get(target) ?? (typeof target === 'string' ? basename(target) : '?')
  for (const name of [
    'openSync',
    'writeFileSync',
    'writeSync',
    'fsyncSync',
    'renameSync',
    'closeSync',
  ] as const) {
    const real = fs[name] as (...given: unknown[]) => unknown
    vi.spyOn(fs, name as 'openSync').mockImplementation((...given: unknown[]) => {
      const [target, second] = given
      const [from, length] = [Number(given[2] ?? 0), Number(given[3] ?? 0)]
      calls.push({
        name,
        file: name === 'renameSync' ? `${fileOf(target)} to ${fileOf(second)}` : fileOf(target),
        ...(name === 'writeSync' && {
          bytes: Buffer.from((second as Buffer).subarray(from, from + length)),
        }),
      })
      if (name === failing) throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: name })
      const result = real(...given)
      if (name === 'openSync') names.set(result, fileOf(target))
      return result as number
    })
  }
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  return calls
}

/** Reads the input of a command, a file or stdin, up to a bound. */
import { createReadStream } from 'node:fs'
import { OperatorError, refusedError, systemFailure } from '../errors.ts'
import { printNotice } from './terminal.ts'

/**
 * Reads a whole input.
 * @param file its path; stdin when absent or `-`
 * @param o `maxBytes`; `what` it is, for a person who is asked to paste it, and for refusals
 * @throws OperatorError `refused` when it is larger, `failed` when it cannot be read
 */
export async function readInput(file: string | undefined, o: { maxBytes: number; what: string }) {
  const isStdin = file === undefined || file === '-'
  if (isStdin && process.stdin.isTTY) printNotice(`paste ${o.what}, then press Ctrl-D`)
  const stream = isStdin ? process.stdin : createReadStream(file)
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > o.maxBytes) {
        const problem = `${o.what} is larger than ${sizeOf(o.maxBytes)}`
        throw refusedError(problem, 'give one, and nothing else')
      }
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const hint = 'name a file that this user may read'
    throw systemFailure(`${file ?? 'stdin'} cannot be read`, hint, error)
  }
  return Buffer.concat(chunks)
}

function sizeOf(bytes: number): string {
  const kib = bytes / 1024
  return kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`
}

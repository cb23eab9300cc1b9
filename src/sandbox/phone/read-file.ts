import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { ByteReader, FORM_BYTES, sealedForm, type RawFile } from '../../openpgp/index.ts'
import { verifySignatures, type MessageReader, type ReadMessage } from './read.ts'
import { keysOf } from './keys.ts'

/** A file as a phone shows it. */
export interface ReadFile extends Pick<ReadMessage, 'verdict' | 'signer'> {
  /** Empty when it could not be opened. */
  bytes: Buffer
}

const UNOPENED: ReadFile = { bytes: Buffer.alloc(0), verdict: 'unopened', signer: null }

/**
 * Opens and verifies a file, of which `stored` is what the service holds. Never throws.
 * @param fromId who sent it
 */
export async function readFile(
  reader: MessageReader,
  { stored, fromId }: { stored: Uint8Array; fromId: number },
): Promise<ReadFile> {
  const form = sealedForm(stored.subarray(0, FORM_BYTES))
  if (form === null) return { bytes: Buffer.from(stored), verdict: 'readable', signer: null }
  const { engine, identity, connection } = reader
  try {
    const opened = await engine.openFile(new ByteReader(Readable.from([stored])), {
      form,
      keys: keysOf(identity),
      room: { file: () => Promise.resolve(new MemoryFile()) },
    })
    if (opened.outcome !== 'opened') return UNOPENED
    const signed = await verifySignatures(reader, opened, connection.publishedKeyOf(fromId))
    return { bytes: await buffer(opened.file.read()), ...signed }
  } catch {
    return UNOPENED
  }
}

/** A file of a phone never rests on a disk. */
class MemoryFile implements RawFile {
  readonly #pieces: Buffer[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  append(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(Buffer.from(bytes))
    this.#bytes += bytes.length
    return Promise.resolve()
  }

  read(at: number, bytes: number): Promise<Buffer> {
    const [whole = Buffer.alloc(0), ...others] = this.#pieces
    const joined = others.length === 0 ? whole : Buffer.concat(this.#pieces)
    if (others.length > 0) this.#pieces.splice(0, this.#pieces.length, joined)
    return Promise.resolve(joined.subarray(at, at + bytes))
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Attachments as the bot asks for them: one opening at a time for each, and only so many at once. */
import { type MediaPlace, mayStillGive } from '../kernel/index.ts'
import { Refusal, busyRefusal, shareRefusal } from '../errors.ts'
import { FairQueue, type Lane } from '../util/fair-queue.ts'
import { Listeners } from '../util/listeners.ts'
import type { Capability } from './capability.ts'
import { FileCache, type CacheEntry, type ReadHandle } from './file-cache.ts'
import { fetchAttachment, openAttachment } from './attachment.ts'
import type { Attachment, AttachmentParts } from './attachment.ts'

/** Bounds of openings at once, and of the cache. */
export const ATTACHMENT_BOUNDS = {
  openings: 4,
  /** Beside those: of all clients of the door together, one of each at a time, in turns. */
  clientOpenings: 2,
  /** Of one client, under way or being read. */
  clientFiles: 4,
  /** With more bytes of files on the disk, clients wait: the rest is the bot's. */
  clientSpoolBytes: 512 * 2 ** 20,
  keptBytes: 256 * 2 ** 20,
  keptFiles: 200,
  keptMs: 300_000,
}
export type AttachmentBounds = typeof ATTACHMENT_BOUNDS
const RETRY_AFTER_SECONDS = 2

/** The result of an opening: a verdict, `stored` for a file given unchanged, or an error's code. */
export interface AttachmentOutcome {
  outcome: string
  ms: number
}

export interface AttachmentsParts extends Pick<AttachmentParts, 'stored'> {
  /** Where files rest. */
  room: AttachmentParts['room'] & { readonly bytes: number }
  /** For opening; null for a sidecar without a key, which gives everything as it is stored. */
  opens: (Omit<AttachmentParts, 'onOpened'> & { capability: Capability }) | null
  bounds?: AttachmentBounds
}

/** A client of the door. */
interface FileCaller {
  name: string
  /** Called before the service is asked for a file. @throws Refusal `rate_limited` */
  takeCall: () => void
}

export class Attachments implements AsyncDisposable {
  readonly #parts: AttachmentsParts
  readonly #bounds: AttachmentBounds
  readonly #fetches = new Listeners<AttachmentOutcome>()
  /** Calls back when a fetch has ended, well or not. */
  readonly onFetched = this.#fetches.add
  readonly #decryptions = new Listeners<string>()
  /** Calls back with the fingerprint of the own key that decrypted one, before it is judged. */
  readonly onDecrypted = this.#decryptions.add
  readonly #kept: FileCache<Attachment>
  readonly #opening = new Map<string, Promise<CacheEntry<Attachment>>>()
  #botOpenings = 0
  readonly #clients: FairQueue
  /** By client, its turns and how many files it has. */
  readonly #ofClients = new Map<string, { lane: Lane; files: number }>()
  readonly #stopping = new AbortController()

  constructor(parts: AttachmentsParts) {
    this.#parts = parts
    this.#bounds = parts.bounds ?? ATTACHMENT_BOUNDS
    const { keptBytes: maxBytes, keptFiles: maxFiles, keptMs: maxAgeMs } = this.#bounds
    this.#clients = new FairQueue({ slots: this.#bounds.clientOpenings, perLane: 1 })
    this.#kept = new FileCache({ maxBytes, maxFiles, maxAgeMs })
  }

  /** Bytes of all files on the disk now. */
  get spoolBytes(): number {
    return this.#parts.room.bytes
  }

  /** How many are being opened now. */
  get openings(): number {
    return this.#opening.size
  }

  /**
   * The attachment that a url of ours gives the right to; null when it gives none.
   * @param query of the url, without the question mark
   * @throws as `ofPlace` does
   */
  async byUrl(mediaId: string, query: string): Promise<ReadHandle<Attachment> | null> {
    const { opens } = this.#parts
    if (opens === null) return await this.#get(mediaId, null)
    const place = opens.capability.read(mediaId, query)
    return place === null ? null : await this.#get(mediaId, place)
  }

  /**
   * The attachment that an update named, for a request with a token.
   * @param client whose request it is, and what counts its call to the service; null: the bot's
   * @param admit lets the caller have files of its place, or throws; null: no update named it
   * @throws Refusal `media_not_found`, `postern_busy` and the codes of media, `rate_limited` beyond the
   *   share of a client; ServiceError and NoResponseError from the service
   */
  async named(
    mediaId: string,
    client: FileCaller | null,
    admit: (place: MediaPlace | null) => Promise<unknown>,
  ): Promise<ReadHandle<Attachment>> {
    const place = (await this.#parts.opens?.named.placeOf(mediaId)) ?? null
    await admit(place)
    if (place === null) throw new Refusal('media_not_found', 'no update named this file')
    return client === null ? await this.#get(mediaId, place) : await this.#ofClient(client, place)
  }

  async #ofClient(caller: FileCaller, place: MediaPlace): Promise<ReadHandle<Attachment>> {
    const { clientFiles, clientSpoolBytes } = this.#bounds
    const { name: client } = caller
    const own = this.#ofClients.get(client) ?? { lane: this.#clients.lane(), files: 0 }
    if (own.files >= clientFiles || this.spoolBytes > clientSpoolBytes) {
      throw shareRefusal(client, 'files', RETRY_AFTER_SECONDS)
    }
    own.files++
    this.#ofClients.set(client, own)
    using share = new DisposableStack()
    share.defer(() => {
      if (--own.files === 0) this.#ofClients.delete(client)
    })
    const { value, release } = await this.#get(place.mediaId, place, { ...caller, lane: own.lane })
    share.defer(release)
    const taken = share.move()
    return { value, release: () => taken.dispose() }
  }

  /** Ends openings, and frees all files that no request reads. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled(this.#opening.values())
    this.#kept[Symbol.dispose]()
  }

  async #get(
    mediaId: string,
    place: MediaPlace | null,
    by: (FileCaller & { lane: Lane }) | null = null,
  ): Promise<ReadHandle<Attachment>> {
    const key = JSON.stringify([mediaId, place?.chatId, place?.userId])
    const kept = this.#kept.get(key)
    if (kept !== null) {
      using unused = new DisposableStack()
      unused.defer(kept.release)
      const { opens } = this.#parts
      const mayStill = !place || !opens || (await mayStillGive(kept.value, place, opens))
      if (mayStill) unused.move()
      if (mayStill) return kept
      this.#kept.drop(key)
    }
    // the bot does not wait for the turn of a client
    const name = by === null ? key : `${key} ${by.name}`
    const under = this.#opening.get(key) ?? this.#opening.get(name)
    if (under === undefined) by?.takeCall()
    const opening = under ?? this.#begin(name, key, { mediaId, place, lane: by?.lane ?? null })
    const lease = (await opening).acquire()
    if (lease === null) throw busy()
    return lease
  }

  #begin(
    name: string,
    key: string,
    { mediaId, place, lane }: { mediaId: string; place: MediaPlace | null; lane: Lane | null },
  ): Promise<CacheEntry<Attachment>> {
    const isFull = lane === null && this.#botOpenings >= this.#bounds.openings
    if (isFull || this.#stopping.signal.aborted) throw busy()
    const open = (): Promise<Attachment> => this.#open(mediaId, place)
    if (lane === null) this.#botOpenings++
    const opening = (lane === null ? open() : lane.run(open))
      .then((attachment) => this.#kept.add(key, attachment))
      .finally(() => {
        this.#opening.delete(name)
        if (lane === null) this.#botOpenings--
      })
    this.#opening.set(name, opening)
    return opening
  }

  async #open(mediaId: string, place: MediaPlace | null): Promise<Attachment> {
    const { opens } = this.#parts
    const { signal } = this.#stopping
    const startedAtMs = performance.now()
    const report = (outcome: string): void =>
      this.#fetches.emit({ outcome, ms: performance.now() - startedAtMs })
    try {
      const attachment =
        place === null || opens === null
          ? await fetchAttachment(mediaId, signal, this.#parts)
          : await openAttachment(place, signal, {
              ...opens,
              onOpened: (fingerprint) => this.#decryptions.emit(fingerprint),
            })
      report(attachment.verdict ?? 'stored')
      return attachment
    } catch (error) {
      report(error instanceof Refusal ? error.code : 'service')
      throw error
    }
  }
}

const busy = (): Refusal => busyRefusal('other attachments are being opened', RETRY_AFTER_SECONDS)

/** Attachments of a sidecar: their storage, their urls, and the right to fetch them. */
import { type Memory, NamedMedia } from '../kernel/index.ts'
import type { Settings } from '../config/settings.ts'
import { Capability } from '../attachments/capability.ts'
import { SpoolDir } from '../attachments/spool-dir.ts'
import type { Store } from '../store/store.ts'
import type { AttachmentParts } from '../attachments/attachment.ts'
import { Attachments } from '../attachments/attachments.ts'
import { MediaUrls } from '../attachments/media-urls.ts'
import type { Link } from './link.ts'

/** On the disk of `dataDir`, all together. */
export const SPOOL_MAX_BYTES = 2 ** 30
const CAPABILITY_SECRET = 'media-url'
const MEMORY_SECRET = 'media-seen'

/**
 * Makes them.
 * @param o `name` of the bot, where there are several
 * @param opens for opening; null for a sidecar without a key, which gives files as they are stored
 */
export async function createMedia(
  o: { settings: Settings; link: Link; store: Store; memory: Memory; name?: string | undefined },
  opens: Omit<AttachmentParts, 'named' | 'room' | 'stored' | 'verify' | 'onOpened'> | null,
) {
  const { settings, link, store, memory, name } = o
  await using stack = new AsyncDisposableStack()
  const room = stack.use(new SpoolDir(settings.dataDir, SPOOL_MAX_BYTES))
  const stored: AttachmentParts['stored'] = (id, signal) => link.upstream.media(id, signal)
  const parts = opens && {
    ...opens,
    capability: new Capability(await store.secret(CAPABILITY_SECRET), name),
    named: new NamedMedia(memory, await store.secret(MEMORY_SECRET)),
    room,
    stored,
    verify: settings.open.verify,
  }
  const attachments = stack.use(new Attachments({ room, stored, opens: parts }))
  const resources = stack.move()
  return {
    attachments,
    /** Null for a sidecar without a key, whose updates pass unchanged. */
    urls: parts && new MediaUrls({ ...parts, upstreamUrl: settings.upstream.url }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

import type { PublishedKey } from '../state.ts'
import type { World } from '../world.ts'

/** As answers show a key. */
export interface KeyView extends PublishedKey {
  userId: number
}

/** A key record, written the one way that DESIGN 5 chooses among the names the spec leaves open. */
export function keyView(userId: number, key: PublishedKey): KeyView {
  return { userId, fingerprint: key.fingerprint, publicKey: key.publicKey }
}

/** What an account published, a person's or a bot's; null when nothing. */
export function publishedKey(world: World, userId: number): PublishedKey | null {
  return world.people.get(userId)?.key ?? world.bots.get(userId)?.key ?? null
}

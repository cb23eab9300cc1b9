import type { World } from '../world.ts'

/** Keeps a file, exactly these octets, under a new id: it is at `/media/<id>`. */
export function storeFile(world: World, file: Uint8Array): string {
  const mediaId = world.randomId()
  world.files.set(mediaId, file)
  return mediaId
}

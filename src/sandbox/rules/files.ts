import type { World } from '../world.ts'

/** Stores a file, byte for byte, under a new id. It is served at `/media/<id>`. */
export function storeFile(world: World, file: Uint8Array): string {
  const mediaId = world.randomId()
  world.files.set(mediaId, file)
  return mediaId
}

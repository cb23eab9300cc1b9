import type { DeletionReport, KeyRow } from './operations.ts'

/**
 * Says what deleting a key takes away, and what nobody can promise of it.
 * @param copies names of copies of the store that lie beside it
 */
export function deletionOf(key: KeyRow, copies: readonly string[]): DeletionReport {
  return { key, loses: lossesOf(key), unsure: doubtsOf(copies) }
}

function lossesOf(key: KeyRow): string[] {
  const { publishedAt, retiredAt, opensUntil, openedMessages, openedMedia, lastOpenedAt } = key
  const since = publishedAt ?? key.createdAt
  const losses = [
    `messages sealed to it, from ${since} to ${retiredAt ?? 'now'} and later by phones that ` +
      'had not learned of the next key: updates still to come, and old messages that people quote',
    'files of those chats that are fetched again',
  ]
  if (key.opens) losses.push(`it would have gone on opening until ${opensUntil}`)
  const last = lastOpenedAt === null ? '' : `, the last at ${lastOpenedAt}`
  losses.push(`so far it has opened ${openedMessages} messages and ${openedMedia} files${last}`)
  return losses
}

function doubtsOf(copies: readonly string[]): string[] {
  const beside = copies.map((name) => `${name} in dataDir, a copy from before an upgrade`)
  return [
    ...beside,
    'backups and exports that were made of it',
    'blocks that the disk or the file system has put elsewhere (SSDs, snapshots, copy on write)',
    'the memory of a running sidecar, until it is started again',
  ]
}

/** Other OpenPGP programs, as Debian packages them, and openpgp.js with its own defaults. */
import { shortFolder } from '../programs.ts'
import { gpg } from './gpg.ts'
import { openpgpjs } from './openpgpjs.ts'
import type { Peer } from './peer.ts'
import { pgpy } from './pgpy.ts'
import { rnp } from './rnp.ts'
import { Shop } from './shop.ts'
import { inOneJava, sop } from './sop.ts'
import { sq } from './sq.ts'

export * from './peer.ts'

const PEERS: Record<string, (shop: Shop) => Promise<Peer>> = {
  gpg,
  rnp,
  sq,
  sqop: sop('sqop', 'cv25519', ['two signers', 'text mode']),
  gosop: sop('gosop', 'rsa2048', ['text mode']),
  'pgpainless-cli': sop('pgpainless-cli', 'cv25519', ['two signers', 'text mode'], inOneJava),
  'openpgp.js': openpgpjs,
  pgpy,
}
/** Those that answer for a library each, and those that make keys and messages. */
export const PEER_NAMES = Object.keys(PEERS).filter((name) => name !== 'sq')
export const WRITER_NAMES = ['gpg', 'sq', 'sqop', 'rnp', 'gosop', 'pgpainless-cli']

/** Those of these names that are installed. */
export async function openPeers(
  names: readonly string[] = PEER_NAMES,
): Promise<{ peers: Map<string, Peer> } & AsyncDisposable> {
  const folder = await shortFolder()
  const shop = new Shop(folder.path)
  const peers = new Map<string, Peer>()
  for (const name of names) {
    const peer = await PEERS[name]?.(shop).catch(() => null)
    if (peer) peers.set(name, peer)
  }
  return {
    peers,
    [Symbol.asyncDispose]: async () => {
      shop.end()
      await folder[Symbol.asyncDispose]()
    },
  }
}
